import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../../services/common/runtime/paths.js';
import { outputOf } from '../output.js';

const weft = fileURLToPath(new URL('../../../tools/main.js', import.meta.url));

/** A `weft` command that runs as a process of its own. */
export interface WeftProcess {
  readonly child: ChildProcess;
  /** Everything that it has written so far. */
  output(): string;
  /** Its exit code; null when it was killed. */
  readonly ended: Promise<number | null>;
}

/** Starts a command with this environment and nothing else. @param cwd its working folder */
export function startWeft(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  cwd?: string,
): WeftProcess {
  const child = spawn(process.execPath, [weft, ...args], {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', WEFT_ROOT: packageRoot, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return {
    child,
    output: outputOf(child),
    ended: new Promise((resolve) => child.once('close', (code) => resolve(code))),
  };
}
