import { messageOf, UserError } from './errors.js';
import type { Log } from './log.js';

/** Something that was started and can be stopped. */
export interface Stoppable {
  /** Stops it in order; resolves when nothing of it runs any more. */
  stop(): Promise<void>;
}

/** How long a stop may take before the process ends without it. */
const patience_ms = 20_000;

/**
 * Runs a program until SIGINT or SIGTERM, then stops it and ends the process.
 * Exit codes: 0 after a signal, 1 for the user's mistake, 75 (try again) for anything else,
 * a stop that fails included.
 *
 * @param start brings everything up; a signal during it stops what is up once it returns.
 */
export async function runUntilSignal(
  log: Log,
  start: (signal: AbortSignal) => Promise<Stoppable>,
): Promise<never> {
  const controller = new AbortController();
  const signalled = new Promise<void>((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM'] as const) {
      process.on(name, () => {
        if (!controller.signal.aborted) log.info({ signal: name }, 'stopping');
        controller.abort();
        resolve();
      });
    }
  });
  const failed = (error: unknown): never => {
    if (error instanceof UserError) process.stderr.write(`${messageOf(error)}\n`);
    else log.fatal({ err: error }, messageOf(error));
    process.exit(error instanceof UserError ? 1 : 75);
  };
  const running = await start(controller.signal).catch((error: unknown) => {
    // What a signal cuts short may well fail.
    if (controller.signal.aborted) process.exit(0);
    return failed(error);
  });
  await signalled;
  setTimeout(() => {
    log.error('stopping took too long');
    process.exit(75);
  }, patience_ms);
  await running.stop().catch(failed);
  log.info('stopped');
  process.exit(0);
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
