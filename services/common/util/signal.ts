import { setMaxListeners } from 'node:events';

/** Something that many wait for and that happens again and again. */
export interface Bell {
  /** How often it has rung: what a waiter has already taken into account. */
  readonly count: number;
  /** Wakes everybody who waits now. */
  ring(): void;
  /**
   * Resolves once it has rung after `since`, when the signal is aborted, or after a time.
   *
   * @param since the count before the waiter looked at what the bell is about, so that a
   *   ring between the look and the wait is not lost.
   */
  heard(since: number, signal: AbortSignal, timeout_ms?: number): Promise<void>;
}

/** Makes a bell. */
export function createBell(): Bell {
  const waiting = new Set<() => void>();
  let count = 0;
  return {
    get count() {
      return count;
    },
    ring() {
      count += 1;
      for (const wake of [...waiting]) wake();
    },
    heard(since, signal, timeout_ms) {
      if (signal.aborted || since !== count) return Promise.resolve();
      return new Promise((resolve) => {
        const wake = (): void => {
          waiting.delete(wake);
          signal.removeEventListener('abort', wake);
          clearTimeout(timer);
          resolve();
        };
        const timer = timeout_ms === undefined ? undefined : setTimeout(wake, timeout_ms);
        waiting.add(wake);
        signal.addEventListener('abort', wake);
      });
    },
  };
}

/**
 * Why children are aborted. One for all, made without a stack: that of an error holds the objects whose methods were running,
 * and a signal that was aborted may live for as long as its parent does.
 */
const ended = withoutStack(() => new DOMException('This operation was aborted', 'AbortError'));

function withoutStack<T>(make: () => T): T {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  try {
    return make();
  } finally {
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** A controller that is aborted with a signal, or on its own. */
export function childOf(parent: AbortSignal): AbortController {
  const controller = new AbortController();
  const { abort } = AbortController.prototype;
  controller.abort = (reason = ended) => abort.call(controller, reason);
  setMaxListeners(0, controller.signal); // every request under way listens to it
  if (parent.aborted) controller.abort();
  else parent.addEventListener('abort', () => controller.abort(), { signal: controller.signal });
  return controller;
}

/**
 * A signal that is aborted with its parent, or after a time with a TimeoutError.
 *
 * Node 20 collects a signal of `AbortSignal.timeout` that is only reached through
 * `AbortSignal.any`, and then it never fires; here the timer holds it.
 *
 * @param parent where there is one; its reason is passed on.
 */
export function within(timeout_ms: number, parent?: AbortSignal): AbortSignal {
  const controller = new AbortController();
  const end = (): void =>
    controller.abort(new DOMException(`it took longer than ${timeout_ms} ms`, 'TimeoutError'));
  setTimeout(end, timeout_ms).unref();
  return parent === undefined ? controller.signal : AbortSignal.any([parent, controller.signal]);
}
