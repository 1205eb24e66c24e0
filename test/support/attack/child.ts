import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { packageRoot } from '../../../services/common/runtime/paths.js';
import { temporaryFolder } from '../folder.js';
import { peakMemory_mb } from './memory.js';

/** A built program under attack, as a process whose memory is measured. */
export interface Child {
  /** Peak resident size, in bytes: VmHWM. */
  peak(): number;
  /** What it has printed, log and all. */
  output(): string;
  /** Whether it still runs. */
  isAlive(): boolean;
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Starts it again on the same folder. */
  restart(): void;
  /** Ends it with SIGTERM. */
  stop(): Promise<void>;
}

/**
 * Starts a program on a folder of its own.
 *
 * @param program a file to run, from the project's root, with its arguments.
 */
export function startChild(program: readonly string[], env: Readonly<Record<string, string>>): Child {
  const folder = temporaryFolder('attack', tmpdir());
  let output = '';
  const start = (): ChildProcess => {
    const [file = '', ...args] = program;
    const started = spawn(process.execPath, [join(packageRoot, file), ...args], {
      env: { PATH: process.env['PATH'] ?? '', DATA_DIR: folder, LOG_LEVEL: 'warn', OPS_PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-1_000_000);
    };
    started.stdout?.on('data', keep);
    started.stderr?.on('data', keep);
    return started;
  };
  let child = start();
  let highest = 0;
  const isAlive = (): boolean => child.exitCode === null && child.signalCode === null;
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    if (!isAlive()) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  return {
    peak() {
      // It may be ending.
      if (isAlive()) highest = Math.max(highest, (peakMemory_mb(child.pid) || 0) * 1024 * 1024);
      return highest;
    },
    output: () => output,
    isAlive,
    kill,
    restart() {
      child = start();
    },
    stop: () => kill('SIGTERM'),
  };
}
