import { aroundStatements, type Database, type StatementOptions } from '../clickhouse/database.js';
import { sleep } from '../runtime/lifecycle.js';

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

/** How fast something goes. */
export interface Rate {
  /** Notes how far it is. @param at milliseconds of any clock that only goes forward. */
  add(at: number, height: number): void;
  /** Blocks per second over the window; 0 while it is not known. */
  perSecond(): number;
}

/** Makes a rate over a window of time. */
export function createRate(window_ms: number): Rate {
  let samples: { readonly at: number; readonly height: number }[] = [];
  return {
    add(at, height) {
      // A height below the last one is a rollback: what was before says nothing any more.
      if (height < (samples.at(-1)?.height ?? 0)) samples = [];
      samples = [...samples.filter((sample) => at - sample.at <= window_ms), { at, height }];
    },
    perSecond() {
      const [first, last] = [samples[0], samples.at(-1)];
      if (first === undefined || last === undefined || last.at === first.at) return 0;
      return ((last.height - first.height) * 1000) / (last.at - first.at);
    },
  };
}
