import { setMaxListeners } from 'node:events';
import { getAddress } from 'ethers';
import type { Endpoints } from '../../common/chain/endpoints.js';
import type { Database } from '../../common/clickhouse/database.js';
import { messageOf } from '../../common/runtime/errors.js';
import type { Log } from '../../common/runtime/log.js';
import type { Metrics } from '../../common/runtime/metrics.js';
import { inParallel } from '../../common/util/concurrency.js';
import { within } from '../../common/util/signal.js';
import { fetchDenom } from '../node/denoms.js';
import type { RichlistStore } from '../store/store.js';
import type { Tables } from '../store/tables.js';

/** Asks what tokens are called; those that the node cannot tell now are missing from the answer. */
export type NameTokens = (tokens: readonly string[]) => Promise<ReadonlyMap<string, string>>;

export interface NameOptions {
  readonly rest: Endpoints;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  /** How long all of it may take, in milliseconds. */
  readonly patience_ms: number;
  /** After a failure nothing is asked for so long, in milliseconds: the blocks do not wait for a node that is down. */
  readonly pause_ms: number;
}

/** Names that are asked for at once. */
const atOnce = 8;

/**
 * Makes a function that asks for denoms and never fails. A contract that the bank module does
 * not know has the denom that it would give it.
 */
export function createNaming(options: NameOptions): NameTokens {
  const { rest, log, metrics, patience_ms, pause_ms } = options;
  let asksAgainAt = 0;
  return async (tokens) => {
    const names = new Map<string, string>();
    if (Date.now() < asksAgainAt) return names;
    const signal = within(patience_ms, options.signal);
    setMaxListeners(0, signal); // every request under way listens to it
    let hasFailed = false;
    const ask = async (token: string) =>
      names.set(token, (await fetchDenom(rest, token, signal)) ?? denomOf(token));
    try {
      await inParallel(tokens, atOnce, ask, () => hasFailed || signal.aborted);
    } catch (error) {
      hasFailed = true;
      asksAgainAt = Date.now() + pause_ms;
      if (!options.signal.aborted) {
        metrics.problems.inc({ service: 'richlist', kind: 'denom' });
        log.debug({ err: error }, `the denoms of tokens are asked for later: ${messageOf(error)}`);
      }
    }
    return names;
  };
}

/** What the bank module would call a contract: `evm/` and the address with the checksum's capitals. */
export const denomOf = (token: string): string => `evm/${getAddress(`0x${token}`).slice(2)}`;

export interface NamelessOptions {
  readonly store: Pick<RichlistStore, 'position' | 'revision' | 'name'>;
  readonly database: Database;
  readonly tables: Tables;
  readonly nameTokens: NameTokens;
  readonly log: Log;
}

/** Tokens of which it is looked up at once whether they have a name: those of one statement are in memory. */
const tokensAtOnce = 100_000;

/** Names that are asked for in one round at most. */
const namesAtOnce = 1_000;

/**
 * Makes a function that asks the node for the denoms that it could not tell when their tokens were first seen. It
 * remembers up to which change all tokens have one: a row of `denoms` has the number of its token's.
 */
export function createNameless({
  store,
  database,
  tables,
  nameTokens,
  log,
}: NamelessOptions): () => Promise<void> {
  let [named, revision] = [0, -1];

  /** The last of the tokens after a change that are looked up at once; undefined where there is none. */
  const endOfSome = async (after: number, last_ord: number): Promise<number | undefined> => {
    const [row] = await database.rows<{ upTo: number; n: number }>(
      `SELECT max(ord) AS upTo, count() AS n
       FROM (
         SELECT ord FROM ${tables.of('tokens')}
         WHERE ord > {after:UInt64} AND ord <= {last_ord:UInt64}
         ORDER BY ord
         LIMIT {limit:UInt64}
       )`,
      { after, last_ord, limit: tokensAtOnce },
      { name: 'richlist.new_tokens' },
    );
    return row === undefined || row.n === 0 ? undefined : row.upTo;
  };

  const namelessBetween = (after: number, upTo: number): Promise<{ token: string }[]> =>
    database.rows<{ token: string }>(
      `SELECT token
       FROM ${tables.of('tokens')}
       WHERE ord > {after:UInt64} AND ord <= {upTo:UInt64} AND token GLOBAL NOT IN (
         SELECT token FROM ${tables.of('denoms')} WHERE ord > {after:UInt64} AND ord <= {upTo:UInt64}
       )
       LIMIT {limit:UInt64}`,
      { after, upTo, limit: namesAtOnce },
      { name: 'richlist.nameless' },
    );

  return async () => {
    // After a rollback the same numbers may be those of other tokens.
    if (revision !== store.revision) [named, revision] = [0, store.revision];
    const began_at = { revision, last_ord: store.position.last_ord };
    const nameless: string[] = [];
    let upTo = named;
    for (;;) {
      const end = upTo < began_at.last_ord ? await endOfSome(upTo, began_at.last_ord) : undefined;
      const found = end === undefined ? [] : await namelessBetween(upTo, end);
      nameless.push(...found.map(({ token }) => token));
      upTo = end ?? began_at.last_ord;
      if (began_at.revision !== store.revision) return;
      if (nameless.length === 0) named = upTo;
      if (end === undefined || nameless.length >= namesAtOnce) break;
    }
    if (nameless.length === 0) return;
    const names = await nameTokens(nameless);
    if (names.size === 0) return;
    await store.name(names);
    log.debug({ names: names.size }, 'learnt the denoms of tokens');
  };
}
