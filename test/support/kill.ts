import { spawn } from 'node:child_process';

/** How a process ended: the signal, if one ended it, and what it had printed. */
export interface Ending {
  readonly signal: string | null;
  readonly printed: string;
}

/** Runs a program that may kill itself with SIGKILL; any other end but a good one is an error. */
export function runToEnd(program: string, args: readonly string[]): Promise<Ending> {
  return new Promise((resolve, reject) => {
    const running = spawn(process.execPath, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
    let [printed, errors] = ['', ''];
    running.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    running.stderr.on('data', (chunk) => {
      errors += chunk;
    });
    running.on('error', reject);
    running.on('close', (code, signal) => {
      if (code !== 0 && signal !== 'SIGKILL') reject(new Error(`ended with ${code} ${signal}: ${errors}`));
      else resolve({ signal, printed });
    });
  });
}
