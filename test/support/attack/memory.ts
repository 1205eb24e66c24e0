import { readFileSync, writeFileSync } from 'node:fs';

/** Highest resident size of a process so far (VmHWM), in MiB; NaN for one that has just ended. */
export function peakMemory_mb(pid: number | 'self' = 'self'): number {
  const kb = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb) / 1024;
}

/** Lets the highest resident size begin again from what is resident now. */
export const forgetPeak = (pid: number | 'self' = 'self'): void =>
  writeFileSync(`/proc/${pid}/clear_refs`, '5');
