import type { Database, StatementOptions } from './database.js';
import { createTurns } from './turns.js';

/**
 * A database whose statements take turns, a few at a time: clients by turns, and without those whose callers have left.
 *
 * @param atOnce how many statements it takes at the same time.
 */
export function queued(database: Database, atOnce: number): Database {
  const turns = createTurns(undefined, atOnce);
  const inTurn = <T>(
    options: StatementOptions,
    byDefault: 'read' | 'write',
    work: () => Promise<T>,
  ): Promise<T> =>
    turns.take({ ...options, priority: options.priority ?? byDefault }, () => {
      options.onTurn?.();
      return work();
    });
  return {
    isExclusive: database.isExclusive,
    command: (sql, params, options) => inTurn(options, 'read', () => database.command(sql, params, options)),
    rows: <T>(sql: string, params: Readonly<Record<string, unknown>>, options: StatementOptions) =>
      inTurn(options, 'read', () => database.rows<T>(sql, params, options)),
    bytes: (sql, format, params, options) =>
      inTurn(options, 'read', () => database.bytes(sql, format, params, options)),
    insert: (table, lines, options, format) =>
      inTurn(options, 'write', () => database.insert(table, lines, options, format)),
    close: () => database.close(),
  };
}
