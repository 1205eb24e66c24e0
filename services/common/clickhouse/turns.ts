import { createFairQueue, type FairQueue } from '../fair-queue.js';
import { type Call, callerLeft } from './database.js';

/**
 * Whose statement it is: `read` for a call that somebody waits for, `write` for what follows the
 * chain, `background` for what may take its time, such as a rebuild.
 */
export type Priority = 'read' | 'write' | 'background';

/** What a turn is wanted for. */
export interface Turn extends Pick<Call, 'client' | 'deadline' | 'isWanted'> {
  /** Default: read. */
  readonly priority?: Priority | undefined;
}

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

/** Shares of the time when all want more than there is; who wants less leaves the rest to others. */
const shares: Readonly<Record<Priority, number>> = { read: 4, write: 2, background: 1 };

/** Of those that are equally far the first goes first. */
const priorities = ['read', 'write', 'background'] as const;

interface Waiter extends Turn {
  start(): void;
  drop(): void;
}

interface Queue {
  /** Within a priority clients take turns, and of one client the call that began first goes first. */
  readonly waiting: FairQueue<Waiter>;
  running: number;
  /** Time used, over the share: who is least far has the next turn. */
  used: number;
}

const newQueue = (): Queue => ({ waiting: createFairQueue(), running: 0, used: 0 });

/**
 * The embedded engine runs one statement at a time anyway. The queue stands here, in front
 * of it, so that reads need not wait behind a backlog of inserts, and so that what must
 * follow a failed statement (see embedded.ts) comes before anybody else's.
 *
 * It is fair queueing by time rather than by number, since an insert takes as long as many
 * reads. Time that was not wanted is not saved up: who comes back begins where the one who has
 * the turn began, and so is served next, whatever the others have waiting.
 *
 * @param now milliseconds of any clock that only goes forward.
 * @param atOnce how many may have a turn at the same time.
 */
export function createTurns(now: () => number = () => performance.now(), atOnce = 1): Turns {
  const queues: Record<Priority, Queue> = { read: newQueue(), write: newQueue(), background: newQueue() };
  const idlers: (() => void)[] = [];
  let running = 0;
  /** Where the one who got the last turn began. */
  let began = 0;

  /** Notes that somebody wants a turn who may not have wanted one for long. */
  const enter = (queue: Queue): void => {
    if (queue.waiting.length === 0 && queue.running === 0) queue.used = Math.max(queue.used, began);
  };

  const start = (queue: Queue): void => {
    running += 1;
    queue.running += 1;
    began = queue.used;
  };

  const leastFar = (): Queue | undefined => {
    let least: Queue | undefined;
    for (const priority of priorities) {
      const queue = queues[priority];
      if (queue.waiting.length > 0 && (least === undefined || queue.used < least.used)) least = queue;
    }
    return least;
  };

  const next = (): void => {
    while (running < atOnce) {
      const queue = leastFar();
      if (queue === undefined) break;
      const waiter = queue.waiting.take() as Waiter;
      if (waiter.isWanted?.() === false) {
        waiter.drop();
        continue;
      }
      start(queue);
      waiter.start();
    }
    if (running === 0) for (const idler of idlers.splice(0)) idler();
  };

  return {
    async take(turn, work) {
      const { priority = 'read', client = '', deadline = Number.POSITIVE_INFINITY } = turn;
      if (turn.isWanted?.() === false) throw callerLeft();
      const queue = queues[priority];
      enter(queue);
      if (running < atOnce) {
        queue.waiting.pass(client);
        start(queue);
      } else {
        await new Promise<void>((resolve, reject) =>
          queue.waiting.add(
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
        const time = now() - from;
        queue.used += time / shares[priority];
        queue.waiting.charge(client, time);
        running -= 1;
        queue.running -= 1;
        next();
      }
    },
    async idle() {
      if (running > 0) await new Promise<void>((resolve) => idlers.push(resolve));
    },
  };
}
