/*
 * Pages of views (writer/views.ts): of each key the row with the highest version counts, and one that is deleted stands for
 * nothing. `docs/decisions/2026-11-23-facts-and-views.md` has what was found by trying.
 */

/**
 * The query for the rows of a view that count, in no order.
 *
 * @param columns to give; they may be expressions with a name.
 * @param where has to hold for all rows of a key or for none.
 * @param alias of the table, for the two.
 */
export const newestRowsSql = (
  table: string,
  columns: readonly string[],
  key: readonly string[],
  where: string,
  alias = 'v',
): string => `SELECT * EXCEPT is_deleted
  FROM (
    SELECT ${columns.join(', ')}, ${alias}.is_deleted AS is_deleted
    FROM ${table} AS ${alias}
    WHERE ${where}
    ORDER BY ${alias}.version DESC
    LIMIT 1 BY ${key.map((column) => `${alias}.${column}`).join(', ')}
  )
  WHERE is_deleted = 0`;

/** Which side of a position rows are on. */
export interface Side {
  readonly side: 'after' | 'before';
  /** Whether a row at the position itself is meant too. Default: it is not. */
  readonly isIncluded?: boolean;
}

/**
 * That rows come after a position, or before it, in the order of a table whose key begins with these columns. Not as a
 * comparison of tuples: of that the primary key uses the first part only.
 *
 * @param columns with the values of the position.
 */
export function beyondSql(
  columns: readonly (readonly [column: string, value: string])[],
  { side, isIncluded = false }: Side,
): string {
  const over = side === 'after' ? '>' : '<';
  const last = isIncluded ? `${over}=` : over;
  const steps = columns.map(([column, value], index) => {
    const same = columns.slice(0, index).map(([other, its]) => `${other} = ${its}`);
    return [...same, `${column} ${index === columns.length - 1 ? last : over} ${value}`].join(' AND ');
  });
  return `(${steps.map((step) => `(${step})`).join(' OR ')})`;
}

/** A part of a list that is a view. */
export interface ViewPage {
  /** The table, qualified. */
  readonly table: string;
  /** What is asked for: expressions by name, over columns with the alias `v`. */
  readonly columns: Readonly<Record<string, string>>;
  /** The columns that the table is ordered by. */
  readonly key: readonly string[];
  /** Condition on columns of the key, with the alias `v`. */
  readonly where: string;
  readonly descending: boolean;
  /** How many items are passed over. */
  readonly skip: number;
}

/** Rows that the engine reads at once: a page is small, and its default would read 65,536 rows of each part. */
const smallBlocks = 'read_in_order_use_buffering = 0, max_block_size = 512';

/** Items against the table's order that are passed over one by one; beyond, all of the list is read and sorted. */
const farOffset = 5_000;

/**
 * The query for a part of a list; `{limit:UInt64}` and `{skip:UInt64}` are its parameters. In the table's order, `FINAL` reads
 * no more than the page. Against it, `FINAL` would sort the whole list, so the newest row of each key is picked by hand.
 */
export function viewPageSql({ table, columns, key, where, descending, skip }: ViewPage): string {
  const direction = descending ? 'DESC' : 'ASC';
  const order = key.map((column) => `v.${column} ${direction}`).join(', ');
  const list = Object.entries(columns).map(([name, expression]) => `${expression} AS ${name}`);
  if (!descending || skip > farOffset)
    return `SELECT ${list.join(', ')}
      FROM ${table} AS v FINAL
      WHERE ${where}
      ORDER BY ${order}
      LIMIT {limit:UInt64} OFFSET {skip:UInt64}
      ${descending ? '' : `SETTINGS ${smallBlocks}`}`;
  return `SELECT ${Object.keys(columns).join(', ')}
    FROM (
      SELECT ${list.join(', ')}, v.is_deleted AS is_deleted
      FROM ${table} AS v
      WHERE ${where}
      ORDER BY ${order}, v.version DESC
      LIMIT 1 BY ${key.map((column) => `v.${column}`).join(', ')}
      SETTINGS ${smallBlocks}
    )
    WHERE is_deleted = 0
    LIMIT {limit:UInt64} OFFSET {skip:UInt64}`;
}
