import { aroundStatements, type Database, type StatementOptions } from '../clickhouse/database.js';
import { sleep } from '../lifecycle.js';

/** A database whose statements take a share of the time at most. */
export interface PacedDatabase {
  readonly database: Database;
  /** Changes the share from the next statement on; 100 does not slow anything down. */
  setPercent(percent: number): void;
}

/**
 * Slows a writer down: after a statement that ran for t it rests until t is `percent` of the
 * time that has passed since it was asked, and it gives way to calls and to the head. Time that
 * it waited for its turn counts as rest: else it would rest twice where others are busy.
 * Whoever catches up by it leaves the engine, and through backpressure the processor, to others.
 *
 * @param percent 1 to 100; 100 does not slow anything down.
 */
export function paced(database: Database, percent: number, signal: AbortSignal): PacedDatabase {
  let share = percent;
  const resting = async <T, Options extends StatementOptions>(
    options: Options,
    work: (options: Options) => Promise<T>,
  ): Promise<T> => {
    if (share >= 100) return work(options);
    const asked = performance.now();
    let began = asked;
    const onTurn = (): void => {
      began = performance.now();
    };
    const result = await work({ ...options, priority: 'background', onTurn });
    const ended = performance.now();
    const rest = ((ended - began) * 100) / share - (ended - asked);
    if (share < 100 && rest > 0) await sleep(rest, signal);
    return result;
  };
  return {
    database: aroundStatements(database, resting),
    setPercent(next) {
      share = next;
    },
  };
}
