/**
 * Whether an item (rows `i` of `items`, grouped by their key) is there at the end of the chain
 * that is read: as its newest row up to there says. Where merges have dropped that one for a
 * row that is being written above the end, the row says how it was before.
 */
export const present =
  'if(countIf(i.at <= {end:UInt64}) > 0, NOT argMaxIf(i.gone, i.at, i.at <= {end:UInt64}), argMin(i.was, i.at))';
