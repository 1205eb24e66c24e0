import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';

/** Where Debian puts the plugins that give pods their network. */
export const cniFolder = '/usr/lib/cni';

/** Why a node cannot run on this machine; undefined where it can. */
export function whatIsMissing(): string | undefined {
  if (process.platform !== 'linux') return 'this is not Linux';
  if (process.getuid?.() !== 0) return 'this is not root';
  const missing = ['containerd', 'ctr', 'runc', 'nft', 'iptables', 'ip', 'openssl'].filter(
    (name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0,
  );
  if (!existsSync(join(cniFolder, 'bridge'))) missing.push(join(cniFolder, 'bridge'));
  return missing.length === 0 ? undefined : `there is no ${missing.join(', no ')}`;
}

/** Path of a program that `npm run test:node` has built. */
export function program(name: 'KUBEBUILDER_ASSETS' | 'COREDNS' | 'PAUSE' | 'POLICIES' | 'HELM'): string {
  const path = process.env[name];
  if (path === undefined) throw new Error(`${name} is not set: run npm run test:node`);
  return path;
}

const execute = promisify(execFile);

/**
 * Runs a command to its end, while what this process serves to pods goes on.
 *
 * @returns what it printed. @throws Error with what it complained about
 */
export async function run(command: string, args: readonly string[]): Promise<string> {
  try {
    return (await execute(command, [...args], { maxBuffer: 256 * 1024 * 1024 })).stdout;
  } catch (error) {
    const { message, stderr, stdout } = error as Error & { stderr?: string; stdout?: string };
    throw new Error(`${command} ${args.join(' ')}: ${stderr || stdout || message}`);
  }
}

/** Runs a command of which it does not matter whether there was anything to do. */
export function tryRun(command: string, args: readonly string[]): Promise<string> {
  return run(command, args).catch(() => '');
}

/** Programs that run until the node is stopped, each with a log in a folder. */
export interface Daemons {
  start(name: string, command: string, args: readonly string[]): ChildProcess;
  /** The end of what a program logged. */
  log(name: string): string;
  /** Ends one, with SIGKILL. */
  kill(name: string): Promise<void>;
}

/** Starts none yet. */
export function createDaemons(folder: string): Daemons {
  mkdirSync(folder, { recursive: true });
  const running = new Map<string, ChildProcess>();
  const path = (name: string): string => join(folder, `${name}.log`);
  return {
    start(name, command, args) {
      const log = openSync(path(name), 'a');
      const child = spawn(command, args, { cwd: folder, stdio: ['ignore', log, log] });
      running.set(name, child);
      return child;
    },
    log: (name) => (existsSync(path(name)) ? readFileSync(path(name), 'utf8').slice(-2_000) : ''),
    async kill(name) {
      const child = running.get(name);
      if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
  };
}
