import { readFileSync, writeFileSync } from 'node:fs';

/** Highest resident size of a process so far (VmHWM), in MiB; NaN for one that has just ended. */
export function peakMemory_mb(pid: number | 'self' = 'self'): number {
  const kb = /VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  return Number(kb) / 1024;
}

/** Lets the highest resident size begin again from what is resident now. */
export const forgetPeak = (pid: number | 'self' = 'self'): void =>
  writeFileSync(`/proc/${pid}/clear_refs`, '5');

/** Runs something in this process, and says how much memory it took at its peak, in MiB. */
export async function memoryOf(work: () => Promise<unknown>): Promise<number> {
  forgetPeak();
  const before_mb = peakMemory_mb();
  await work();
  return peakMemory_mb() - before_mb;
}
