import { setImmediate as nextTurn } from 'node:timers/promises';
import { createTurns, type Turn } from '../clickhouse/turns.js';

/** How a turn is waited for. */
export interface Waiting extends Pick<Turn, 'isWanted'> {
  /** Whether everybody else who waits goes first. */
  readonly isPatient?: boolean;
}

/**
 * Lets one at a time do something, in the order of asking.
 *
 * @throws RpcError CANCELLED when it is not wanted any more when its turn comes: the work is not begun then.
 */
export type Mutex = <T>(work: () => Promise<T>, waiting?: Waiting) => Promise<T>;

/** Makes a mutex; it never begins before the caller goes on. */
export function createMutex(): Mutex {
  const turns = createTurns(1);
  return async (work, { isPatient = false, ...turn } = {}) => {
    await undefined;
    return turns.take({ ...turn, deadline: isPatient ? Number.POSITIVE_INFINITY : 0 }, work);
  };
}

/**
 * Does something for every item, a few at a time.
 *
 * @param isEnough asked before each item: whether none is begun any more.
 * @returns the results of those that were begun, in the order of the items.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
  isEnough: () => boolean = () => false,
): Promise<R[]> {
  const results: R[] = [];
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length && !isEnough()) {
      const index = next++;
      results[index] = await work(items[index] as T);
    }
  };
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker));
  return results;
}

/** How long the event loop may be held, in milliseconds. */
const slice_ms = 8;

/**
 * Gives the event loop a turn when it has been held long enough. To be awaited between
 * pieces of work: a turn after every piece would let whoever has more callbacks waiting (the
 * fetching of blocks) starve the work.
 */
export function createSlices(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < slice_ms) return undefined;
    return nextTurn().then(() => {
      since = performance.now();
    });
  };
}

/** An amount of something that several clients take of and give back. */
export interface Shares {
  /**
   * Takes some of it.
   *
   * @param amount how much; default: 1.
   * @returns what gives it back, and does nothing when called again; undefined when the client may not have it.
   */
  take(client: string, amount?: number): (() => void) | undefined;
}

/**
 * Shares an amount among those who want it. While enough is left everybody may take. When it is not, a client may that stays
 * within its share, or has nothing yet, so that one who takes everything keeps nobody else out; for those there is as much
 * again.
 *
 * @param most how much there is.
 */
export function createShares(most: number): Shares {
  const taken = new Map<string, number>();
  let total = 0;
  return {
    take(client, amount = 1) {
      const had = taken.get(client) ?? 0;
      const clients = taken.size + (had === 0 ? 1 : 0);
      const share = Math.floor(most / clients);
      const isFair = had === 0 || had + amount <= share;
      if (total + amount > most && (!isFair || total >= 2 * most)) return undefined;
      taken.set(client, had + amount);
      total += amount;
      let isBack = false;
      return () => {
        if (isBack) return;
        isBack = true;
        const left = (taken.get(client) ?? amount) - amount;
        if (left === 0) taken.delete(client);
        else taken.set(client, left);
        total -= amount;
      };
    },
  };
}
