import type { Cursor } from '../consume.js';
import type { FencedDatabase } from './fence.js';
import type { HeadRow, HeadTable } from './head-table.js';
import { isUnderWay, readRollback, rollbackTarget, writeRollback } from './rollback-record.js';

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
  const last = await readRollback(database, cuts, `${name}.earlier_rollback`);
  const height = rollbackTarget(last, newest.height) ?? newest.height;
  const position = height < newest.height ? await positionAt(height) : newest;
  if (!isUnderWay(last))
    await writeRollback(database, cuts, `${name}.earlier_rollback`, {
      number: last.number + 1,
      height: position.height,
      top: newest.height,
    });
  return { position, views: 'rebuilding', rollbacks: 0 };
}
