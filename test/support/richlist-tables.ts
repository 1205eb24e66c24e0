import { join } from 'node:path';
import type { Database } from '../../services/common/clickhouse/database.js';
import { migrate, readMigrations } from '../../services/common/clickhouse/migrate.js';
import { createLog } from '../../services/common/runtime/log.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import type { SeedBalance } from '../../services/richlist/node/seed.js';
import type { RichlistStore } from '../../services/richlist/store/store.js';
import { openRichlistIndex, type RichlistIndex, type WriterOptions } from '../../services/richlist/tables.js';
import type { Ledger } from './richlist-model.js';

/** The rich list in a database of its own. */
export interface TestRichlist {
  readonly index: RichlistIndex;
  readonly store: RichlistStore;
}

/** Opens tables, new ones or those of an earlier call, with a writer that asks no node. */
export async function openTestRichlist(
  database: Database,
  prefix: string,
  options: Partial<WriterOptions> = {},
): Promise<TestRichlist> {
  const target = { database: `${prefix}_richlist`, cluster: '' };
  await migrate(database, readMigrations(join(packageRoot, 'services/richlist/schema')), target);
  const index = await openRichlistIndex(database, target);
  const store = index.openStore({
    log: createLog('silent'),
    openSeed: async (height) => ({ height, async *balances() {} }),
    askBalances: async () => [],
    nameTokens: async (tokens) => new Map(tokens.map((token) => [token, `evm/${token}`])),
    ...options,
  });
  return { index, store };
}

/** Balances as a seed gives them, a few at a time. */
export async function* seedOf(ledger: Ledger, atOnce = 3): AsyncGenerator<SeedBalance[]> {
  const all = [...ledger]
    .filter(([, amount]) => amount > 0n)
    .map(([key, amount]) => {
      const token = key.slice(0, 40);
      return { token, account: key.slice(40), amount, denom: `u${token.slice(0, 3)}` };
    });
  for (let from = 0; from < all.length; from += atOnce) yield all.slice(from, from + atOnce);
}
