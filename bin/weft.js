#!/usr/bin/env node
// A signal that comes before the program can stop in order has nothing to stop.
const leave = () => process.exit(0);
const signals = ['SIGINT', 'SIGTERM'];
for (const signal of signals) process.on(signal, leave);

const { main } = await import('../dist/tools/main.js');
await main(process.argv.slice(2), () => {
  for (const signal of signals) process.off(signal, leave);
});
