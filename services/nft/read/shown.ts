import type { ShownCollection } from '../store/types.js';
import type { Reading } from './reader.js';

/**
 * The collections among these that are shown, by address. Details are learnt late, so that
 * they are read as they are now; only births above the end are not there yet.
 */
export async function readShown(
  { database, tables, end, call }: Reading,
  collections: readonly string[],
): Promise<Map<string, ShownCollection>> {
  if (collections.length === 0) return new Map();
  const rows = await database.rows<ShownCollection & { version: number; gone: boolean }>(
    `SELECT collection, born_at, creator, name, origin_name, timestamp, at, version, gone FROM ${tables.of('collections')} WHERE collection IN {collections:Array(String)} AND born_at <= {end:UInt64} ORDER BY version`,
    { collections, end },
    { name: 'nft.shown', ...call },
  );
  const shown = new Map<string, ShownCollection>();
  for (const { version: _, gone, ...row } of rows) {
    if (gone) shown.delete(row.collection);
    else shown.set(row.collection, row);
  }
  return shown;
}
