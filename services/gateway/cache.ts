import { LRUCache } from 'lru-cache';
import type { Metrics } from '../common/runtime/metrics.js';
import type { Heads } from './heads.js';
import { type Answer, bytesOf } from './http/answer.js';
import type { Owner } from './route.js';

/** When an answer was made and of what; decides how long it may be served. */
interface Entry {
  readonly answer: Answer;
  readonly versions: readonly (number | undefined)[];
  readonly epochs: readonly number[];
  /** performance.now() before the services were asked. */
  readonly asked_ms: number;
}

interface Flight {
  readonly result: Promise<Answer>;
  readonly controller: AbortController;
  waiting: number;
}

/** Asks the services; the signal aborts when nobody waits any more. */
export type Ask = (signal: AbortSignal) => Promise<Answer>;

/** Answers by normalised request. */
export interface Cache {
  /** The answer, when it is certain that it would be given again. */
  get(key: string, owners: readonly Owner[]): Answer | undefined;
  /**
   * Asks, or joins an equal question in flight. A caller whose `signal` aborts leaves; the
   * question is cancelled when the last one left.
   */
  ask(key: string, owners: readonly Owner[], ask: Ask, signal: AbortSignal): Promise<Answer>;
  /** An answer of earlier, whatever happened since, with its age in seconds. */
  getOld(key: string): { answer: Answer; age_s: number } | undefined;
  /** Counts the bytes of an answer again, after a compressed body came to it. */
  recount(key: string, answer: Answer): void;
}

/** What the cache depends on. */
export interface CacheEnvironment {
  readonly heads: Pick<Heads, 'current'>;
  readonly metrics: Metrics;
  /** Bound of all bodies, compressed ones included; 0 for no cache. */
  readonly max_bytes: number;
  /** Age at which an answer that can change is asked again, even if no head moved. */
  readonly max_age_ms: number;
  readonly now?: () => number;
}

/** An old answer is not shown beyond this age. */
const oldest_ms = 600_000;

/**
 * A bounded cache of answers.
 *
 * Invariants: an answer that can change is served only while every service it came from is
 * heard, none of their heads has moved since it was asked for, and it is younger than
 * `max_age_ms` (a replica may lag behind the one whose head is heard). An answer that can
 * no longer change is served until memory is needed or a service says that the past changed.
 */
export function createCache(environment: CacheEnvironment): Cache {
  const { heads, metrics, max_bytes, max_age_ms } = environment;
  const now = environment.now ?? (() => performance.now());
  const entries =
    max_bytes === 0
      ? undefined
      : new LRUCache<string, Entry>({
          maxSize: max_bytes,
          maxEntrySize: Math.max(1, Math.floor(max_bytes / 8)),
          sizeCalculation: (entry, key) => bytesOf(entry.answer) + key.length * 2,
        });
  const flights = new Map<string, Flight>();
  const [hits, misses, joins, bypasses] = (['hit', 'miss', 'joined', 'bypass'] as const).map((result) =>
    metrics.cache.labels({ result }),
  ) as [Counter, Counter, Counter, Counter];

  const isGood = (entry: Entry, owners: readonly Owner[]): boolean => {
    const { settled } = entry.answer.content;
    for (let i = 0; i < owners.length; i++) {
      const head = heads.current[owners[i] as Owner];
      if (head.epoch !== entry.epochs[i]) return false;
      if (!settled && (head.version === undefined || head.version !== entry.versions[i])) return false;
    }
    return settled || owners.length === 0 || now() - entry.asked_ms <= max_age_ms;
  };

  const store = (key: string, entry: Entry): void => {
    entries?.set(key, entry);
    metrics.cacheBytes.set(entries?.calculatedSize ?? 0);
  };

  const start = (key: string, flight_key: string, owners: readonly Owner[], ask: Ask): Flight => {
    // What is known of the heads is noted before asking: a head that moves meanwhile makes
    // the entry old at once, which costs a question and never shows an old answer.
    const asked_ms = now();
    const versions = owners.map((owner) => heads.current[owner].version);
    const epochs = owners.map((owner) => heads.current[owner].epoch);
    const controller = new AbortController();
    const result = ask(controller.signal)
      .then((answer) => {
        // What is streamed is no answer to keep, only the way to one.
        if (answer.content.streamed === undefined) store(key, { answer, versions, epochs, asked_ms });
        return answer;
      })
      .finally(() => {
        if (flights.get(flight_key) === flight) flights.delete(flight_key);
      });
    result.catch(() => {}); // everybody who waited may have left
    const flight: Flight = { result, controller, waiting: 0 };
    flights.set(flight_key, flight);
    return flight;
  };

  return {
    get: (key, owners) => {
      const entry = entries?.get(key);
      if (entry === undefined || !isGood(entry, owners)) return undefined;
      hits.inc();
      return entry.answer;
    },
    ask: async (key, owners, ask, signal) => {
      // Only questions asked at the same heads are equal.
      const at = owners.map((owner) => `${heads.current[owner].version}.${heads.current[owner].epoch}`);
      const flight_key = `${at.join(' ')} ${key}`;
      let flight = flights.get(flight_key);
      (flight !== undefined ? joins : entries === undefined ? bypasses : misses).inc();
      flight ??= start(key, flight_key, owners, ask);
      return wait(flight, signal, () => {
        if (flights.get(flight_key) === flight) flights.delete(flight_key);
      });
    },
    getOld: (key) => {
      const entry = entries?.peek(key);
      const age_ms = entry === undefined ? 0 : now() - entry.asked_ms;
      if (entry === undefined || age_ms > oldest_ms) return undefined;
      return { answer: entry.answer, age_s: Math.floor(age_ms / 1000) };
    },
    recount: (key, answer) => {
      const entry = entries?.peek(key);
      if (entry?.answer === answer) store(key, { ...entry });
    },
  };
}

interface Counter {
  inc(): void;
}

async function wait(flight: Flight, signal: AbortSignal, abandon: () => void): Promise<Answer> {
  flight.waiting += 1;
  const leave = (): void => {
    flight.waiting -= 1;
    if (flight.waiting > 0) return;
    abandon();
    flight.controller.abort();
  };
  if (signal.aborted) leave();
  else signal.addEventListener('abort', leave, { once: true });
  try {
    return await flight.result;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
