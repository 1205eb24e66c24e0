import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import type { Position } from '../../services/nft/store/cursor.js';
import { nftViews } from '../../services/nft/store/views.js';
import type { NftTables } from './nft-tables.js';
import type { Random } from './random.js';
import { viewDifferences } from './views.js';

/** The rows of views of NFTs that are not what the facts say. @param atOnce facts that a statement reads. */
export async function nftViewDifferences(
  database: Database,
  { tables }: NftTables['index'],
  position: Position,
  atOnce?: number,
): ReturnType<typeof viewDifferences> {
  const environment = {
    of: tables.of,
    position: { ...position },
    name: 'test',
    ...(atOnce === undefined ? {} : { atOnce }),
  };
  return viewDifferences(database, environment, nftViews);
}

/** Views are what their definitions give, whatever has been merged. */
export async function checkNftViews(
  database: Database,
  { index, store }: NftTables,
  random: Random,
): Promise<void> {
  if (random.oneIn(3)) {
    const { table } = random.pick(random.pick(nftViews).views);
    const how = random.pick(['', 'CLEANUP']);
    await database.command(
      `OPTIMIZE TABLE ${index.tables.of(table)} FINAL ${how}`,
      {},
      { name: 'test.merge' },
    );
  }
  const differences = await nftViewDifferences(database, index, store.position, 1 + random.integer(60));
  assert.deepEqual(differences, []);
}
