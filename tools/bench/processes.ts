import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { packageRoot } from '../../services/common/runtime/paths.js';

/** A program of this package that runs beside the benchmark. */
export interface Program {
  readonly child: ChildProcess;
  /** Ends it with SIGTERM and waits. */
  stop(): Promise<void>;
  /** Resident memory now and at its highest, in bytes. */
  memory(): { readonly now: number; readonly peak: number };
  /** Processor time so far in milliseconds: of the thread that runs JavaScript, and of all others by their names. */
  processor(): Processor;
}

/** Processor time in milliseconds by thread. */
export type Processor = Readonly<Record<string, number>>;

/** Milliseconds in what Linux counts processor time in. */
const tick_ms = 10;

/** Starts `weft ARGS` with an environment of its own; what it prints to standard error is shown. */
export function startProgram(args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
  const child = spawn(process.execPath, [join(packageRoot, 'bin/weft.js'), ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return {
    child,
    async stop() {
      if (child.exitCode !== null) return;
      child.kill('SIGTERM');
      await once(child, 'exit');
    },
    memory() {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8');
      const of = (key: string): number =>
        Number(new RegExp(`${key}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) * 1024;
      return { now: of('VmRSS'), peak: of('VmHWM') };
    },
    processor() {
      const tasks = `/proc/${child.pid}/task`;
      const times: Record<string, number> = {};
      for (const thread of readdirSync(tasks)) {
        try {
          const [name = '', rest = ''] = readFileSync(join(tasks, thread, 'stat'), 'utf8')
            .split(/\((.*)\) /s)
            .slice(1);
          const [user, system] = rest.split(' ').slice(11, 13).map(Number);
          const key = Number(thread) === child.pid ? 'JavaScript' : name.replace(/[\d_]+$/, '');
          times[key] = (times[key] ?? 0) + ((user ?? 0) + (system ?? 0)) * tick_ms;
        } catch {
          // a thread that has ended meanwhile
        }
      }
      return times;
    },
  };
}

/** Ports that no connection is given by itself: Linux takes those of connections from 32768 on. */
const ownPorts = { first: 20_000, count: 12_000 };

let nextPort = Math.floor(Math.random() * ownPorts.count);

/**
 * A port that is free now. A port that the system chooses could be that of a connection a moment later: a process that
 * is told to listen there would end.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = ownPorts.first + (nextPort++ % ownPorts.count);
    const server = createServer();
    const isFree = await new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}

/** Bytes of all files below a folder. */
export function diskUsage(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    try {
      bytes += statSync(join(entry.parentPath, entry.name)).size;
    } catch {
      // a part that was merged away meanwhile
    }
  }
  return bytes;
}
