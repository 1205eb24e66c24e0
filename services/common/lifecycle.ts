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
 * Exit codes: 0 after a signal, 1 for the user's mistake, 75 (try again) for anything else.
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
  let code = 0;
  try {
    const running = await start(controller.signal);
    await signalled;
    const timer = setTimeout(() => {
      log.error('stopping took too long');
      process.exit(75);
    }, patience_ms);
    await running.stop();
    clearTimeout(timer);
    log.info('stopped');
  } catch (error) {
    if (!controller.signal.aborted) {
      code = error instanceof UserError ? 1 : 75;
      if (error instanceof UserError) process.stderr.write(`${messageOf(error)}\n`);
      else log.fatal({ err: error }, messageOf(error));
    }
  }
  process.exit(code);
}

/** Stops things in the reverse order of how they were started. */
export function stopAll(things: readonly (() => Promise<unknown>)[]): () => Promise<void> {
  return async () => {
    for (const stop of [...things].reverse()) await stop();
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
