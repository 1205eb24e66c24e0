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
  if (percent > 0) setFlagsFromString(`--heap-growing-percent=${percent}`);
}
