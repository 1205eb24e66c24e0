import type { Database } from '../../common/clickhouse/database.js';
import { splitLines } from '../../common/clickhouse/parts.js';
import type { FaultPoint } from '../../common/fault.js';
import type { TableRows } from './rows.js';
import type { TableName, Tables } from './tables.js';

/** One insert's text and lines: large ones are cheaper by the row, but hold up those who read. */
const [charactersAtOnce, linesAtOnce] = [3 * 1024 * 1024, 50_000];

/** Inserts the rows of tables one after the other, each with a chance to stop before it. */
export async function insertAll(
  database: Database,
  tables: Tables,
  rows: readonly TableRows[],
  fault: FaultPoint,
): Promise<void> {
  for (const [name, lines] of rows) await insertInto(database, tables, name, lines, fault);
}

/** Inserts lines of JSONEachRow, as many statements as they need. */
export async function insertInto(
  database: Database,
  tables: Tables,
  name: TableName,
  lines: readonly string[],
  fault: FaultPoint,
): Promise<void> {
  for (const part of splitLines(lines, charactersAtOnce, linesAtOnce)) {
    await fault(`write ${name}`);
    await database.insert(tables.of(name), part.join('\n'), { name: `nft.write_${name}` });
  }
}
