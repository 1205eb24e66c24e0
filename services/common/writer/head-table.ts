import type { Call, Database, TableNames } from '../clickhouse/database.js';
import type { Cursor } from '../consumer/consume.js';
import type { FencedDatabase } from './fence.js';

/*
 * How far a service's tables are: one row, the newest version counts. It is written last of everything, and lowered
 * before anything is taken back. Facts above its height do not exist for readers.
 */

/**
 * What the views are, at the head:
 *
 * - `whole`: what their definitions give.
 * - `repairing`: keys that have facts above the head may be wrong.
 * - `rebuilding`: all of them may be, and much may be missing.
 */
export type ViewState = 'whole' | 'repairing' | 'rebuilding';

/** A row of `head`. */
export interface HeadRow<Position extends Cursor> {
  readonly position: Position;
  readonly views: ViewState;
  /** How often it was lowered, or views were repaired: what was read across one is void. */
  readonly rollbacks: number;
}

/** Where the head of tables is kept. */
export interface HeadTable<Position extends Cursor> {
  /** The table, qualified. */
  readonly table: string;
  /** Of the statements in metrics. */
  readonly name: string;
  /** The columns of a position, in no order. */
  readonly columns: readonly string[];
  /** A position as those columns. */
  readonly toColumns: (position: Position) => Columns;
  readonly fromColumns: (columns: Columns) => Position;
  /** The tables, qualified, of blocks, of the chain that they are of, and of rollbacks of earlier versions. */
  readonly blocks: string;
  readonly chain: string;
  readonly cuts: string;
  /**
   * The last position at or below a height, as the blocks say it.
   *
   * @param newest where the tables are, for what blocks do not say.
   */
  readonly positionAt: (
    database: Database,
    height: number,
    call?: HeadCall,
    newest?: Position,
  ) => Promise<Position>;
}

/** The tables of a service that a head is about, by the service's name. */
export const ofService = (
  name: string,
  { of }: TableNames<'head' | 'blocks' | 'chain' | 'cuts'>,
): Pick<HeadTable<Cursor>, 'name' | 'table' | 'blocks' | 'chain' | 'cuts'> => ({
  name,
  table: of('head'),
  blocks: of('blocks'),
  chain: of('chain'),
  cuts: of('cuts'),
});

/** What a statement about the head carries. */
export type HeadCall = Call & { readonly priority?: 'read' | 'write' };

/** Columns by name. */
export type Columns = Readonly<Record<string, string | number>>;

/** Of positions that are columns as they are. */
export const asColumns = <Position extends Cursor>(
  columns: readonly (keyof Position & string)[],
): Pick<HeadTable<Position>, 'columns' | 'toColumns' | 'fromColumns'> => ({
  columns,
  toColumns: (position) =>
    Object.fromEntries(columns.map((column) => [column, position[column] as string | number])),
  fromColumns: (row) => row as unknown as Position,
});

/** Reads the head; undefined before the first. */
export async function readHead<Position extends Cursor>(
  database: Database,
  { table, name, columns, fromColumns }: HeadTable<Position>,
  call: HeadCall = {},
): Promise<HeadRow<Position> | undefined> {
  const [row] = await database.rows<Columns & { views: ViewState; rollbacks: number }>(
    `SELECT ${columns.join(', ')}, views, rollbacks FROM ${table} ORDER BY version DESC LIMIT 1`,
    {},
    { name: `${name}.head`, ...call },
  );
  if (row === undefined) return undefined;
  const { views, rollbacks, ...position } = row;
  return { position: fromColumns(position), views, rollbacks };
}

/** Writes the head, and makes sure that it took effect. @throws Superseded */
export async function writeHead<Position extends Cursor>(
  database: FencedDatabase,
  { table, name, toColumns }: HeadTable<Position>,
  { position, views, rollbacks }: HeadRow<Position>,
): Promise<void> {
  const row = { ...toColumns(position), views, rollbacks, version: database.nextVersion() };
  await database.insert(table, JSON.stringify(row), { name: `${name}.write_head`, priority: 'write' });
  await database.confirm();
}

/** Whether a repair is under way, by how many have begun and ended. */
export const isRepairing = (repairs: number): boolean => repairs % 2 === 1;

/** How many repairs have begun and ended: odd while one is under way. One that begins counts as a rollback. */
export const countedRepairs = ({ views, rollbacks }: HeadRow<Cursor>): number =>
  2 * rollbacks - (views === 'whole' ? 0 : 1);

/** What a look at tables has read: how far they are, and how many repairs have begun and ended. */
export interface Seen<Position> {
  readonly position: Position;
  readonly repairs: number;
}

/**
 * What a process that only serves takes over of tables: how far they are, and how many repairs have begun and ended. Views of
 * tables of an earlier version, which have no head, are yet to be made.
 */
export async function readSeen<Position extends Cursor>(
  database: Database,
  head: HeadTable<Position>,
): Promise<Seen<Position>> {
  const row = await readHead(database, head);
  if (row !== undefined) return { position: row.position, repairs: countedRepairs(row) };
  const position = await head.positionAt(database, Number.MAX_SAFE_INTEGER);
  return { position, repairs: position.height === 0 ? 0 : 1 };
}

/**
 * Says whose facts the numbers of a service stand for, as a name for files: the same numbers stand for others in tables that
 * were made anew, and after a rollback. '' while that is not known yet, and during a repair.
 */
export function factsOf(
  database: Database,
  { name, table }: Pick<HeadTable<Cursor>, 'name' | 'table'>,
  head: { readonly position: Cursor; readonly repairs: number },
): () => string {
  let uuid: string | undefined;
  let isAsking = false;
  const ask = async (): Promise<void> => {
    isAsking = true;
    try {
      uuid = await readTableId(database, table, name);
    } catch {
      // asked again when it is needed
    } finally {
      isAsking = false;
    }
  };
  return () => {
    if (head.position.height === 0 || isRepairing(head.repairs)) return '';
    if (uuid === undefined && !isAsking) void ask();
    return uuid === undefined || uuid === '' ? '' : `${uuid}-${head.repairs}`;
  };
}

/** What tells a table from one that had its name before; '' where the engine gives tables no id. @param table qualified. */
export async function readTableId(database: Database, table: string, name: string): Promise<string> {
  const [row] = await database.rows<{ uuid: string }>(
    `SELECT toString(uuid) AS uuid FROM system.tables WHERE concat(database, '.', name) = {table:String} AND notEmpty(uuid)`,
    { table: table.replaceAll('`', '') },
    { name: `${name}.table_id` },
  );
  return row?.uuid ?? '';
}

/** The blocks between two heights, inclusive, ascending. */
export const readHashes = (
  database: Database,
  { blocks, name }: Pick<HeadTable<Cursor>, 'blocks' | 'name'>,
  from: number,
  to: number,
): Promise<Cursor[]> =>
  database.rows<Cursor>(
    `SELECT height, any(b.hash) AS hash
     FROM ${blocks} AS b
     WHERE height BETWEEN {from:UInt64} AND {to:UInt64}
     GROUP BY height
     ORDER BY height`,
    { from, to },
    { name: `${name}.hashes` },
  );
