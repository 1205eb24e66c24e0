import { UserError } from '../../services/common/runtime/errors.js';
import { runUntilSignal, sleep, stopAll } from '../../services/common/runtime/lifecycle.js';
import { createLog } from '../../services/common/runtime/log.js';

/*
 * A program that does what its argument says, run by runUntilSignal in a process of its own.
 * It prints what happens to it, one word a line.
 */

const say = (word: string): void => {
  process.stdout.write(`${word}\n`);
};

await runUntilSignal(createLog('info', 2), async (signal, onFatal) => {
  const behaviour = process.argv[2];
  say('starting');
  if (behaviour === 'mistake') throw new UserError('PORT is wrong');
  if (behaviour === 'failure') throw new Error('no luck');
  if (behaviour === 'slow start') await sleep(60_000, signal);
  if (behaviour === 'fatal at start') {
    onFatal(new Error('superseded'));
    await sleep(60_000, signal);
  }
  if (behaviour === 'start cut short') {
    await sleep(60_000, signal);
    throw new Error('aborted');
  }
  setInterval(() => {}, 60_000); // as a server does, it keeps the process alive
  say('up');
  if (behaviour === 'fatal' || behaviour === 'fatal, and it hangs')
    setTimeout(() => {
      onFatal(new Error('superseded'));
      onFatal(new Error('another one'));
    }, 100);
  const drains: Record<string, number> = {
    'short drain': 300,
    'long drain': 60_000,
    fatal: 60_000,
    'fatal while draining': 60_000,
  };
  return {
    stopWriting: () => {
      if (behaviour === 'short drain') say('stops writing');
    },
    drain: () => {
      if (behaviour !== undefined && behaviour in drains) say('draining');
      // Timers of one process run in the order of their times, however late: this one before the end of the drain.
      if (behaviour === 'short drain') setTimeout(() => say('still draining'), 200);
      if (behaviour === 'fatal while draining') onFatal(new Error('superseded'));
    },
    drain_ms: drains[behaviour ?? ''] ?? 0,
    stop: stopAll([
      async () => say('first stopped'),
      async () => {
        if (behaviour === 'fatal, and it hangs') await sleep(60_000);
        if (behaviour === 'failing stop') throw new Error('does not stop');
        say('second stopped');
      },
    ]),
  };
});
