import { type Database, tuple } from '../../common/clickhouse/database.js';
import { newestRowsSql } from '../../common/page/view.js';
import { createLru } from '../../common/util/lru.js';
import { type Balance, type HoldingKey, holdingKey, holdingOf } from './balance.js';
import type { Tables } from './tables.js';

/** What the one writer knows of balances. */
export interface Known {
  /** The balances of holdings; those that never changed are missing. */
  get(keys: Iterable<HoldingKey>): Promise<Map<HoldingKey, Balance>>;
  /** Takes over a balance that was written. */
  put(key: HoldingKey, balance: Balance): void;
  /** Forgets everything, and reads anew as much as there is room for. */
  reset(): Promise<void>;
}

interface Row {
  readonly token: string;
  readonly account: string;
  readonly amount: string;
  readonly ord: number;
  readonly height: number;
}

/** Balances that one query reads. */
const keysAtOnce = 1_000;

const balanceOfRow = ({ amount, ord, height }: Row): Balance => ({ amount: BigInt(amount), ord, height });

/**
 * Keeps the balances that changed last. While it holds all there are, a holding that is not
 * in it has none, and nothing is read; after it had to make room, misses are read together.
 *
 * @param capacity how many to keep, about 300 bytes each.
 */
export function createKnown(database: Database, tables: Tables, capacity: number): Known {
  let isComplete = false;
  const known = createLru<HoldingKey, Balance>(capacity, {
    dispose: (_balance, _key, reason) => {
      if (reason === 'evict') isComplete = false;
    },
  });
  const select = (where: string): string =>
    newestRowsSql(
      tables.of('account_balances'),
      ['token', 'account', 'toString(v.amount) AS amount', 'ord', 'height'],
      ['token', 'account'],
      where,
    );

  const read = async (keys: readonly HoldingKey[], into: Map<HoldingKey, Balance>): Promise<void> => {
    for (let from = 0; from < keys.length; from += keysAtOnce) {
      const holdings = keys.slice(from, from + keysAtOnce).map((key) => {
        const { token, account } = holdingOf(key);
        return tuple([token, account]);
      });
      const rows = await database.rows<Row>(
        select('(token, account) IN {holdings:Array(Tuple(String, String))}'),
        { holdings },
        { name: 'richlist.balances', priority: 'write' },
      );
      for (const row of rows) into.set(holdingKey(row.token, row.account), balanceOfRow(row));
    }
  };

  return {
    async get(keys) {
      const found = new Map<HoldingKey, Balance>();
      const missing: HoldingKey[] = [];
      for (const key of keys) {
        const balance = known.get(key);
        if (balance !== undefined) found.set(key, balance);
        else missing.push(key);
      }
      if (!isComplete && missing.length > 0) {
        const read_before = found.size;
        await read(missing, found);
        if (found.size > read_before)
          for (const key of missing) {
            const balance = found.get(key);
            if (balance !== undefined) known.set(key, balance);
          }
      }
      return found;
    },
    put: (key, balance) => {
      known.set(key, balance);
    },
    async reset() {
      known.clear();
      const options = { name: 'richlist.all_balances', priority: 'write' as const };
      const [count] = await database.rows<{ n: number }>(
        `SELECT count() AS n FROM ${tables.of('account_balances')}`,
        {},
        options,
      );
      isComplete = (count?.n ?? 0) <= capacity;
      if (!isComplete || count?.n === 0) return;
      const rows = await database.rows<Row>(select('1'), {}, options);
      for (const row of rows) known.set(holdingKey(row.token, row.account), balanceOfRow(row));
    },
  };
}
