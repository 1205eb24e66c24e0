/*
 * Loaded into a program with `node --import`, it does harm from inside: SIGUSR2 causes the fatal error that
 * the variable FATAL names.
 */
const harms: Record<string, () => void> = {
  exception: () => {
    throw new Error('an exception that nobody catches');
  },
  rejection: () => {
    void Promise.reject(new Error('a rejection that nobody handles'));
  },
  heap: () => {
    const kept: unknown[] = [];
    for (;;) kept.push(new Array(100_000).fill({}));
  },
  'native code': () => process.abort(),
};

process.on('SIGUSR2', () => setImmediate(harms[process.env['FATAL'] ?? ''] ?? (() => {})));
