import type { Database } from '../../common/clickhouse/database.js';
import { messageOf, TryAgainError } from '../../common/runtime/errors.js';
import { sleep } from '../../common/runtime/lifecycle.js';
import type { WriterHealth } from '../../common/writer/health.js';
import type { Holding } from '../store/balance.js';
import { servedHeight } from '../store/cursor.js';
import type { Tables } from '../store/tables.js';
import { type CompareOptions, createComparison, type Outcome } from './compare.js';
import { createNameless, type NameTokens } from './names.js';

export interface ReconcileOptions extends CompareOptions {
  readonly config: {
    readonly RECONCILE_INTERVAL_MS: number;
    readonly RECONCILE_DRIFTING_MS: number;
    readonly BALANCE_BATCH: number;
  };
  readonly database: Database;
  readonly tables: Tables;
  readonly nameTokens: NameTokens;
  /** Last height of the block service. */
  readonly headHeight: () => Promise<number>;
  readonly health: WriterHealth;
}

/** What fails, as it is told. */
const comparing = 'comparing balances';

/** While the index is further behind than this, the node may have pruned its height: comparing waits. */
const closeEnough = 8;

/** Holdings that are looked up at once, a few node requests' worth. */
const pageSize = 2_000;

/** Tokens that drift of one page: as many as a parameter takes. */
const driftingAtOnce = 500;

/** While blocks are missing, how soon to look again, in milliseconds. */
const look_ms = 200;

/**
 * Compares balances with the node's own, in the background and only close to the tip: those
 * that changed since the last comparison, and from time to time all holders of tokens that
 * were ever found wrong (their balances may change without a log). A balance that differs,
 * twice, is set right. What is compared is found in the tables, so that a restart forgets
 * nothing and memory stays bounded.
 */
export async function reconcile(options: ReconcileOptions): Promise<void> {
  const { config, store, log, metrics, health, signal } = options;
  if (config.RECONCILE_INTERVAL_MS === 0) return;
  const round = createRound(options);
  let comparedAt: number | undefined;
  /** Makes a round when the blocks are there; says how long to wait for the next, in milliseconds. */
  const attempt = async (): Promise<number> => {
    await store.mend();
    const isServed = servedHeight(store.position) > 0;
    const isClose = isServed && (await options.headHeight()) - store.position.height <= closeEnough;
    if (!isClose) return Math.min(look_ms, config.RECONCILE_INTERVAL_MS);
    comparedAt ??= await lastCompared(options);
    const isDue = Date.now() >= comparedAt + config.RECONCILE_DRIFTING_MS;
    await round(isDue);
    health.succeeded(comparing);
    if (isDue && !signal.aborted) {
      comparedAt = Date.now();
      await store.noteDrifting(comparedAt);
    }
    return config.RECONCILE_INTERVAL_MS;
  };
  while (!signal.aborted) {
    const wait = await attempt().catch((error: unknown) => {
      if (!signal.aborted) {
        metrics.problems.inc({ service: 'richlist', kind: 'reconcile' });
        health.failed(comparing, error);
        log.warn({ err: error }, `comparing balances failed, it goes on later: ${messageOf(error)}`);
      }
      return Math.max(look_ms, config.RECONCILE_INTERVAL_MS);
    });
    await sleep(wait, signal);
  }
}

/**
 * When every holder of the tokens that drift was compared last, milliseconds since the epoch: as the tables have it, so
 * that restarts put nothing off. Begins with now.
 */
async function lastCompared({ database, tables, store }: ReconcileOptions): Promise<number> {
  const [row] = await database.rows<{ at: number }>(
    `SELECT max(compared_at) AS at FROM ${tables.of('drifting')}`,
    {},
    { name: 'richlist.drifting_compared' },
  );
  const now = Date.now();
  // A clock that was ahead must not put it off for ever.
  if (row !== undefined && row.at > 0) return Math.min(row.at, now);
  await store.noteDrifting(now);
  return now;
}

/** Makes one round of comparing, of what changed since the round before. */
function createRound(options: ReconcileOptions): (withDrifting: boolean) => Promise<void> {
  const { store, database, tables, log, metrics, signal } = options;
  const compare = createComparison(options);
  const nameTheNameless = createNameless(options);
  let [checked, revision] = [0, -1];

  const pageAfter = (after: Holding, condition: string, params: object): Promise<Holding[]> =>
    database.rows<Holding>(
      `SELECT DISTINCT token, account FROM ${tables.of('account_balances')} WHERE (token > {token:String} OR (token = {token:String} AND account > {account:String})) AND ${condition} ORDER BY token, account LIMIT {limit:UInt64}`,
      { ...after, limit: pageSize, ...params },
      { name: 'richlist.to_compare' },
    );
  const compareAll = async (condition: string, params: object): Promise<void> => {
    let after: Holding = { token: '', account: '' };
    let [told, gone] = [0, 0];
    while (!signal.aborted) {
      const page = await pageAfter(after, condition, params);
      const outcome: Outcome = page.length > 0 ? await compare(page) : { told: 0, gone: 0 };
      told += outcome.told;
      gone += outcome.gone;
      if (page.length < pageSize) break;
      after = page.at(-1) as Holding;
    }
    // Where other balances of the same heights are told, the state is there, and a contract says otherwise.
    if (gone > 0 && told === 0)
      throw new TryAgainError(`the node does not have the state that ${gone} balances are compared at`);
  };

  return async (withDrifting) => {
    if (revision !== store.revision) {
      revision = store.revision;
      const [row] = await database.rows<{ ord: number }>(
        `SELECT max(ord) AS ord FROM ${tables.of('checks')}`,
        {},
        { name: 'richlist.checked' },
      );
      checked = row?.ord ?? 0;
    }
    const began_at = { revision, last_ord: store.position.last_ord };
    await nameTheNameless();
    if (began_at.last_ord > checked) {
      await compareAll(`ord > {checked:UInt64} AND ord <= {upTo:UInt64} AND source != 'heal'`, {
        checked,
        upTo: began_at.last_ord,
      });
      if (signal.aborted || began_at.revision !== store.revision) return;
      checked = began_at.last_ord;
      await store.check(checked, began_at.revision);
    }
    if (!withDrifting) return;
    log.debug('comparing every holder of tokens that drift');
    let count = 0;
    // Anybody can make any number of such tokens.
    for (let after = ''; !signal.aborted; ) {
      const page = await database.rows<{ token: string }>(
        `SELECT DISTINCT token
         FROM ${tables.of('changes')}
         WHERE source = 'heal' AND token > {after:String}
         ORDER BY token
         LIMIT {limit:UInt64}`,
        { after, limit: driftingAtOnce },
        { name: 'richlist.drifting' },
      );
      const drifting = page.map(({ token }) => token);
      count += drifting.length;
      if (drifting.length > 0) await compareAll('token IN {drifting:Array(String)}', { drifting });
      if (drifting.length < driftingAtOnce) break;
      after = drifting.at(-1) as string;
    }
    if (!signal.aborted) metrics.driftingTokens.set(count);
  };
}
