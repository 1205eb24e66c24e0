/**
 * An expression of rows that are grouped by their key: what it says of the end of the chain that is read. The newest
 * row up to there says it. Where merges have dropped that one for rows above the end, the first of these says how it
 * was before its batch; if the end lies before that too, nothing does, and the statement ends as overtaken.
 */
export const atEnd = (rows: string, upTo: string, above: string): string =>
  `if(throwIf(countIf(${rows}.at <= {end:UInt64}) = 0 AND argMin(${rows}.base, ${rows}.at) > {end:UInt64}) = 0 AND countIf(${rows}.at <= {end:UInt64}) > 0, ${upTo}, ${above})`;

/** Whether an item (rows `i` of `items`) is there at the end. */
export const present = atEnd('i', 'NOT argMaxIf(i.gone, i.at, i.at <= {end:UInt64})', 'argMin(i.was, i.at)');
