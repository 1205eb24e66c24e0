import { setFlagsFromString } from 'node:v8';

/**
 * Bounds how far the JavaScript heap grows before garbage is collected: by this part of what was left after the
 * last collection, in percent. V8 by itself lets it grow to a multiple, as long as the machine has memory: while
 * catching up that is hundreds of megabytes of garbage. V8 reads the flag at every collection, so it may be set
 * while the program runs.
 *
 * @param percent 0 leaves it to V8.
 */
export function limitHeapGrowth(percent: number): void {
  usual = percent;
  if (percent > 0) setFlagsFromString(`--heap-growing-percent=${percent}`);
}

/** What holds while nothing large is held; V8's own default is 0. */
let usual = 0;

/** While something large is held, what it leaves behind at each step is as large: it is collected sooner. */
const sooner = 20;

/** What runs now that makes much garbage. */
let running = 0;

/** Runs something that makes much garbage, and bounds it more closely until all of that has ended. */
export async function withLittleGarbage<T>(work: () => Promise<T>): Promise<T> {
  setFlagsFromString(`--heap-growing-percent=${usual === 0 ? sooner : Math.min(usual, sooner)}`);
  running += 1;
  try {
    return await work();
  } finally {
    running -= 1;
    if (running === 0) setFlagsFromString(`--heap-growing-percent=${usual}`);
  }
}
