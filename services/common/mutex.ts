import { createTurns, type Turn } from './clickhouse/turns.js';

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
