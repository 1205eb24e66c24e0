/**
 * Whose statement it is: `read` for a call that somebody waits for, `write` for what follows the
 * chain, `background` for what may take its time, such as a rebuild.
 */
export type Priority = 'read' | 'write' | 'background';

/** Hands out the right to use something that takes one user at a time. */
export interface Turns {
  /** Waits for a turn, runs the work, and gives the turn on, whatever comes of it. */
  take<T>(priority: Priority, work: () => Promise<T>): Promise<T>;
  /** Resolves when nobody has a turn or waits for one. */
  idle(): Promise<void>;
}

/** Shares of the time when all want more than there is; who wants less leaves the rest to others. */
const shares: Readonly<Record<Priority, number>> = { read: 4, write: 2, background: 1 };

/** Of those that are equally far the first goes first. */
const priorities = ['read', 'write', 'background'] as const;

interface Queue {
  readonly waiting: (() => void)[];
  /** Time used, over the share: who is least far has the next turn. */
  used: number;
}

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
 */
export function createTurns(now: () => number = () => performance.now()): Turns {
  const queues: Record<Priority, Queue> = {
    read: { waiting: [], used: 0 },
    write: { waiting: [], used: 0 },
    background: { waiting: [], used: 0 },
  };
  const idlers: (() => void)[] = [];
  let running: Priority | undefined;
  /** Where the one who has the turn began. */
  let began = 0;

  /** Notes that somebody wants a turn who may not have wanted one for long. */
  const enter = (priority: Priority): void => {
    const queue = queues[priority];
    if (queue.waiting.length === 0 && running !== priority) queue.used = Math.max(queue.used, began);
  };

  const start = (priority: Priority): void => {
    running = priority;
    began = queues[priority].used;
  };

  const next = (): void => {
    let least: Priority | undefined;
    for (const priority of priorities) {
      const { waiting, used } = queues[priority];
      if (waiting.length > 0 && (least === undefined || used < queues[least].used)) least = priority;
    }
    if (least === undefined) {
      running = undefined;
      for (const idler of idlers.splice(0)) idler();
      return;
    }
    start(least);
    queues[least].waiting.shift()?.();
  };

  return {
    async take(priority, work) {
      enter(priority);
      if (running === undefined) start(priority);
      else await new Promise<void>((resolve) => queues[priority].waiting.push(resolve));
      const from = now();
      try {
        return await work();
      } finally {
        queues[priority].used += (now() - from) / shares[priority];
        next();
      }
    },
    async idle() {
      if (running !== undefined) await new Promise<void>((resolve) => idlers.push(resolve));
    },
  };
}
