import type { Guard, InsertRows, Params } from './database.js';
import { quoted } from './literals.js';

/** A column of a table, as DESCRIBE TABLE says it. */
export interface Column {
  readonly name: string;
  readonly type: string;
  /** '', DEFAULT, MATERIALIZED, ALIAS or EPHEMERAL. */
  readonly default_type: string;
}

/** Reads the columns of a qualified table. */
export type Describe = (table: string) => Promise<readonly Column[]>;

/** A statement that inserts rows that lie elsewhere: in a file, or in the body of a request. */
export interface InsertStatement {
  readonly sql: string;
  readonly params: Params;
}

/** The column that says which writer a row is of; see writer/fence.ts. */
const epochColumn = 'epoch';

/** Makes `Describe` remember what it has read. A table keeps its columns; a migration only adds some. */
export function rememberColumns(describe: Describe): Describe {
  const known = new Map<string, Promise<readonly Column[]>>();
  return (table) => {
    const before = known.get(table);
    if (before !== undefined) return before;
    const columns = describe(table);
    known.set(table, columns);
    columns.catch(() => known.delete(table));
    return columns;
  };
}

/**
 * The statement that inserts rows, with the types of their fields spelled out.
 *
 * @param table the qualified table, with its column list where the rows do not hold all columns.
 * @param rows their first one tells which columns that have a default are given, where there is no column list.
 * @param source a table function that gives the rows, for a structure as a string literal.
 */
export async function insertStatement(
  describe: Describe,
  table: string,
  rows: InsertRows,
  source: (structure: string) => string,
  guard: Guard | undefined,
): Promise<InsertStatement> {
  const [, name = table, list] = /^(\S+)(?:\s+\((.+)\))?$/.exec(table) ?? [];
  const columns = await describe(name);
  const given = list?.split(',').map((column) => column.trim()) ?? columnsOf(columns, rows);
  const types = given.map((column) => {
    const type = columns.find((one) => one.name === column)?.type;
    if (type === undefined) throw new Error(`the table ${name} has no column ${column}`);
    return `${column} ${type}`;
  });
  const names = given.join(', ');
  const from = source(quoted(types.join(', ')));
  if (guard === undefined)
    return { sql: `INSERT INTO ${name} (${names}) SELECT ${names} FROM ${from}`, params: {} };
  const { epoch, condition } = guard;
  return {
    sql: `INSERT INTO ${name} (${names}, ${epochColumn}) SELECT ${names}, {guard_epoch:UInt64} FROM ${from}${condition === undefined ? '' : ` WHERE ${condition.sql}`}`,
    params: { guard_epoch: epoch, ...condition?.params },
  };
}

/** The columns that rows without a column list give: all without a default, and those that the first line names. */
function columnsOf(columns: readonly Column[], rows: InsertRows): string[] {
  const plain = columns.filter(({ default_type, name }) => default_type === '' && name !== epochColumn);
  if (typeof rows !== 'string') return plain.map(({ name }) => name);
  const [firstLine = ''] = rows.split('\n', 1);
  const keys = new Set(Object.keys(JSON.parse(firstLine) as object));
  return columns.filter((column) => plain.includes(column) || keys.has(column.name)).map(({ name }) => name);
}
