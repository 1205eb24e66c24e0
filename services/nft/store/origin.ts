import type { Birth, Origin } from './types.js';

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
