import { status } from '@grpc/grpc-js';
import type { AccountKey } from '../../../common/chain/address.js';
import { RpcError } from '../../../common/runtime/errors.js';
import {
  type BalanceChange,
  type BalanceHistory,
  type Clock,
  createTally,
  holdingOf,
  volumeOf,
} from '../measure.js';
import { type HoldingsRule, type Measure, ScoringError, type VolumeRule } from '../policy.js';
import type { ScoreWindow } from '../result.js';
import { ask, type FactClients, readStream } from './clients.js';

/** Rules about balances. */
export type BalanceRule = VolumeRule | HoldingsRule;

/** Where a reading of balances begins. */
interface Opening {
  /** The height whose balances are the opening ones; 0 when the window has no such block. */
  readonly height: number;
  /** Since when they were held. */
  readonly since: bigint;
}

/**
 * Measures rules about one denom in one reading of its balances.
 *
 * @throws ScoringError when the denom, or what was held before the window, is not known;
 *   RpcError when the service does not answer, ABORTED when the chain is rolled back meanwhile.
 */
export async function gatherBalances(
  rules: readonly BalanceRule[],
  denom: string,
  window: ScoreWindow,
  clock: Clock,
  clients: FactClients,
  signal: AbortSignal,
): Promise<Map<string, Measure>> {
  const tallies = rules.map((rule) => ({ rule, tally: createTally() }));
  try {
    const opening = await openingOf(rules, window, clock, clients, signal);
    const openings = readHolders(denom, opening.height, clients, signal);
    const changes = readChanges(denom, opening.height + 1, window.to_height, clients, signal);
    for await (const history of joinHistories(openings, changes))
      for (const { rule, tally } of tallies) {
        const value =
          rule.kind === 'volume' ? volumeOf(rule, history) : holdingOf(rule, history, opening.since, clock);
        tally.add(history.account, value);
      }
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    if (error.code !== status.NOT_FOUND && error.code !== status.UNIMPLEMENTED) throw error;
    const names = rules.map(({ name }) => name).join(', ');
    throw new ScoringError(`the denom ${JSON.stringify(denom)} of the rules ${names}: ${error.message}`, {
      cause: error,
    });
  }
  return new Map(
    tallies.map(({ rule, tally }) => {
      const isAverage = rule.kind === 'holdings' && rule.at === 'average';
      return [rule.name, tally.measure(isAverage ? clock.end - clock.start : 1n)];
    }),
  );
}

/**
 * The last state before the window, or the first of a rollup that began within it; where only
 * the end counts, that.
 */
async function openingOf(
  rules: readonly BalanceRule[],
  { from_height, to_height }: ScoreWindow,
  clock: Clock,
  { richlist }: FactClients,
  signal: AbortSignal,
): Promise<Opening> {
  const { first_height } = await ask(richlist.getStatus.bind(richlist), {}, signal);
  if (first_height === 0) throw new RpcError(status.OUT_OF_RANGE, 'no balance is known yet');
  const isEndOnly = rules.every((rule) => rule.kind === 'holdings' && rule.at === 'end');
  if (isEndOnly && first_height <= to_height) return { height: to_height, since: clock.end };
  if (first_height < from_height) return { height: from_height - 1, since: clock.start };
  if (first_height > 1)
    throw new ScoringError(
      `balances are known from block ${first_height} on, and the stage begins with block ${from_height}: what was held before is not known`,
    );
  // The rollup's own first block: nobody held anything before it.
  return to_height < first_height ? { height: 0, since: clock.end } : { height: 1, since: clock.timeOf(1) };
}

async function* readHolders(
  denom: string,
  height: number,
  { richlist }: FactClients,
  signal: AbortSignal,
): AsyncGenerator<OpeningBalance, void, undefined> {
  if (height < 1) return; // 0 would ask for the latest state
  const stream = readStream(richlist.streamHolders.bind(richlist), { denom, height }, signal);
  for await (const { holders } of stream)
    for (const { account, amount } of holders) yield { account: account.slice(2), amount: BigInt(amount) };
}

async function* readChanges(
  denom: string,
  from_height: number,
  to_height: number,
  { richlist }: FactClients,
  signal: AbortSignal,
): AsyncGenerator<AccountChange, void, undefined> {
  if (from_height > to_height) return;
  const request = { denom, from_height, to_height };
  for await (const { changes } of readStream(richlist.streamChanges.bind(richlist), request, signal))
    for (const { account, height, amount, is_heal } of changes)
      yield { account: account.slice(2), height, amount: BigInt(amount), is_heal };
}

/** An account with all that is known of its balance in a window. */
export interface AccountHistory extends BalanceHistory {
  readonly account: AccountKey;
}

/** Who held how much before a window. */
export interface OpeningBalance {
  readonly account: AccountKey;
  readonly amount: bigint;
}

/** A change of one account's balance. */
export interface AccountChange extends BalanceChange {
  readonly account: AccountKey;
}

/**
 * Joins what accounts held before a window with what changed in it. Both must come in the
 * order of accounts; only one account is in memory at a time.
 *
 * @throws Error when they come in another order: what follows would be wrong.
 */
export async function* joinHistories(
  openings: AsyncIterable<OpeningBalance>,
  changes: AsyncIterable<AccountChange>,
): AsyncGenerator<AccountHistory, void, undefined> {
  const opening = openings[Symbol.asyncIterator]();
  const change = changes[Symbol.asyncIterator]();
  try {
    let [held, changed] = [await opening.next(), await change.next()];
    let before = '';
    while (held.done !== true || changed.done !== true) {
      const account = least(
        held.done === true ? undefined : held.value.account,
        changed.done === true ? undefined : changed.value.account,
      );
      if (account <= before) throw new Error(`balances come in no order: ${account} after ${before}`);
      before = account;
      let amount = 0n;
      if (held.done !== true && held.value.account === account) {
        amount = held.value.amount;
        held = await opening.next();
      }
      const own: BalanceChange[] = [];
      while (changed.done !== true && changed.value.account === account) {
        own.push(changed.value);
        changed = await change.next();
      }
      yield { account, opening: amount, changes: own };
    }
  } finally {
    await Promise.all([opening.return?.(), change.return?.()]);
  }
}

const least = (a: AccountKey | undefined, b: AccountKey | undefined): AccountKey =>
  (a === undefined || (b !== undefined && b < a) ? b : a) as AccountKey;
