#!/usr/bin/env node
// Statements of the embedded engine run on threads of Node's pool, beside those that read files. Its size counts only when
// it is set before the first of them starts: so this file is no ES module, whose loader would be the first.
process.env.UV_THREADPOOL_SIZE ??= '24';

// A signal that comes before the program can stop in order has nothing to stop.
const leave = () => process.exit(0);
const signals = ['SIGINT', 'SIGTERM'];
for (const signal of signals) process.on(signal, leave);

void import('../dist/tools/main.js').then(({ main }) =>
  main(process.argv.slice(2), () => {
    for (const signal of signals) process.off(signal, leave);
  }),
);
