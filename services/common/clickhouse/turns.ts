/** Hands out the right to use something that takes one user at a time. */
export interface Turns {
  /** Waits for a turn, runs the work, and gives the turn on, whatever comes of it. */
  take<T>(priority: 'read' | 'write', work: () => Promise<T>): Promise<T>;
  /** Resolves when nobody has a turn or waits for one. */
  idle(): Promise<void>;
}

/** How many reads may go before a write that waits, so that writes are never starved. */
const readsBeforeWrite = 16;

/**
 * The embedded engine runs one statement at a time anyway. The queue stands here, in front
 * of it, so that reads need not wait behind a backlog of inserts, and so that what must
 * follow a failed statement (see embedded.ts) comes before anybody else's.
 */
export function createTurns(): Turns {
  const waiting = { read: [] as (() => void)[], write: [] as (() => void)[] };
  const idlers: (() => void)[] = [];
  let busy = false;
  let readsInARow = 0;

  const next = (): void => {
    const writeIsDue = waiting.read.length === 0 || readsInARow >= readsBeforeWrite;
    const start = (writeIsDue ? waiting.write.shift() : undefined) ?? waiting.read.shift();
    if (start === undefined) {
      busy = false;
      for (const idler of idlers.splice(0)) idler();
      return;
    }
    start();
  };

  return {
    async take(priority, work) {
      if (busy) await new Promise<void>((resolve) => waiting[priority].push(resolve));
      busy = true;
      readsInARow = priority === 'read' ? readsInARow + 1 : 0;
      try {
        return await work();
      } finally {
        next();
      }
    },
    async idle() {
      if (busy) await new Promise<void>((resolve) => idlers.push(resolve));
    },
  };
}
