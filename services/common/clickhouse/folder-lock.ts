import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Whether another process has the folder of an embedded engine open, by the lock that it holds on a file there. The
 * engine itself would print its own words to standard error before anything can be said.
 *
 * @returns false also where that cannot be told: only Linux lists locks.
 */
export function isFolderLocked(folder: string): boolean {
  try {
    const { ino } = statSync(join(folder, 'status'));
    // `1: FLOCK  ADVISORY  WRITE 11007 fe:00:10445654 0 EOF`
    return readFileSync('/proc/locks', 'utf8')
      .split('\n')
      .some((line) => line.split(/\s+/)[5]?.endsWith(`:${ino}`) && !line.includes(` ${process.pid} `));
  } catch {
    return false;
  }
}
