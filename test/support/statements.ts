import type { Database } from '../../services/common/clickhouse/database.js';

/** What an account of ClickHouse has to be granted for a statement. */
export type Privilege =
  | 'SELECT'
  | 'INSERT'
  | 'ALTER DELETE'
  | 'ALTER TABLE'
  | 'CREATE DATABASE'
  | 'CREATE TABLE'
  | 'DROP DATABASE'
  | 'DROP TABLE'
  | 'other';

/** A database that notes which privileges its statements take, and refuses all but those that are given. */
export function withPrivileges(
  database: Database,
  granted: readonly Privilege[],
): { readonly database: Database; readonly used: Set<Privilege>; readonly refused: string[] } {
  const used = new Set<Privilege>();
  const refused: string[] = [];
  const take = (statement: string, privilege: Privilege): void => {
    used.add(privilege);
    if (granted.includes(privilege)) return;
    refused.push(statement);
    throw new Error(`not enough privileges for ${statement}`);
  };
  const privilegeOf = (statement: string): Privilege => {
    if (/^\s*(SELECT|WITH)\b/.test(statement)) return 'SELECT';
    if (/^\s*(DELETE FROM \S|ALTER TABLE \S+ DELETE WHERE\b)/.test(statement)) return 'ALTER DELETE';
    if (/^\s*INSERT INTO \S+ \([^)]*\) SELECT\b/.test(statement)) return 'INSERT';
    const words = /^\s*(ALTER TABLE|(?:CREATE|DROP) (?:DATABASE|TABLE))\b/.exec(statement)?.[1];
    return (words as Privilege | undefined) ?? 'other';
  };
  return {
    used,
    refused,
    database: {
      isExclusive: database.isExclusive,
      command: async (sql, params, options) => {
        take(sql, privilegeOf(sql));
        await database.command(sql, params, options);
      },
      rows: async (sql, params, options) => {
        take(sql, privilegeOf(sql));
        return database.rows(sql, params, options);
      },
      bytes: async (sql, format, params, options) => {
        take(sql, privilegeOf(sql));
        return database.bytes(sql, format, params, options);
      },
      insert: async (table, rows, options) => {
        take(`INSERT INTO ${table}`, 'INSERT');
        await database.insert(table, rows, options);
      },
      close: () => database.close(),
    },
  };
}

/** A database that tells the names of its statements, and how many rows the longest answer to one had. */
export function counting(database: Database) {
  const seen = { most: 0, names: [] as string[] };
  const counted: Database = {
    ...database,
    async rows<T>(...statement: Parameters<Database['rows']>): Promise<T[]> {
      seen.names.push(statement[2].name);
      const rows = await database.rows<T>(...statement);
      seen.most = Math.max(seen.most, rows.length);
      return rows;
    },
    bytes(...statement) {
      seen.names.push(statement[3].name);
      return database.bytes(...statement);
    },
  };
  return { counted, seen };
}
