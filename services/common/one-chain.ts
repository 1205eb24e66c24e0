import { status } from '@grpc/grpc-js';
import { Overtaken } from './clickhouse/database.js';
import { isBeingCut } from './cuts.js';
import { RpcError } from './errors.js';
import type { Head } from './head.js';
import { sleep } from './lifecycle.js';

/** What answers are read with. */
export interface OneChain {
  /** Where another process writes the tables: takes over how far they are. */
  readonly look?: (() => Promise<void>) | undefined;
  /** How far calls may read. */
  readonly head: Pick<Head<unknown>, 'cuts' | 'rollbacks'>;
  /** Whether answers are exact while the tables are being cut, too. */
  readonly isWholeWhileCut?: boolean;
}

const isLackingRows = ({ head, isWholeWhileCut }: OneChain): boolean =>
  isWholeWhileCut !== true && isBeingCut(head.cuts);

/** How often an answer is read before the caller is asked to come again. */
const attempts = 5;

/** How long it waits until tables are whole, and how often it looks meanwhile, in milliseconds. */
const [patience, pause] = [1_000, 50];

/** Errors that say nothing of the chain: a mistake in the request, or a caller who has left. */
const isAboutRequest = (error: unknown): boolean =>
  error instanceof RpcError && (error.code === status.INVALID_ARGUMENT || error.code === status.CANCELLED);

/**
 * Begins to read once no rows are missing; a rollback takes a moment at the tip of a chain.
 *
 * @param begin begins to read at the head as it is then.
 * @throws RpcError UNAVAILABLE when rows are missing for longer than calls should wait.
 */
export async function whenWhole<Reading extends OneChain>(begin: () => Reading): Promise<Reading> {
  for (let waited = 0; ; waited += pause) {
    const reading = begin();
    if (!isLackingRows(reading)) return reading;
    if (waited >= patience)
      throw new RpcError(status.UNAVAILABLE, 'rows that were removed are being made again: ask again');
    await sleep(pause);
    await reading.look?.();
  }
}

/**
 * Reads an answer that takes several statements. A rollback between two of them would make it
 * one of two chains, and while tables are cut they lack rows: then it is read again. The head
 * changes before rows go and when they are back, so that nothing was lost to an answer if it
 * is the same after it, and no cut is under way; where another process writes, that takes a look.
 *
 * @param begin begins to read at the head as it is then.
 * @throws RpcError UNAVAILABLE when the chain is rolled back or overtakes the read again and again, or for long.
 */
export async function ofOneChain<Reading extends OneChain, T>(
  begin: () => Reading,
  read: (reading: Reading) => Promise<T>,
): Promise<T> {
  for (let attempt = 0; attempt < attempts; attempt++) {
    const reading = await whenWhole(begin);
    const before = reading.head.rollbacks;
    const outcome = await read(reading).then(
      (answer) => ({ answer }),
      (error: unknown) => ({ error }),
    );
    if ('error' in outcome && isAboutRequest(outcome.error)) throw outcome.error;
    await reading.look?.();
    if (reading.head.rollbacks !== before || isLackingRows(reading)) continue;
    // By now the head is further: where another process writes, the look has taken it over.
    if ('error' in outcome && outcome.error instanceof Overtaken) continue;
    if ('error' in outcome) throw outcome.error;
    return outcome.answer;
  }
  throw new RpcError(status.UNAVAILABLE, 'the chain went on or back while the call was answered: ask again');
}
