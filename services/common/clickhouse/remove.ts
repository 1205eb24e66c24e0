import type { FaultPoint } from '../runtime/lifecycle.js';
import type { FencedDatabase } from '../writer/fence.js';
import type { TableNames } from './database.js';

/** Where rows are removed, and what the statements are called. */
export interface RemoveOptions<Name extends string> {
  readonly database: FencedDatabase;
  readonly tables: TableNames<Name>;
  /** The name of the statements. */
  readonly name: string;
  readonly fault: FaultPoint;
}

/** Tables with the condition for their rows that are removed. */
export type Conditions<Name extends string> = readonly (readonly [table: Name, condition: string])[];

/** Counts the rows of several tables that fulfil conditions: one look, since nearly always there is nothing. */
export async function countRows<Name extends string>(
  { database, tables, name }: Pick<RemoveOptions<Name>, 'database' | 'tables' | 'name'>,
  conditions: Conditions<Name>,
  params: Readonly<Record<string, unknown>>,
): Promise<ReadonlyMap<Name, number>> {
  const found = await database.rows<{ name: Name; n: number }>(
    conditions
      .map(
        ([table, where]) => `SELECT '${table}' AS name, count() AS n FROM ${tables.of(table)} WHERE ${where}`,
      )
      .join(' UNION ALL '),
    params,
    { name, priority: 'write' as const },
  );
  return new Map(found.map((row) => [row.name, row.n]));
}

/**
 * Removes the rows of several tables that fulfil conditions, in the order of the tables. Looks first, because a DELETE that
 * finds nothing is still slow.
 *
 * @param counts how many there are, where that is known already.
 * @returns how many rows were removed.
 */
export async function removeFromAll<Name extends string>(
  options: RemoveOptions<Name>,
  conditions: Conditions<Name>,
  params: Readonly<Record<string, unknown>>,
  counts?: ReadonlyMap<Name, number>,
): Promise<number> {
  const { database, tables, name, fault } = options;
  const found = counts ?? (await countRows(options, conditions, params));
  let removed = 0;
  for (const [table, where] of conditions) {
    const n = found.get(table) ?? 0;
    if (n === 0) continue;
    await fault(`remove ${table}`);
    // Lightweight: it marks rows, where ALTER TABLE DELETE would write whole parts anew.
    await database.remove(tables.removable(table), where, params, { name, priority: 'write' });
    removed += n;
  }
  return removed;
}
