import { inParts } from '../../common/clickhouse/keys.js';
import { newestRowsSql } from '../../common/page/view.js';
import type { Reading } from './reader.js';

/** How many tokens somebody has in a collection. */
export interface Holding {
  readonly collection: string;
  readonly token_count: number;
}

const counts = ({ tables }: Reading, where: string): string =>
  newestRowsSql(tables.of('token_counts'), ['collection', 'token_count'], ['collection'], where);

/** What an account holds, by collection; only what it holds now. */
export const readHoldings = (reading: Reading, account: string): Promise<Holding[]> =>
  reading.database.rows<Holding>(
    counts(reading, 'account = {account:String}'),
    { account },
    { name: 'nft.holdings', ...reading.call },
  );

/** How many tokens an account has in collections, of those where it has any; with the account '' their lengths. */
export async function readCounts(
  reading: Reading,
  account: string,
  collections: readonly string[],
): Promise<Map<string, number>> {
  const rows = await inParts(
    collections,
    (collection) => [collection],
    (some) =>
      reading.database.rows<Holding>(
        counts(reading, 'account = {account:String} AND collection IN {collections:Array(String)}'),
        { account, collections: some },
        { name: 'nft.counts', ...reading.call },
      ),
  );
  return new Map(rows.map(({ collection, token_count }) => [collection, token_count]));
}
