import { LRUCache } from 'lru-cache';
import type { Database } from '../../common/clickhouse/database.js';
import type { Tables } from './tables.js';

/** What the writer knows of tokens. */
export interface TokenList {
  /** By token whether every balance of it is known; tokens that were never seen are missing. */
  get(tokens: ReadonlySet<string>): Promise<Map<string, boolean>>;
  put(token: string, complete: boolean): void;
  reset(): void;
}

/** Tokens to remember, about 200 bytes each. */
const remembered = 100_000;

/** Tokens that one query reads. */
const tokensAtOnce = 2_000;

/** Opens the list of tokens for writing. */
export function createTokenList(database: Database, tables: Tables): TokenList {
  const known = new LRUCache<string, boolean>({ max: remembered });
  return {
    async get(tokens) {
      const found = new Map<string, boolean>();
      const missing: string[] = [];
      for (const token of tokens) {
        const complete = known.get(token);
        if (complete === undefined) missing.push(token);
        else found.set(token, complete);
      }
      for (let from = 0; from < missing.length; from += tokensAtOnce) {
        const rows = await database.rows<{ token: string; complete: boolean }>(
          `SELECT token, complete FROM ${tables.of('tokens')} WHERE token IN {tokens:Array(String)}`,
          { tokens: missing.slice(from, from + tokensAtOnce) },
          { name: 'richlist.tokens', priority: 'write' },
        );
        for (const { token, complete } of rows) {
          known.set(token, complete);
          found.set(token, complete);
        }
      }
      return found;
    },
    put: (token, complete) => {
      known.set(token, complete);
    },
    reset: () => known.clear(),
  };
}
