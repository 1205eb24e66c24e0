import { inParts } from '../../common/clickhouse/keys.js';
import { atEnd } from './present.js';
import type { Reading } from './reader.js';

/** How many tokens somebody has in a collection. */
export interface Holding {
  readonly collection: string;
  readonly n: number;
}

/** The count at the end of the chain that is read. */
const countAtEnd = atEnd('c', 'argMaxIf(c.n, c.at, c.at <= {end:UInt64})', 'argMin(c.before, c.at)');

/**
 * What an account holds, by collection; only what it holds now.
 *
 * @param owner the name that the account has in its edition, as `ownerIn` gives it.
 */
export function readHoldings({ database, tables, end, call }: Reading, owner: string): Promise<Holding[]> {
  return database.rows<Holding>(
    `SELECT collection, ${countAtEnd} AS n FROM ${tables.of('counts')} AS c WHERE owner = {owner:String} GROUP BY collection HAVING n > 0`,
    { owner, end },
    { name: 'nft.holdings', ...call },
  );
}

/**
 * How many tokens an account has in collections; with the owner '' their lengths.
 *
 * @param owner the name that the account has in its edition, as `ownerIn` gives it.
 */
export async function readCounts(
  { database, tables, end, call }: Reading,
  owner: string,
  collections: readonly string[],
): Promise<Map<string, number>> {
  const rows = await inParts(
    collections,
    (collection) => [collection],
    (some) =>
      database.rows<Holding>(
        `SELECT collection, ${countAtEnd} AS n FROM ${tables.of('counts')} AS c WHERE owner = {owner:String} AND collection IN {collections:Array(String)} GROUP BY collection`,
        { owner, collections: some, end },
        { name: 'nft.counts', ...call },
      ),
  );
  return new Map(rows.map(({ collection, n }) => [collection, n]));
}
