/** Stages over the EVM recording: the first two lie in it, the third goes on after its end. Unix seconds. */
export const [start, interval] = [Date.UTC(2026, 10, 21, 9, 18) / 1000, 130];

/** Lines `address,score`: enough for a dozen txs beside what was done on the rollup. */
export const quest = Array.from(
  { length: 60 },
  (_, index) => `0x${(index + 1).toString(16).padStart(40, 'c')},${index + 7}`,
);

/** They as a source that a policy names. */
export const questFile = `address,score\n${quest.join('\n')}\n`;
