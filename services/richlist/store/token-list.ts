import type { Database } from '../../common/clickhouse/database.js';
import { createLru } from '../../common/util/lru.js';
import type { Tables } from './tables.js';

/** A token that a batch touches. */
export interface TouchedToken {
  /** Whether every balance of it is known; else an account's begins with the node's answer. */
  readonly complete: boolean;
  /** What the bank module calls it, where that is known already. */
  readonly denom?: string | undefined;
  /** Where it is touched first: height, and number of the change. */
  readonly height: number;
  readonly ord: number;
}

/** Rows of two tables, as lines that are made while they are written: one block may bring any number of tokens. */
export interface TokenRows {
  readonly tokens: Iterable<string>;
  readonly denoms: Iterable<string>;
}

/** What the writer knows of tokens. */
export interface TokenList {
  /** By token whether it is complete; tokens that were never seen are missing. */
  get(tokens: ReadonlySet<string>): Promise<Map<string, boolean>>;
  /** The rows of those that the list does not have. */
  rowsOf(touched: ReadonlyMap<string, TouchedToken>): Promise<TokenRows>;
  /** Takes over what was written. */
  put(touched: ReadonlyMap<string, TouchedToken>): void;
  /** Rows that name tokens of the list. */
  denomRows(denoms: ReadonlyMap<string, string>): Promise<string[]>;
  reset(): void;
}

/** Tokens to remember, about 200 bytes each. */
const remembered = 100_000;

/** Tokens that one query reads. */
const tokensAtOnce = 1_000;

const options = { name: 'richlist.tokens', priority: 'write' as const };

/**
 * Opens the list of tokens for writing.
 *
 * @param nameTokens tells what the bank module calls tokens, as far as it can be told now; must not fail.
 */
export function createTokenList(
  database: Database,
  tables: Tables,
  nameTokens: (tokens: readonly string[]) => Promise<ReadonlyMap<string, string>>,
): TokenList {
  const known = createLru<string, boolean>(remembered);
  const denomRow = (denom: string, token: string, ord: number): string =>
    JSON.stringify({ folded: denom.toLowerCase(), denom, token, ord });

  type Added = readonly (readonly [string, TouchedToken])[];
  function* tokenRows(added: Added): Generator<string, void, undefined> {
    for (const [token, { height, complete, ord }] of added)
      yield JSON.stringify({ token, height, complete, ord });
  }
  function* denomRows(added: Added, names: ReadonlyMap<string, string>): Generator<string, void, undefined> {
    for (const [token, { denom = names.get(token), ord }] of added)
      if (denom !== undefined) yield denomRow(denom, token, ord);
  }

  const get = async (tokens: ReadonlySet<string>): Promise<Map<string, boolean>> => {
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
        options,
      );
      for (const { token, complete } of rows) {
        known.set(token, complete);
        found.set(token, complete);
      }
    }
    return found;
  };

  return {
    get,
    async rowsOf(touched) {
      const there = await get(new Set(touched.keys()));
      const added = [...touched].filter(([token]) => !there.has(token));
      const nameless = added.filter(([, { denom }]) => denom === undefined).map(([token]) => token);
      const names = nameless.length === 0 ? new Map<string, string>() : await nameTokens(nameless);
      return { tokens: tokenRows(added), denoms: denomRows(added, names) };
    },
    put(touched) {
      for (const [token, { complete }] of touched) if (!known.has(token)) known.set(token, complete);
    },
    async denomRows(denoms) {
      const rows = await database.rows<{ token: string; ord: number }>(
        `SELECT token, ord FROM ${tables.of('tokens')} WHERE token IN {tokens:Array(String)}`,
        { tokens: [...denoms.keys()] },
        options,
      );
      return rows.map(({ token, ord }) => denomRow(denoms.get(token) ?? '', token, ord));
    },
    reset: () => known.clear(),
  };
}
