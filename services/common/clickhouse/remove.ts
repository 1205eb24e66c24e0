import type { FaultPoint } from '../fault.js';
import type { FencedDatabase } from '../writer/fence.js';
import type { TableNames } from './tables.js';

/** Where rows are removed, and what the statements are called. */
export interface RemoveOptions<Name extends string> {
  readonly database: FencedDatabase;
  readonly tables: TableNames<Name>;
  /** The name of the statements. */
  readonly name: string;
  readonly fault: FaultPoint;
  /** Told before rows of a table are removed, unless there are none. */
  readonly onRemove?: ((table: Name) => Promise<void>) | undefined;
}

/**
 * Removes the rows of a table that fulfil a condition. Looks first, because a DELETE that finds
 * nothing is still slow.
 *
 * @param params of the condition's placeholders.
 * @returns how many rows were removed.
 */
export function removeRows<Name extends string>(
  options: RemoveOptions<Name>,
  table: Name,
  condition: string,
  params: Readonly<Record<string, unknown>>,
): Promise<number> {
  return removeFromAll(options, [[table, condition]], params);
}

/**
 * The same for several tables in their order. One look at all of them: nearly always there is
 * nothing, and a look at each would cost as many statements.
 *
 * @param conditions each table with its condition.
 * @returns how many rows were removed.
 */
export async function removeFromAll<Name extends string>(
  { database, tables, name, fault, onRemove }: RemoveOptions<Name>,
  conditions: readonly (readonly [Name, string])[],
  params: Readonly<Record<string, unknown>>,
): Promise<number> {
  const options = { name, priority: 'write' as const };
  const found = await database.rows<{ name: Name; n: number }>(
    conditions
      .map(
        ([table, where]) => `SELECT '${table}' AS name, count() AS n FROM ${tables.of(table)} WHERE ${where}`,
      )
      .join(' UNION ALL '),
    params,
    options,
  );
  const counts = new Map(found.map((row) => [row.name, row.n]));
  let removed = 0;
  for (const [table, where] of conditions) {
    const n = counts.get(table) ?? 0;
    if (n === 0) continue;
    await onRemove?.(table);
    await fault(`remove ${table}`);
    // Lightweight: it marks rows, where ALTER TABLE DELETE would write whole parts anew.
    await database.remove(tables.removable(table), where, params, options);
    removed += n;
  }
  return removed;
}
