import type { Cursor } from '../consume.js';
import type { FencedDatabase } from './fence.js';
import type { HeadRow, HeadTable } from './head-table.js';

/** How earlier versions kept that rows above a height are being removed; see `headBefore`. */
interface EarlierRollback {
  /** Odd while it is under way. */
  readonly number: number;
  /** Height that it ends at. */
  readonly height: number;
  /** Height of the last block when it began; 0 where the version did not say heights. */
  readonly top: number;
}

/**
 * Where tables are that have no head: new ones, or those of an earlier version, whose facts stay and whose views are yet
 * to be made. Processes of the earlier version that still serve are made to say that they cannot answer, since nothing of
 * what they read moves any more.
 *
 * @param known what blocks do not say of the position.
 */
export async function headBefore<Position extends Cursor>(
  database: FencedDatabase,
  head: HeadTable<Position>,
  known?: Position,
): Promise<HeadRow<Position>> {
  const { name, cuts } = head;
  const positionAt = (height: number) => head.positionAt(database, height, { priority: 'write' }, known);
  const newest = await positionAt(Number.MAX_SAFE_INTEGER);
  if (newest.height === 0) return { position: newest, views: 'whole', rollbacks: 0 };
  const options = { name: `${name}.earlier_rollback`, priority: 'write' as const };
  const [last = { number: 0, height: 0, top: 0 }] = await database.rows<EarlierRollback>(
    `SELECT c.number AS number, c.height AS height, c.top AS top FROM ${cuts} AS c ORDER BY c.number DESC LIMIT 1`,
    {},
    options,
  );
  const isUnderWay = last.number % 2 === 1;
  const isCutOff = isUnderWay && last.top > 0 && newest.height <= last.top;
  const position = isCutOff ? await positionAt(last.height) : newest;
  if (!isUnderWay)
    await database.insert(
      cuts,
      JSON.stringify({ number: last.number + 1, height: position.height, top: newest.height }),
      options,
    );
  return { position, views: 'rebuilding', rollbacks: 0 };
}
