import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { killAll, processesOf, unmountAll } from '../node/leftovers.js';
import { run } from '../node/programs.js';
import { outputOf } from '../output.js';

/** Where storage is kept: no place that somebody removes while there are mounts in it. */
const folderPrefix = '/var/tmp/weft-buildah-';

/** What an image says of itself. */
export interface ImageFacts {
  readonly id: string;
  /** As in the specification of OCI's image configurations. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Digests of the layers as they are unpacked, the lowest first. */
  readonly layers: readonly string[];
}

/** What a program in a container came to. */
export interface Ended {
  readonly code: number | null;
  readonly output: string;
}

/** A program that runs in a container. */
export interface Running {
  /** Everything that it has written so far. */
  output(): string;
  readonly ended: Promise<Ended>;
}

/** Debian's buildah, with storage of its own. No Docker engine and no registry of images is asked for anything. */
export interface Buildah {
  /** Builds a folder, with further options of `buildah build`. @throws Error with the end of what it printed */
  build(folder: string, options: readonly string[]): Promise<void>;
  /** @throws Error where there is no such image. */
  facts(image: string): Promise<ImageFacts>;
  /** Writes an image into a file that `docker load` and `ctr images import` read. */
  save(image: string, name: string, file: string): Promise<void>;
  /** Makes a container of an image. @returns the folder in which its file system is seen */
  container(image: string, name: string): Promise<string>;
  /** Starts a program in a container as the image says: its user, folder and environment, and the machine's network. */
  start(container: string, command: readonly string[], env?: Readonly<Record<string, string>>): Running;
  /** Ends what runs and removes all of it. */
  close(): Promise<void>;
}

const execute = promisify(execFile);

/** Opens an empty storage; removes those whose tests were killed. */
export async function openBuildah(): Promise<Buildah> {
  await removeLeftovers();
  const folder = mkdtempSync(`${folderPrefix}${process.pid}-`);
  const closing = new AbortController();
  const storage = ['--root', join(folder, 'storage'), '--runroot', join(folder, 'run')];
  const buildah = async (...args: string[]): Promise<string> => {
    try {
      // What it unpacks on its way is removed with the rest, also where it is stopped.
      const options = {
        env: { ...process.env, TMPDIR: folder },
        maxBuffer: 256 << 20,
        signal: closing.signal,
        killSignal: 'SIGKILL' as const,
      };
      return (await execute('buildah', [...storage, ...args], options)).stdout;
    } catch (error) {
      const { message, stdout = '', stderr = '' } = error as Error & { stdout?: string; stderr?: string };
      throw new Error(`buildah ${args[0]}: ${`${stdout}${stderr}`.slice(-3_000) || message}`);
    }
  };
  return {
    async build(context, options) {
      const fixed = ['--isolation', 'chroot', '--network', 'host', '--pull-never', '--identity-label=false'];
      await buildah('build', ...fixed, ...options, context);
    },
    async facts(image) {
      const said = JSON.parse(await buildah('inspect', '--type', 'image', image)) as {
        FromImageID: string;
        OCIv1: { config: Record<string, unknown>; rootfs: { diff_ids: string[] } };
      };
      return { id: said.FromImageID, config: said.OCIv1.config, layers: said.OCIv1.rootfs.diff_ids };
    },
    async save(image, name, file) {
      rmSync(file, { force: true });
      await buildah('push', image, `docker-archive:${file}:${name}`);
    },
    async container(image, name) {
      await buildah('from', '--pull-never', '--name', name, image);
      return (await buildah('mount', name)).trim();
    },
    start(container, command, env = {}) {
      const options = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
      const args = ['run', '--isolation', 'chroot', ...options, container, '--', ...command];
      const child = spawn('buildah', [...storage, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
      const output = outputOf(child);
      const ended = new Promise<Ended>((resolve, reject) => {
        child.once('error', reject);
        child.once('close', (code) => {
          resolve({ code, output: output() });
        });
      });
      return { output, ended };
    },
    async close() {
      closing.abort();
      await removeStorage(folder);
    },
  };
}

/** Storage of tests that do not run any more. */
async function removeLeftovers(): Promise<void> {
  const parent = dirname(folderPrefix);
  for (const name of readdirSync(parent)) {
    const pid = join(parent, name).startsWith(folderPrefix) ? /-(\d+)-/.exec(name)?.[1] : undefined;
    if (pid !== undefined && !existsSync(`/proc/${pid}`)) await removeStorage(join(parent, name));
  }
}

async function removeStorage(folder: string): Promise<void> {
  await killAll(() => processesOf(folder));
  await unmountAll(folder);
  await run('rm', ['-rf', '--one-file-system', folder]);
}
