import { createLog } from '../../../services/common/runtime/log.js';
import { createMetrics } from '../../../services/common/runtime/metrics.js';
import { isMainModule } from '../../../services/common/runtime/paths.js';
import type { DecodedBlock } from '../../../services/richlist/decode/block.js';
import { openSeed, type Seed } from '../../../services/richlist/node/seed.js';
import { testDatabase, uniquePrefix } from '../database.js';
import { fakeEndpoints } from '../fake-endpoints.js';
import { openTestRichlist } from '../richlist-tables.js';
import { forgetPeak, peakMemory_mb } from './memory.js';

/** The name of the n-th token or account: 40 hex digits. */
export const hex = (n: number, first = '0'): string => first + n.toString(16).padStart(39, '0');

/** A block in which each of these tokens gives its accounts something. */
export const block = (
  height: number,
  holders: Readonly<Record<string, readonly string[]>>,
): DecodedBlock => ({
  ...{ height, hash: `H${height}`, parent_hash: `H${height - 1}` },
  deltas: new Map(
    Object.entries(holders).map(([token, accounts]) => [
      token,
      new Map(accounts.map((account) => [account, 10n])),
    ]),
  ),
  ...{ created: new Set(), problems: [] },
});

/** Denoms that each account of `seedOfAccounts` holds. */
export const coinsOfEach = 1_000;

/** Reads the state of a node with so many accounts, which all hold the same; it names the first one twice. */
export function seedOfAccounts(accounts: number): (height: number) => Promise<Seed> {
  const balances = Array.from({ length: coinsOfEach }, (_, n) => ({
    denom: `evm/${hex(n, 'c')}`,
    amount: '7',
  }));
  const listed = [1, ...Array.from({ length: accounts }, (_, n) => n + 1)];
  const held = JSON.stringify({ balances, pagination: { next_key: null } });
  const rest = fakeEndpoints('rest', ({ path }) => {
    if (path.includes('/balances/')) return [200, held];
    if (path.includes('/module_accounts')) return [200, { accounts: [] }];
    if (path.includes('/accounts'))
      return [200, { accounts: listed.map((n) => ({ address: `0x${hex(n)}` })) }];
    return [200, { supply: [], denom_owners: [] }];
  });
  const jsonRpc = fakeEndpoints('jsonrpc', () => [200, '{"jsonrpc":"2.0","id":1,"result":"0x1"}']);
  const { signal } = new AbortController();
  const environment = { rest, jsonRpc, log: createLog('silent'), metrics: createMetrics(), signal };
  return (height) => openSeed({ ...environment, account_prefix: 'init', concurrency: 4 }, height);
}

/** What this does as a program: a block with 420,000 holdings, or a seed of 400 accounts. */
export type LargeWork = 'block' | 'seed';

if (isMainModule(import.meta.url)) {
  const [, , work] = process.argv;
  const options = work === 'seed' ? { openSeed: seedOfAccounts(400) } : {};
  const { store } = await openTestRichlist(await testDatabase(), uniquePrefix(), options);
  await store.recover();
  if (work === 'block') await store.writeBlocks([block(1, {})]);
  const accounts = Array.from({ length: work === 'block' ? 420_000 : 0 }, (_, n) => hex(n));
  const next = block(store.position.height + 1, { [hex(0, 'a')]: accounts });
  forgetPeak();
  const before_mb = peakMemory_mb();
  await store.writeBlocks([next]);
  const { last_ord } = store.position;
  process.stdout.write(JSON.stringify({ taken_mb: peakMemory_mb() - before_mb, last_ord }));
  process.exit(0);
}
