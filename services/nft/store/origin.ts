import type { Birth, Origin } from './types.js';

/** What the rows of one collection say together; undefined without a birth. Rows in any order. */
export function originOf(rows: Iterable<Birth>): Origin | undefined {
  let origin: Origin | undefined;
  for (const row of [...rows].sort((a, b) => a.at - b.at)) origin = withBirth(origin, row);
  return origin;
}

/** What is known with one row more, which must be the newest. */
export function withBirth(origin: Origin | undefined, row: Birth): Origin | undefined {
  if (row.kind === 'renamed')
    return origin === undefined ? undefined : { ...origin, name: row.name, at: row.at };
  if (origin?.certain || (origin !== undefined && row.kind === 'seen')) return origin;
  const { born_at, creator, name, timestamp, at } = row;
  return {
    certain: row.kind === 'certain',
    born_at,
    creator,
    name,
    timestamp,
    at,
    told_at: origin?.told_at ?? at,
  };
}
