import { status } from '@grpc/grpc-js';
import { RpcError } from '../../../common/runtime/errors.js';
import { sleep } from '../../../common/runtime/lifecycle.js';
import { isActivityRule } from '../measure.js';
import { type Facts, type Measure, type Policy, ScoringError } from '../policy.js';
import type { ScoreWindow } from '../result.js';
import { readSource, SourceUnavailable } from '../source.js';
import { gatherActivity } from './activity.js';
import { type BalanceRule, gatherBalances } from './balances.js';
import { type FactClients, isPassing } from './clients.js';
import { hashAt, headsOf, readClock } from './heads.js';
import { gatherNfts } from './nfts.js';

/** What gathering depends on beside the policy and the window. */
export interface GatherOptions {
  /** Prefix of bech32 accounts of the rollup. */
  readonly account_prefix: string;
  readonly signal: AbortSignal;
  /** How often it is tried altogether. Default 6. */
  readonly attempts?: number;
  /** How long to wait after the first failure, in milliseconds; twice as long after each. Default 1000. */
  readonly wait_ms?: number;
  /** Is told of every failure after which it is tried again. */
  readonly onRetry?: (error: unknown, attempt: number) => void;
}

const defaultWait_ms = 1_000;

/**
 * Reads everything that a policy measures of a window, and nothing else. The answer is of one
 * chain: before and after, every service must have the same block as the block service at its
 * head, and the window's last block must have stayed the same; otherwise all is read again.
 *
 * @throws ScoringError when what is asked for cannot be known, RpcError or SourceUnavailable
 *   when a service or source does not answer in spite of several attempts, or what the signal
 *   was aborted with.
 */
export async function gatherFacts(
  policy: Policy,
  window: ScoreWindow,
  clients: FactClients,
  options: GatherOptions,
): Promise<Facts> {
  const { signal, attempts = 6, wait_ms = defaultWait_ms } = options;
  for (let attempt = 1; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await gatherOnce(policy, window, clients, options);
    } catch (error) {
      signal.throwIfAborted();
      const mayPass = isPassing(error) || error instanceof SourceUnavailable;
      if (!mayPass || attempt >= attempts) throw error;
      options.onRetry?.(error, attempt);
      await sleep(wait_ms * 2 ** (attempt - 1), signal);
    }
  }
}

async function gatherOnce(
  policy: Policy,
  window: ScoreWindow,
  clients: FactClients,
  { account_prefix, signal, wait_ms = defaultWait_ms }: GatherOptions,
): Promise<Facts> {
  const to_hash = await checkChain(policy, window, clients, signal);
  const clock = await readClock(clients, window, signal);
  const measures = new Map<string, Measure>();
  const keep = (found: ReadonlyMap<string, Measure>): void => {
    for (const [name, measure] of found) measures.set(name, measure);
  };
  const activity = policy.rules.filter(isActivityRule);
  if (activity.length > 0) keep(await gatherActivity(activity, window, clients, signal, wait_ms));
  for (const [denom, rules] of balanceRules(policy))
    keep(await gatherBalances(rules, denom, window, clock, clients, signal));
  for (const rule of policy.rules) {
    if (rule.kind === 'nfts')
      measures.set(rule.name, await gatherNfts(rule, window, clock, account_prefix, clients, signal));
    if (rule.kind === 'source') measures.set(rule.name, await readSource(rule, account_prefix, signal));
  }
  if ((await checkChain(policy, window, clients, signal)) !== to_hash)
    throw new RpcError(status.ABORTED, `block ${window.to_height} has changed while facts were read`);
  return { window, to_hash, measures };
}

/** Rules about balances by denom, so that each denom is read once. */
function balanceRules({ rules }: Policy): Map<string, BalanceRule[]> {
  const byDenom = new Map<string, BalanceRule[]>();
  for (const rule of rules)
    if (rule.kind === 'volume' || rule.kind === 'holdings')
      byDenom.set(rule.denom, [...(byDenom.get(rule.denom) ?? []), rule]);
  return byDenom;
}

/**
 * Makes sure that every service has the block service's chain, and more of it than the window.
 *
 * @returns the hash of the window's last block; '' when there is none.
 * @throws ScoringError when a service is not past the window, RpcError ABORTED when chains differ.
 */
async function checkChain(
  policy: Policy,
  { from_height, to_height }: ScoreWindow,
  clients: FactClients,
  signal: AbortSignal,
): Promise<string> {
  if (from_height < 1 || to_height < from_height - 1)
    throw new ScoringError(`blocks ${from_height} to ${to_height} are no window`);
  for (const { service, height, hash } of await headsOf(policy, clients, signal)) {
    if (height <= to_height)
      throw new RpcError(
        status.OUT_OF_RANGE,
        `the ${service} service is at block ${height}, and the stage ends with ${to_height}`,
      );
    if ((await hashAt(clients, height, signal)) !== hash)
      throw new RpcError(status.ABORTED, `the ${service} service has another block ${height}`);
  }
  const after = await hashAt(clients, to_height + 1, signal);
  const last = await hashAt(clients, to_height, signal);
  if (after === '' || (last === '' && to_height >= from_height))
    throw new RpcError(status.OUT_OF_RANGE, `the block service does not have block ${to_height + 1}`);
  return last;
}
