import { messageOf } from '../../common/runtime/errors.js';
import type { Log } from '../../common/runtime/log.js';

export interface QueueOptions {
  /** Does the work of a key; rejects to have it done again. @returns milliseconds until it is to be looked at again. */
  readonly work: (key: string) => Promise<number | undefined>;
  /** Between the beginnings of two works on one key, in milliseconds. */
  readonly least_ms: number;
  /** Waits after failures in a row: doubled from the first to the last, in milliseconds. */
  readonly retry_ms: { readonly first: number; readonly last: number };
  /** Keys that are worked on at once. */
  readonly atOnce: number;
  readonly onFailure: (key: string, error: unknown) => void;
  readonly log: Log;
}

/** Keys that wait to be worked on, each at most once, and never twice at the same time. */
export interface Queue {
  add(key: string, after_ms?: number): void;
  /** Takes nothing more, and waits for what runs. */
  stop(): Promise<void>;
}

interface Entry {
  timer: NodeJS.Timeout | undefined;
  /** When the timer ends. */
  due: number;
  running: Promise<void> | undefined;
  started: number;
  failures: number;
  /** Wanted again while it ran. */
  isWanted: boolean;
}

export function createQueue(options: QueueOptions): Queue {
  const { work, least_ms, retry_ms, atOnce, log } = options;
  const entries = new Map<string, Entry>();
  const waiting: (() => void)[] = [];
  let free = atOnce;
  let isStopped = false;

  const slot = async (): Promise<void> => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
  };
  const give = (): void => {
    const next = waiting.shift();
    if (next === undefined) free += 1;
    else next();
  };
  const run = async (key: string, entry: Entry): Promise<void> => {
    await slot();
    entry.isWanted = false;
    entry.started = Date.now();
    let again: number | undefined;
    try {
      if (!isStopped) again = await work(key);
      entry.failures = 0;
    } catch (error) {
      again = Math.min(retry_ms.last, retry_ms.first * 2 ** entry.failures) * (0.8 + Math.random() * 0.4);
      entry.failures += 1;
      options.onFailure(key, error);
      log.warn({ key, again_ms: Math.round(again) }, messageOf(error));
    } finally {
      give();
      entry.running = undefined;
    }
    if (entry.isWanted && entry.failures === 0) queue.add(key);
    else if (again !== undefined) queue.add(key, again);
    else if (entry.timer === undefined) entries.delete(key);
  };
  const queue: Queue = {
    add(key, after_ms = 0) {
      if (isStopped) return;
      const entry = entries.get(key) ?? {
        timer: undefined,
        due: 0,
        running: undefined,
        started: 0,
        failures: 0,
        isWanted: false,
      };
      entries.set(key, entry);
      if (entry.running !== undefined) {
        if (after_ms === 0) entry.isWanted = true;
        return;
      }
      const due = Math.max(Date.now() + after_ms, entry.started + least_ms);
      if (entry.timer !== undefined && entry.due <= due) return;
      clearTimeout(entry.timer);
      entry.due = due;
      entry.timer = setTimeout(
        () => {
          entry.timer = undefined;
          entry.running = run(key, entry);
        },
        Math.max(0, due - Date.now()),
      );
    },
    async stop() {
      isStopped = true;
      for (const { timer } of entries.values()) clearTimeout(timer);
      await Promise.all([...entries.values()].map(({ running }) => running));
    },
  };
  return queue;
}
