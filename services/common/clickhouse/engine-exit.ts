import { constants } from 'node:os';

/*
 * How a process with the embedded engine ends at once when it has to.
 *
 * The engine puts its own handlers on the signals of fatal errors. They wait up to five minutes for a
 * log thread that an embedded engine does not have. Until then a process that aborted, in native code
 * or because V8 ran out of heap, keeps its ports. No JavaScript runs after an abort, so the kernel has
 * to end it: the signals get their default disposition back. A second process or a native addon that
 * watches over this one could do no more.
 */

/** The signals of fatal errors that the engine takes; its other ones (for debugging and profiling) do no harm. */
const fatalSignals = ['SIGABRT', 'SIGSEGV', 'SIGBUS', 'SIGILL', 'SIGFPE', 'SIGTRAP'] as const;

/** Gives the signals of fatal errors back to the kernel, which ends the process. Call it after the engine is loaded. */
export function restoreFatalSignals(): void {
  for (const signal of fatalSignals) {
    const nothing = (): void => {};
    process.on(signal, nothing);
    // Without its last listener, Node (libuv) puts SIG_DFL in the place of whatever handler there was.
    process.off(signal, nothing);
  }
  // The kernel keeps signals without a handler from the first process of a container. An abort ends that
  // one all the same: it goes on to a forbidden instruction. A signal that somebody sends needs a handler.
  if (process.pid === 1 && process.listenerCount('SIGABRT') === 0)
    process.on('SIGABRT', () => process.exit(128 + constants.signals.SIGABRT));
}

/**
 * Keeps an exit after a failure from waiting for a statement that runs. Node ends its threads first, and the
 * thread of a statement ends with the statement. Tables survive that, as they survive any kill.
 *
 * @param isBusy whether a statement runs.
 * @returns what ends this.
 */
export function endDespiteStatements(isBusy: () => boolean): () => void {
  const end = (code: number): void => {
    if (code === 0 || !isBusy()) return;
    process.kill(process.pid, 'SIGKILL');
    process.abort(); // where that does nothing: in the first process of a container
  };
  process.on('exit', end);
  return () => process.off('exit', end);
}
