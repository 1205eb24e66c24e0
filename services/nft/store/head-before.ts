import type { FencedDatabase } from '../../common/writer/fence.js';
import type { HeadRow } from '../../common/writer/head-table.js';
import { nothing, type Position, readCursor } from './cursor.js';
import type { Tables } from './tables.js';

/** How many rollbacks had begun and ended, and down to which height the last one goes: as earlier versions kept it. */
interface EarlierRollback {
  readonly number: number;
  readonly height: number;
  readonly top: number;
}

/**
 * Where tables are that have no head: new ones, or those of an earlier version, whose facts stay and whose views are yet
 * to be made.
 */
export async function headBefore(database: FencedDatabase, tables: Tables): Promise<HeadRow<Position>> {
  const newest = await readCursor(database, tables, undefined, { priority: 'write' });
  if (newest.height === 0) return { position: nothing, views: 'whole', rollbacks: 0 };
  const options = { name: 'nft.earlier_rollback', priority: 'write' as const };
  const [last = { number: 0, height: 0, top: 0 }] = await database.rows<EarlierRollback>(
    `SELECT c.number AS number, c.height AS height, c.top AS top
     FROM ${tables.of('cuts')} AS c
     ORDER BY c.number DESC
     LIMIT 1`,
    {},
    options,
  );
  const isUnderWay = last.number % 2 === 1;
  const isCutOff = isUnderWay && last.top > 0 && newest.height <= last.top;
  const position = isCutOff ? await readCursor(database, tables, last.height, { priority: 'write' }) : newest;
  // Processes of the earlier version that still serve say so, and answer nothing from tables that stand still.
  if (!isUnderWay)
    await database.insert(
      tables.of('cuts'),
      JSON.stringify({ number: last.number + 1, height: position.height, top: newest.height }),
      options,
    );
  const details = await earlierDetails(database, tables);
  return { position: { ...position, details }, views: 'rebuilding', rollbacks: 0 };
}

/** The highest version of the names and uris that an earlier version has learnt. */
async function earlierDetails(database: FencedDatabase, tables: Tables): Promise<number> {
  const [row] = await database.rows<{ version: number }>(
    `SELECT max(version) AS version
     FROM (
       SELECT max(c.version) AS version FROM ${tables.of('collections')} AS c
       UNION ALL
       SELECT max(u.version) AS version FROM ${tables.of('uris')} AS u
     )`,
    {},
    { name: 'nft.earlier_details', priority: 'write' },
  );
  return row?.version ?? 0;
}
