import { type Call, callerLeft, QueryTimeout } from '../clickhouse/database.js';
import { createFairQueue } from './fair-queue.js';

export interface BatcherOptions<Key, Value> {
  /** Answers several keys with one query; the values in the order of the keys. */
  readonly run: (keys: readonly Key[], call: Call) => Promise<readonly Value[]>;
  /** What a key costs. Default: 1. */
  readonly weigh?: (key: Key) => number;
  /** How much goes into one query; one key may be heavier. */
  readonly most: number;
  /** How many queries may run at once. */
  readonly atOnce: number;
}

interface Waiter<Key, Value> {
  readonly key: Key;
  readonly call: Call;
  resolve(value: Value): void;
  reject(error: unknown): void;
}

/**
 * Look-ups that arrive together become one query: those of one turn of the event loop, and
 * those that arrive while queries are running. A look-up among others costs a fraction of
 * one on its own.
 */
export function createBatcher<Key, Value>(
  options: BatcherOptions<Key, Value>,
): (key: Key, call: Call) => Promise<Value> {
  const { run, weigh = () => 1, most, atOnce } = options;
  const waiting = createFairQueue<Waiter<Key, Value>>();
  let running = 0;
  let scheduled = false;

  const schedule = (): void => {
    if (scheduled || running >= atOnce || waiting.length === 0) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      start();
      schedule();
    });
  };

  const start = (): void => {
    const batch = takeBatch();
    if (batch.length === 0) return;
    running += 1;
    run(
      batch.map(({ key }) => key),
      joinCalls(batch.map(({ call }) => call)),
    )
      .then(
        (values) => {
          for (const [index, { resolve }] of batch.entries()) resolve(values[index] as Value);
        },
        (error: unknown) => {
          for (const { reject } of batch) reject(error);
        },
      )
      .finally(() => {
        running -= 1;
        schedule();
      });
  };

  /** The next ones in line that fit, clients by turns; those whose callers no longer wait are dropped. */
  const takeBatch = (): Waiter<Key, Value>[] => {
    const now = Date.now();
    const batch: Waiter<Key, Value>[] = [];
    let weight = 0;
    for (let waiter = waiting.peek(); waiter !== undefined; waiter = waiting.peek()) {
      const { key, call } = waiter;
      const isLate = call.deadline !== undefined && call.deadline <= now;
      const own = weigh(key);
      const isServed = !isLate && isWanted(call);
      if (isServed && batch.length > 0 && weight + own > most) break;
      waiting.take();
      if (isServed) {
        weight += own;
        waiting.charge(clientOf(call), own);
        batch.push(waiter);
      } else if (isLate) {
        waiter.reject(new QueryTimeout('the look-up ran out of time while it waited for its turn'));
      } else waiter.reject(callerLeft());
    }
    return batch;
  };

  return (key, call) =>
    new Promise((resolve, reject) => {
      const began = call.deadline ?? Number.POSITIVE_INFINITY;
      waiting.add({ key, call, resolve, reject }, clientOf(call), began);
      schedule();
    });
}

const isWanted = ({ isWanted: ask }: Call): boolean => ask?.() ?? true;

const clientOf = ({ client = '' }: Call): string => client;

/** Request ids that a query for many calls carries at most: enough to find it by. */
const idsShown = 8;

/** What a query for several calls carries: it may run as long as the most patient one waits. */
function joinCalls(calls: readonly Call[]): Call {
  const deadlines = calls.map(({ deadline }) => deadline);
  const ids = calls.map(({ request_id }) => request_id).filter((id) => id !== undefined);
  return {
    deadline: deadlines.some((deadline) => deadline === undefined)
      ? undefined
      : Math.max(...(deadlines as number[])),
    request_id: ids.length === 0 ? undefined : ids.slice(0, idsShown).join(','),
    isWanted: () => calls.some(isWanted),
    // Not as one of its clients: it would wait behind what that one has waiting, and all the others with it.
    client: '',
  };
}
