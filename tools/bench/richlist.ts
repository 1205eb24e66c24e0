import { join } from 'node:path';
import type { Database } from '../../services/common/clickhouse/database.js';
import { openEmbedded } from '../../services/common/clickhouse/embedded.js';
import { migrate, readMigrations } from '../../services/common/clickhouse/migrate.js';
import type { PageRequest } from '../../services/common/gen/indexer/common/v1/common.js';
import type { Holder } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import type { MovingPage } from '../../services/common/page/moving.js';
import { createLog } from '../../services/common/runtime/log.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import type { DecodedBlock } from '../../services/richlist/decode/block.js';
import type { SeedBalance } from '../../services/richlist/node/seed.js';
import { balanceAt, momentOf } from '../../services/richlist/read/history.js';
import { listHolders } from '../../services/richlist/read/holders.js';
import { findToken } from '../../services/richlist/read/reader.js';
import type { RichlistStore } from '../../services/richlist/store/store.js';
import { openRichlistIndex, type RichlistIndex } from '../../services/richlist/tables.js';
import { mulberry32 } from '../replay/faults.js';
import { quantile } from './load.js';

/** Blocks of the churn, and changes in each; batches of catching up hold more of them. */
const [churnBlocks, changesPerBlock, blocksPerBatch] = [2_000, 100, 100];

/** How often each read is made. */
const reads = 40;

const token = 'c'.repeat(40);
const accountOf = (n: number): string => n.toString(16).padStart(8, '0').repeat(5);

/** One holder in three has the same amount as many others, as after an airdrop. */
const amountOf = (n: number): bigint =>
  n % 3 === 0 ? 10n ** 18n : BigInt((n * 2_654_435_761) % 2 ** 32) * 10n ** 12n + 1n;

async function* seed(holders: number): AsyncGenerator<SeedBalance[]> {
  const atOnce = 5_000;
  for (let from = 0; from < holders; from += atOnce)
    yield Array.from({ length: Math.min(atOnce, holders - from) }, (_, index) => ({
      token,
      account: accountOf(from + index),
      amount: amountOf(from + index),
      denom: 'uAAA',
    }));
}

/** Transfers between holders, a few of them very busy. */
function churn(height: number, holders: number): DecodedBlock {
  const random = mulberry32(height);
  const accounts = new Map<string, bigint>();
  for (let i = 0; i < changesPerBlock / 2; i++) {
    const amount = BigInt(Math.floor(random() * 1e6));
    for (const sign of [1n, -1n]) {
      const account = accountOf(Math.floor(holders * random() ** 4));
      accounts.set(account, (accounts.get(account) ?? 0n) + sign * amount);
    }
  }
  return {
    height,
    hash: `H${height}`,
    parent_hash: `H${height - 1}`,
    deltas: new Map([[token, accounts]]),
    created: new Set(),
    problems: [],
  };
}

interface Opened {
  readonly index: RichlistIndex;
  readonly store: RichlistStore;
}

async function open(database: Database, name: string, holders: number): Promise<Opened> {
  const target = { database: name, cluster: '' };
  await migrate(database, readMigrations(join(packageRoot, 'services/richlist/schema')), target);
  const index = await openRichlistIndex(database, target);
  const store = index.openStore({
    log: createLog('silent'),
    openSeed: async (height) => ({ height, balances: () => seed(holders) }),
    askBalances: async () => [],
    nameTokens: async () => new Map(),
  });
  await store.recover();
  return { index, store };
}

const print = (what: string, text: string): unknown => process.stdout.write(`${what.padEnd(44)} ${text}\n`);

async function timed(what: string, count: number, unit: string, work: () => Promise<unknown>): Promise<void> {
  const [before, cpu] = [performance.now(), process.cpuUsage()];
  await work();
  const ms = performance.now() - before;
  const { user, system } = process.cpuUsage(cpu);
  const perSecond = Math.round((count / ms) * 1000).toLocaleString('en-US');
  print(
    what,
    `${(ms / 1000).toFixed(1)} s, ${perSecond} ${unit}/s, ${((user + system) / count).toFixed(0)} us of processor time each`,
  );
}

async function timeReads(what: string, read: () => Promise<unknown>): Promise<void> {
  const times: number[] = [];
  const cpu = process.cpuUsage();
  for (let i = 0; i < reads; i++) {
    const before = performance.now();
    await read();
    times.push(performance.now() - before);
  }
  times.sort((a, b) => a - b);
  const { user, system } = process.cpuUsage(cpu);
  print(
    what,
    `${quantile(times, 0.5).toFixed(1)} ms (fastest ${times[0]?.toFixed(1)}), ${((user + system) / 1000 / reads).toFixed(1)} ms of processor time`,
  );
}

async function measure(database: Database, holders: number): Promise<void> {
  process.stdout.write(`\na token with ${holders.toLocaleString('en-US')} holders\n`);
  const { index, store } = await open(database, `richlist_${holders}`, holders);
  await timed('seed', holders, 'balances', () => store.writeBlocks([churn(1, holders)]));
  await timed('catching up, 100 blocks at once', churnBlocks * changesPerBlock, 'changes', async () => {
    for (let from = 2; from < churnBlocks + 2; from += blocksPerBatch)
      await store.writeBlocks(Array.from({ length: blocksPerBatch }, (_, i) => churn(from + i, holders)));
  });
  const tip = 100;
  await timed('at the tip, block by block', tip, 'blocks', async () => {
    for (let i = 0; i < tip; i++) await store.writeBlocks([churn(store.position.height + 1, holders)]);
  });

  const { reader } = index;
  const page = (more: Partial<PageRequest>): Promise<MovingPage<Holder>> =>
    listHolders(
      reader,
      token,
      { key: '', offset: 0, limit: 100, count_total: false, reverse: true, ...more },
      {},
    );
  const middle = Math.floor(holders / 2);
  const key = (await page({ offset: middle })).pagination.next_key;
  await timeReads('first page', () => page({}));
  await timeReads('first page with total', () => page({ count_total: true }));
  await timeReads('first page, smallest first', () => page({ reverse: false }));
  await timeReads('page in the middle by key', () => page({ key }));
  await timeReads('page in the middle by offset', () => page({ offset: middle }));
  await timeReads('last page by offset', () => page({ offset: holders - 200 }));
  await timeReads('page of 1000', () => page({ limit: 1000 }));
  await timeReads('first page, by name in another case', async () => {
    const named = await findToken(reader, 'UaAa', {});
    return listHolders(
      reader,
      named,
      { key: '', offset: 0, limit: 100, count_total: true, reverse: true },
      {},
    );
  });
  const moment = momentOf(reader, 0, 1000);
  await timeReads('a balance at a past height', () => balanceAt(reader, token, accountOf(3), moment, {}));
}

/** Measures the rich list of a token with many holders, beside one with 10,000. */
export async function benchRichlist(holders: number, folder: string): Promise<void> {
  const database = await openEmbedded(join(folder, 'clickhouse'));
  try {
    for (const count of new Set([10_000, holders])) await measure(database, count);
  } finally {
    await database.close();
  }
}
