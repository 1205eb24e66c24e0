import { DatabaseUnavailable } from '../clickhouse/database.js';
import { TablesBehind } from '../clickhouse/migrate.js';
import { messageOf, UserError } from './errors.js';
import type { Log } from './log.js';

/** Something that was started and can be stopped. */
export interface Stoppable {
  /** Stops it in order; resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

/** A program that may go on for a while after the signal, for callers that have not heard of it. */
export interface Drainable extends Stoppable {
  /** Begins to end what writes, before anything drains: a successor waits for it. The stop waits until it has ended. */
  readonly stopWriting?: (() => void) | undefined;
  /** Says to whoever asks that it is not ready any more, and goes on serving. */
  readonly drain?: () => void;
  /** How long it goes on, in milliseconds. */
  readonly drain_ms?: number;
  /** How long running calls may go on after that, in milliseconds: a stop takes at least as long. */
  readonly grace_ms?: number;
}

/** Takes an error after which a part cannot go on: the program stops and ends with 75. Only the first one counts. */
export type OnFatal = (error: unknown) => void;

/** Where nobody takes fatal errors: an uncaught one ends the process as well. */
export const throwFatal: OnFatal = (error) => {
  throw error;
};

/** How long a stop may take, besides the time that running calls are given, before the process ends without it. */
const patience_ms = 20_000;

/** The same after a fatal error, running calls included: a supervisor waits for the end of the process. */
const fatalPatience_ms = 8_000;

/**
 * Runs a program until SIGINT or SIGTERM, or until a part of it cannot go on, then stops it and ends the process.
 * Exit codes: 0 after a signal, 1 for the user's mistake, 75 (try again) for anything else,
 * a fatal error and a stop that fails included. A second signal ends the draining.
 *
 * @param start brings everything up; a signal during it stops what is up once it returns.
 *   Parts that cannot go on call `onFatal`, at any time: then nothing is drained.
 */
export async function runUntilSignal(
  log: Log,
  start: (signal: AbortSignal, onFatal: OnFatal) => Promise<Drainable>,
): Promise<never> {
  const controller = new AbortController();
  const again = new AbortController();
  let isFatal = false;
  let wake = (): void => {};
  const ended = new Promise<void>((resolve) => {
    wake = resolve;
  });
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) again.abort();
      else log.info({ signal: name }, 'stopping');
      controller.abort();
      wake();
    });
  }
  const onFatal: OnFatal = (error) => {
    if (isFatal) return;
    isFatal = true;
    log.fatal({ err: error }, `the process ends with code 75: ${messageOf(error)}`);
    process.exitCode = 75;
    setTimeout(() => process.exit(75), fatalPatience_ms);
    controller.abort();
    again.abort();
    wake();
  };
  // Rejections that nobody handles come here as well.
  process.on('uncaughtException', onFatal);
  const failed = (error: unknown): never => {
    if (error instanceof UserError) process.stderr.write(`${messageOf(error)}\n`);
    else log.fatal({ err: error }, messageOf(error));
    process.exit(error instanceof UserError ? 1 : 75);
  };
  const running = await start(controller.signal, onFatal).catch((error: unknown) => {
    // What a signal cuts short may well fail.
    if (controller.signal.aborted) process.exit(isFatal ? 75 : 0);
    return failed(error);
  });
  await ended;
  running.stopWriting?.();
  running.drain?.();
  await sleep(running.drain_ms ?? 0, again.signal);
  setTimeout(
    () => {
      log.error('stopping took too long');
      process.exit(75);
    },
    patience_ms + (running.grace_ms ?? 0),
  );
  await running.stop().catch(failed);
  log.info('stopped');
  process.exit(isFatal ? 75 : 0);
}

/**
 * Stops things in the reverse order of how they were started: all of them, even when one
 * fails to stop. The stop rejects with the first failure.
 */
export function stopAll(things: readonly (() => Promise<unknown>)[]): () => Promise<void> {
  return async () => {
    const failures: unknown[] = [];
    for (const stop of [...things].reverse()) {
      try {
        await stop();
      } catch (error) {
        failures.push(error);
      }
    }
    if (failures.length > 0) throw failures[0];
  };
}

/** Waits, unless the signal comes first. */
export function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    if (signal?.aborted) done();
    else signal?.addEventListener('abort', done);
  });
}

/** Called between any two steps, so that tests can stop the process right there. */
export type FaultPoint = (point: string) => void | Promise<void>;

/** Where a start puts how each thing that is up is stopped, in the order in which they came up. */
export type Stops = (() => Promise<unknown>)[];

/**
 * Starts several things as one. When a later one fails, those before it are stopped, in
 * reverse, and the failure is thrown.
 *
 * @returns what `start` gives, with a `stop` for all of it, in reverse.
 */
export async function startTogether<Running extends object>(
  start: (stops: Stops) => Promise<Running>,
): Promise<Running & Stoppable> {
  const stops: Stops = [];
  const stop = stopAll(stops);
  try {
    return { ...(await start(stops)), stop };
  } catch (error) {
    // Why it failed is what counts, not what could not be stopped after it.
    await stop().catch(() => {});
    throw error;
  }
}

/** How long to wait for a database that does not answer, in milliseconds. */
const databaseWait_ms = 1_000;

export interface WaitOptions {
  readonly log: Log;
  /** Ends the waiting: the failure is thrown then. */
  readonly signal: AbortSignal;
  /** Told what is waited for. */
  readonly onWait: (reason: string) => void;
}

/** Starts a service, and starts it again while its database does not answer or is not migrated yet. */
export async function startOnceReachable<Running>(
  start: () => Promise<Running>,
  { log, signal, onWait }: WaitOptions,
): Promise<Running> {
  for (;;) {
    try {
      return await start();
    } catch (error) {
      const isWaitedFor = error instanceof DatabaseUnavailable || error instanceof TablesBehind;
      if (!isWaitedFor || signal.aborted) throw error;
      onWait(error.message);
      log.warn(`waiting for the database: ${error.message}`);
      await sleep(databaseWait_ms, signal);
    }
  }
}
