import { status } from '@grpc/grpc-js';
import { RpcError } from './errors.js';

/** What answers are read with. */
export interface OneChain {
  /** Where another process writes the tables: takes over how far they are. */
  readonly look?: (() => Promise<void>) | undefined;
}

/** How often an answer is read before the caller is asked to come again. */
const attempts = 3;

/** Errors that say nothing of the chain. */
const isAboutRequest = (error: unknown): boolean =>
  error instanceof RpcError && error.code === status.INVALID_ARGUMENT;

/**
 * Reads an answer that takes several statements. A rollback between two of them would make it
 * one of two chains: then it is read again. Rows go only after the head has been cut, so that
 * nothing was lost to an answer if no rollback shows after it; where another process writes,
 * that takes a look.
 *
 * @param begin begins to read at the head as it is then.
 * @param rollbacksOf what changes with every rollback.
 * @throws RpcError UNAVAILABLE when the chain is rolled back again and again.
 */
export async function ofOneChain<Reading extends OneChain, T>(
  begin: () => Reading,
  rollbacksOf: (reading: Reading) => number,
  read: (reading: Reading) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const reading = begin();
    const before = rollbacksOf(reading);
    const outcome = await read(reading).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    );
    if ('error' in outcome && isAboutRequest(outcome.error)) throw outcome.error;
    await reading.look?.();
    if (rollbacksOf(reading) !== before) continue;
    if ('error' in outcome) throw outcome.error;
    return outcome.answer;
  }
  throw new RpcError(status.UNAVAILABLE, 'the chain was rolled back while the call was answered: ask again');
}
