import { cpSync, existsSync, mkdirSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { packageRoot } from '../../../services/common/runtime/paths.js';
import { assembleWeft } from '../image/assembled.js';
import { pauseImage } from './containerd.js';
import { program, run } from './programs.js';

/** The name of the image of weft that pods of tests run. */
export const weftImage = { repository: 'docker.io/local/weft', tag: 'test' };

const archive = async (args: readonly string[]): Promise<void> => {
  await run(process.execPath, [join(packageRoot, 'tools/image/archive.mjs'), ...args]);
};

/** Makes the image that holds the network of pods. @returns its file */
export async function buildPause(folder: string): Promise<string> {
  const root = join(folder, 'pause');
  mkdirSync(root, { recursive: true });
  cpSync(program('PAUSE'), join(root, 'pause'));
  const file = join(folder, 'pause.tar');
  await archive([pauseImage, root, file, '--entrypoint', '/pause']);
  return file;
}

/**
 * Makes the image of weft with the file system that the Dockerfile gives it below /weft. What stands for the base image
 * is this machine's own node with the libraries that it is linked to. Where WEFT_IMAGE_ARCHIVE names the file that
 * `npm run test:image` has left, it is that one.
 *
 * @returns its file
 */
export async function buildWeft(folder: string): Promise<string> {
  const built = process.env['WEFT_IMAGE_ARCHIVE'];
  if (built !== undefined && built !== '') return resolve(built);
  const root = join(folder, 'weft');
  mkdirSync(root, { recursive: true });
  await assembleWeft(join(root, 'weft'), join(folder, 'dependencies'));
  mkdirSync(join(root, 'usr/local/bin'), { recursive: true });
  cpSync(realpathSync(process.execPath), join(root, 'usr/local/bin/node'));
  for (const library of await librariesOf(process.execPath)) {
    const target = join(root, library);
    if (existsSync(target)) continue;
    mkdirSync(dirname(target), { recursive: true });
    cpSync(realpathSync(library), target);
  }
  mkdirSync(join(root, 'tmp'), { mode: 0o1777 });
  const file = join(folder, 'weft.tar');
  await archive([
    ...[`${weftImage.repository}:${weftImage.tag}`, root, file],
    ...['--entrypoint', '/usr/local/bin/node', '--workdir', '/weft', '--user', '1000:1000'],
    ...['--env', 'NODE_ENV=production', '--env', 'HOST=0.0.0.0', '--env', 'COMMIT_HASH=unknown'],
  ]);
  return file;
}

/** Paths of the libraries that a program is linked to, the loader among them. */
async function librariesOf(program: string): Promise<string[]> {
  const lines = (await run('ldd', [program])).split('\n');
  return lines.flatMap((line) => /(?:=> )?(\/\S+) \(0x/.exec(line)?.[1] ?? []);
}
