import type { Endpoints } from '../../common/chain/endpoints.js';
import type { Database } from '../../common/clickhouse/database.js';
import { messageOf } from '../../common/errors.js';
import { sleep } from '../../common/lifecycle.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import { type BalanceAnswer, type BalanceQuestion, fetchBalances } from '../node/erc20.js';
import type { Holding } from '../store/balance.js';
import { servedHeight } from '../store/cursor.js';
import type { Compared } from '../store/heal.js';
import type { RichlistStore } from '../store/store.js';
import type { Tables } from '../store/tables.js';
import type { NameTokens } from './names.js';
import { createOnce } from './once.js';

export interface ReconcileOptions {
  readonly config: {
    readonly RECONCILE_INTERVAL_MS: number;
    readonly RECONCILE_DRIFTING_MS: number;
    readonly BALANCE_BATCH: number;
  };
  readonly store: RichlistStore;
  readonly database: Database;
  readonly tables: Tables;
  readonly jsonRpc: Endpoints;
  readonly nameTokens: NameTokens;
  /** Last height of the block service, as last heard. */
  readonly headHeight: () => number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

/** While the index is further behind than this, the node may have pruned its height: comparing waits. */
const closeEnough = 8;

/** Holdings that are looked up at once, a few node requests' worth. */
const pageSize = 2_000;

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
  const { config, store, log, metrics, signal } = options;
  if (config.RECONCILE_INTERVAL_MS === 0) return;
  const round = createRound(options);
  let driftingDue = Date.now() + config.RECONCILE_DRIFTING_MS;
  while (!signal.aborted) {
    const isClose =
      servedHeight(store.position) > 0 && options.headHeight() - store.position.height <= closeEnough;
    if (isClose) {
      try {
        const isDue = Date.now() >= driftingDue;
        await round(isDue);
        if (isDue) driftingDue = Date.now() + config.RECONCILE_DRIFTING_MS;
      } catch (error) {
        if (signal.aborted) return;
        metrics.problems.inc({ service: 'richlist', kind: 'reconcile' });
        log.warn({ err: error }, `comparing balances failed, it goes on later: ${messageOf(error)}`);
      }
    }
    await sleep(
      isClose ? config.RECONCILE_INTERVAL_MS : Math.min(look_ms, config.RECONCILE_INTERVAL_MS),
      signal,
    );
  }
}

/** Makes one round of comparing, of what changed since the round before. */
function createRound(options: ReconcileOptions): (withDrifting: boolean) => Promise<void> {
  const { store, database, tables, log, metrics, signal } = options;
  const compareOnce = createComparison(options);
  let [checked, revision] = [0, -1];

  const pageAfter = (after: Holding, condition: string, params: object): Promise<Holding[]> =>
    database.rows<Holding>(
      `SELECT DISTINCT token, account FROM ${tables.of('balances')} WHERE (token, account) > ({token:String}, {account:String}) AND ${condition} ORDER BY token, account LIMIT {limit:UInt64}`,
      { ...after, limit: pageSize, ...params },
      { name: 'richlist.to_compare' },
    );
  const compareAll = async (condition: string, params: object): Promise<void> => {
    let after: Holding = { token: '', account: '' };
    while (!signal.aborted) {
      const page = await pageAfter(after, condition, params);
      if (page.length > 0) await compareOnce(page);
      if (page.length < pageSize) return;
      after = page.at(-1) as Holding;
    }
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
    await nameTheNameless(options);
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
    const drifting = await database.rows<{ token: string }>(
      `SELECT DISTINCT token FROM ${tables.of('changes')} WHERE source = 'heal'`,
      {},
      { name: 'richlist.drifting' },
    );
    metrics.driftingTokens.set(drifting.length);
    if (drifting.length === 0) return;
    log.debug({ tokens: drifting.length }, 'comparing every holder of tokens that drift');
    await compareAll('token IN {drifting:Array(String)}', { drifting: drifting.map(({ token }) => token) });
  };
}

/** Asks the node for the denoms that it could not tell when their tokens were first seen. */
async function nameTheNameless({
  store,
  database,
  tables,
  nameTokens,
  log,
}: ReconcileOptions): Promise<void> {
  const rows = await database.rows<{ token: string }>(
    `SELECT token FROM ${tables.of('tokens')} WHERE token NOT IN (SELECT token FROM ${tables.of('denoms')}) LIMIT 1000`,
    {},
    { name: 'richlist.nameless' },
  );
  if (rows.length === 0) return;
  const names = await nameTokens(rows.map(({ token }) => token));
  if (names.size === 0) return;
  await store.name(names);
  log.debug({ names: names.size }, 'learnt the denoms of tokens');
}

/** Makes a comparison of some holdings with the node. */
function createComparison(options: ReconcileOptions): (holdings: readonly Holding[]) => Promise<void> {
  const { config, store, jsonRpc, log, metrics, signal } = options;
  const [isFirstDrift, isFirstUnreadable] = [createOnce(), createOnce()];
  const ask = (questions: readonly BalanceQuestion[]): Promise<BalanceAnswer[]> =>
    fetchBalances(jsonRpc, questions, config.BALANCE_BATCH, signal);

  /** @throws Error when the node does not have the state: the round ends and is made again. */
  const readable = (questions: readonly BalanceQuestion[], answers: readonly BalanceAnswer[]): Compared[] =>
    questions.flatMap(({ token, account, height }, index) => {
      const amount = answers[index];
      if (amount === 'gone') throw new Error(`the node does not have the state of height ${height}`);
      if (typeof amount === 'bigint') return [{ token, account, height, amount }];
      metrics.problems.inc({ service: 'richlist', kind: 'balance' });
      if (isFirstUnreadable(token))
        log.warn({ token: `0x${token}`, height }, 'a contract does not tell balances: its logs are trusted');
      return [];
    });

  return async (holdings) => {
    for (let from = 0; from < holdings.length && !signal.aborted; from += config.BALANCE_BATCH) {
      const { position, revision } = store;
      const height = position.height;
      const questions = holdings
        .slice(from, from + config.BALANCE_BATCH)
        .map(({ token, account }) => ({ token, account, height }));
      const told = readable(questions, await ask(questions));
      metrics.comparedBalances.inc(told.length);
      const differing = await store.differing(told, revision);
      if (differing.length === 0) continue;
      // A wrong answer must not become a wrong row: only what is said twice is believed.
      const again = readable(differing, await ask(differing));
      const confirmed = again.filter(({ amount }, index) => amount === differing[index]?.amount);
      const healed = await store.heal(again.length === differing.length ? confirmed : [], revision);
      for (const { token, account } of healed) {
        metrics.healedBalances.inc();
        if (isFirstDrift(token))
          log.warn(
            { token: `0x${token}`, account: `0x${account}`, height },
            'the logs of a token do not tell the truth about its balances: they are set right as the node says',
          );
      }
    }
  };
}
