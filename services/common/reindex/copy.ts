import type { Database, Params } from '../clickhouse/database.js';
import type { Target } from '../clickhouse/migrate.js';

/** Which rows of a table are copied. */
export interface TableCopy {
  /** The table's name in both databases. */
  readonly table: string;
  /** A condition with typed placeholders. */
  readonly condition: string;
  readonly params: Params;
}

/** What is known of a table before it is copied. */
interface Shape {
  readonly columns: readonly string[];
  /** The columns that it is sorted by, with their types, in order. */
  readonly key: readonly { readonly name: string; readonly type: string }[];
  /** Rows that one statement copies. */
  readonly rowsAtOnce: number;
}

/** One statement copies about so much, so that others' statements need not wait long behind it. */
const bytesAtOnce = 4 * 1024 * 1024;
const [fewestRows, mostRows] = [200, 50_000];

/** How many rows a copy will have. */
export async function countRows(database: Database, from: Target, copy: TableCopy): Promise<number> {
  const [row] = await database.rows<{ n: number }>(
    `SELECT count() AS n FROM ${from.database}.${copy.table} WHERE ${copy.condition}`,
    copy.params,
    { name: 'reindex.count', priority: 'write' },
  );
  return row?.n ?? 0;
}

/**
 * Copies rows of a table into the table of the same name in another database, in steps along
 * the table's own order. The rows must not change meanwhile, and the other table must be empty.
 *
 * @param onStep called after each step with the rows copied so far.
 */
export async function copyTable(
  database: Database,
  from: Target,
  to: Target,
  copy: TableCopy,
  onStep: (rows: number) => void | Promise<void>,
): Promise<void> {
  const shape = await shapeOf(database, from, copy.table);
  const [source, target] = [`${from.database}.${copy.table}`, `${to.database}.${copy.table}`];
  const columns = shape.columns.join(', ');
  const options = { name: 'reindex.copy', priority: 'write' as const };
  let [last, copied]: [string[] | undefined, number] = [undefined, 0];
  for (;;) {
    const end = await keyAt(database, source, copy, shape, last);
    const bounds = [
      ...(last === undefined ? [] : [beyond(shape.key, 'last')]),
      ...(end === undefined ? [] : [`NOT (${beyond(shape.key, 'end')})`]),
    ];
    const condition = [`(${copy.condition})`, ...bounds].join(' AND ');
    const params = { ...copy.params, ...named('last', last), ...named('end', end) };
    await database.command(
      `INSERT INTO ${target} (${columns}) SELECT ${columns} FROM ${source} WHERE ${condition}`,
      params,
      options,
    );
    copied += shape.rowsAtOnce;
    await onStep(copied);
    if (end === undefined) return;
    last = end;
  }
}

/** The key of the last row of the next step, each part as hex of its text; undefined when fewer rows are left. */
async function keyAt(
  database: Database,
  source: string,
  copy: TableCopy,
  { key, rowsAtOnce }: Shape,
  last: readonly string[] | undefined,
): Promise<string[] | undefined> {
  if (key.length === 0) return undefined;
  // Aliases of their own: one that hides a column would be taken for it in the condition.
  const parts = key.map(({ name }, index) => `hex(toString(${name})) AS key_part_${index}`);
  const after = last === undefined ? '' : ` AND (${beyond(key, 'last')})`;
  const [row] = await database.rows<Record<string, string>>(
    `SELECT ${parts.join(', ')} FROM ${source} WHERE (${copy.condition})${after} ORDER BY ${key.map(({ name }) => name).join(', ')} LIMIT 1 OFFSET {offset:UInt64}`,
    { ...copy.params, ...named('last', last), offset: rowsAtOnce - 1 },
    { name: 'reindex.copy_step', priority: 'write' },
  );
  return row === undefined ? undefined : key.map((_, index) => row[`key_part_${index}`] as string);
}

/**
 * The condition of coming after a key in the table's order. Written out rather than as a
 * comparison of tuples, so that the primary index is used.
 */
function beyond(key: Shape['key'], which: 'last' | 'end'): string {
  const value = (index: number): string => `CAST(unhex({${which}_${index}:String}) AS ${key[index]?.type})`;
  let condition = '';
  for (let index = key.length - 1; index >= 0; index--) {
    const [name, bound] = [key[index]?.name, value(index)];
    condition =
      condition === ''
        ? `${name} > ${bound}`
        : `(${name} > ${bound} OR (${name} = ${bound} AND ${condition}))`;
  }
  return condition;
}

const named = (which: 'last' | 'end', key: readonly string[] | undefined): Params =>
  Object.fromEntries((key ?? []).map((part, index) => [`${which}_${index}`, part]));

/** Reads the columns, the order and the size of rows from the engine's own tables. */
async function shapeOf(database: Database, from: Target, table: string): Promise<Shape> {
  // A Distributed table has no order of its own; what it reads from has.
  const params = { database: from.database, table: from.cluster === '' ? table : `${table}_local` };
  const options = { name: 'reindex.shape' };
  const columns = await database.rows<{ name: string; type: string; default_kind: string; bytes: number }>(
    `SELECT name, type, default_kind, data_uncompressed_bytes AS bytes FROM system.columns WHERE database = {database:String} AND table = {table:String} ORDER BY position`,
    params,
    options,
  );
  const [known] = await database.rows<{ sorting_key: string; total: number }>(
    `SELECT sorting_key, ifNull(total_rows, 0) AS total FROM system.tables WHERE database = {database:String} AND name = {table:String}`,
    params,
    options,
  );
  if (known === undefined) throw new Error(`there is no table ${params.database}.${params.table}`);
  const key = known.sorting_key === '' ? [] : known.sorting_key.split(', ');
  const rowBytes = columns.reduce((sum, column) => sum + column.bytes, 0) / Math.max(1, known.total);
  return {
    columns: columns
      .filter(({ default_kind }) => !['EPHEMERAL', 'ALIAS', 'MATERIALIZED'].includes(default_kind))
      .map(({ name }) => name),
    key: key.map((name) => {
      const column = columns.find((each) => each.name === name);
      if (column === undefined)
        throw new Error(`${params.database}.${table} is sorted by ${name}, which is not one of its columns`);
      return { name, type: column.type };
    }),
    rowsAtOnce: Math.min(mostRows, Math.max(fewestRows, Math.ceil(bytesAtOnce / Math.max(1, rowBytes)))),
  };
}
