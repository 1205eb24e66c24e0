import { createFairQueue } from '../util/fair-queue.js';
import { type Call, callerLeft } from './database.js';

/** What a turn is wanted for. */
export type Turn = Pick<Call, 'client' | 'deadline' | 'isWanted'>;

/** Hands out the right to use something that takes a few users at a time. */
export interface Turns {
  /**
   * Waits for a turn, runs the work, and gives the turn on, whatever comes of it.
   *
   * @throws RpcError CANCELLED when the caller left meanwhile: the work is not begun then.
   */
  take<T>(turn: Turn, work: () => Promise<T>): Promise<T>;
  /** Resolves when nobody has a turn or waits for one. */
  idle(): Promise<void>;
}

interface Waiter extends Turn {
  start(): void;
  drop(): void;
}

/**
 * The queue in front of the engine. Clients take turns by the time that they use, and of one client the call that began
 * first goes first.
 *
 * @param atOnce how many may have a turn at the same time.
 * @param now milliseconds of any clock that only goes forward.
 */
export function createTurns(atOnce: number, now: () => number = () => performance.now()): Turns {
  const waiting = createFairQueue<Waiter>();
  const idlers: (() => void)[] = [];
  let running = 0;

  const next = (): void => {
    while (running < atOnce && waiting.length > 0) {
      const waiter = waiting.take() as Waiter;
      if (waiter.isWanted?.() === false) {
        waiter.drop();
        continue;
      }
      running += 1;
      waiter.start();
    }
    if (running === 0) for (const idler of idlers.splice(0)) idler();
  };

  return {
    async take(turn, work) {
      const { client = '', deadline = Number.POSITIVE_INFINITY } = turn;
      if (turn.isWanted?.() === false) throw callerLeft();
      if (running < atOnce) {
        waiting.pass(client);
        running += 1;
      } else {
        await new Promise<void>((resolve, reject) =>
          waiting.add(
            { ...turn, start: resolve, drop: () => reject(callerLeft()) },
            client,
            // Calls have the same patience: the one that ends first began first.
            deadline,
          ),
        );
      }
      const from = now();
      try {
        return await work();
      } finally {
        waiting.charge(client, now() - from);
        running -= 1;
        next();
      }
    },
    async idle() {
      if (running > 0) await new Promise<void>((resolve) => idlers.push(resolve));
    },
  };
}
