import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { packageRoot } from '../../services/common/paths.js';

/** A program of this package that runs beside the benchmark. */
export interface Program {
  readonly child: ChildProcess;
  /** Ends it with SIGTERM and waits. */
  stop(): Promise<void>;
  /** Resident memory now and at its highest, in bytes. */
  memory(): { readonly now: number; readonly peak: number };
}

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
  };
}

/** A port that is free now. */
export async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
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
