import type { AccountKey } from '../../common/chain/address.js';
import { type Endpoints, NodeError, retryDelay } from '../../common/chain/endpoints.js';
import { fetchEvmHeight } from '../../common/chain/evm.js';
import { messageOf } from '../../common/errors.js';
import { sleep } from '../../common/lifecycle.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import type { Holding } from '../store/balance.js';
import { fetchContract } from './denoms.js';
import { type DenomOwner, fetchDenoms, fetchOwners } from './owners.js';
import { fetchAccounts, fetchBankCoins, Refused, StateGone } from './state.js';

/** The state that the index begins with. */
export interface Seed {
  /** Height of the state: later than the first block where the node has pruned that one's. */
  readonly height: number;
  /** Balances, some at a time; every holding once, and those without a balance need not be there. */
  balances(): AsyncIterable<readonly SeedBalance[]>;
}

export interface SeedBalance extends Holding {
  readonly amount: bigint;
  /** What the bank module calls the token; undefined while nobody knows. */
  readonly denom: string | undefined;
}

export interface SeedOptions {
  readonly rest: Endpoints;
  readonly jsonRpc: Endpoints;
  readonly account_prefix: string;
  /** Accounts that are asked for at once. */
  readonly concurrency: number;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  /** Told how far the reading is. */
  readonly onProgress?: ((progress: SeedProgress) => void) | undefined;
}

/** How far the node's state has been read. */
export interface SeedProgress {
  readonly height: number;
  /** Accounts whose balances are read, and balances found. */
  readonly accounts: number;
  readonly balances: number;
}

/** Asks until the node answers; only the signal and pruned state end it. */
async function persist<T>({ log, signal }: SeedOptions, what: string, ask: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (error instanceof StateGone || !(error instanceof NodeError)) throw error;
      if (attempt % 20 === 5) log.warn({ err: error }, `${what}: ${messageOf(error)}`);
      await sleep(retryDelay(attempt), signal);
    }
  }
}

/**
 * The state after the first indexed block, or the latest one where the node no longer has
 * that. Which one it is shows before any balance is given.
 *
 * @throws StateGone from `balances`, when the node prunes the state while it is read: begin anew.
 */
export async function openSeed(options: SeedOptions, first_height: number): Promise<Seed> {
  const height = await persist(options, 'the state to begin with', () => heightToSeed(options, first_height));
  return { height, balances: () => seedBalances(options, height) };
}

async function heightToSeed(options: SeedOptions, first_height: number): Promise<number> {
  const { rest, jsonRpc, account_prefix, log, metrics, signal } = options;
  try {
    for await (const _ of fetchAccounts(rest, first_height, account_prefix, signal)) return first_height;
    return first_height;
  } catch (error) {
    if (!(error instanceof StateGone)) throw error;
    const latest = Math.max(first_height, await fetchEvmHeight(jsonRpc, signal));
    metrics.problems.inc({ service: 'richlist', kind: 'pruned_state' });
    log.warn(
      { first_height, seed_height: latest },
      `the node has pruned the state of the first block: the rich list begins at height ${latest} (${messageOf(error)})`,
    );
    return latest;
  }
}

async function* seedBalances(
  options: SeedOptions,
  height: number,
): AsyncGenerator<SeedBalance[], void, undefined> {
  const { rest, account_prefix, concurrency, log, metrics, signal } = options;
  const seen = new Set<AccountKey>();
  let found = 0;
  const told = (balances: SeedBalance[]): SeedBalance[] => {
    found += balances.length;
    options.onProgress?.({ height, accounts: seen.size, balances: found });
    return balances;
  };
  const contracts = new Map<string, string | undefined>();
  const contractOf = async (denom: string): Promise<string | undefined> => {
    if (!contracts.has(denom)) {
      const found = await persist(options, `the contract of ${denom}`, () =>
        fetchContract(rest, denom, signal),
      );
      contracts.set(denom, found);
      if (found === undefined) {
        metrics.problems.inc({ service: 'richlist', kind: 'denom' });
        log.error({ denom }, 'a denom has no contract and is left out of the rich list');
      }
    }
    return contracts.get(denom);
  };
  // A page is asked for again from its beginning: what was read of it before is dropped.
  const accounts = fetchAccounts(patient(rest, options), height, account_prefix, signal);
  for await (const page of accounts) {
    const left = page.filter(({ account }) => !seen.has(account));
    for (const { account } of left) seen.add(account);
    const balances: SeedBalance[] = [];
    const worker = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        const { account, address } = next;
        const coins = await persist(options, `the balances of ${address}`, () =>
          fetchBankCoins(rest, address, height, signal),
        );
        for (const { denom, amount } of coins) {
          const token = amount === 0n ? undefined : await contractOf(denom);
          if (token !== undefined) balances.push({ token, account, amount, denom });
        }
      }
    };
    await Promise.all(Array.from({ length: concurrency }, worker));
    // The order of answers is chance; the order of rows is not.
    yield told(balances.sort((a, b) => (a.token + a.account < b.token + b.account ? -1 : 1)));
  }
  // The bank also knows holders that have no account: they never signed anything.
  for (const denom of await denomsOf(options, height, contracts.keys())) {
    const listed = new Set<AccountKey>();
    for await (const owners of ownersOf(options, denom, height)) {
      const balances: SeedBalance[] = [];
      for (const { account, amount } of owners) {
        if (amount === 0n || seen.has(account) || listed.has(account)) continue;
        listed.add(account);
        const token = await contractOf(denom);
        if (token !== undefined) balances.push({ token, account, amount, denom });
      }
      if (balances.length > 0) yield told(balances);
    }
  }
}

/** How often a question is asked that the node may not be able to answer, while it answers others. */
const attemptsAtOptional = 4;

/** Every denom that the bank knows, and those that were seen with accounts. */
async function denomsOf(options: SeedOptions, height: number, seen: Iterable<string>): Promise<Set<string>> {
  const denoms = new Set(seen);
  const { rest, signal } = options;
  const found = await optional(options, 'the supply of denoms', () =>
    fetchDenoms(hesitant(rest, options), height, signal),
  );
  for (const denom of found ?? []) denoms.add(denom);
  return denoms;
}

/** The owners of a denom as far as the node tells. */
async function* ownersOf(
  options: SeedOptions,
  denom: string,
  height: number,
): AsyncGenerator<readonly DenomOwner[], void, undefined> {
  const { rest, account_prefix, signal } = options;
  const pages = fetchOwners(hesitant(rest, options), denom, height, account_prefix, signal);
  for (;;) {
    const page = await optional(options, `the owners of ${denom}`, () => pages.next());
    if (page === undefined || page.done) return;
    yield page.value;
  }
}

/** What the node answers; undefined where it cannot, which is said once and counted. */
async function optional<T>(
  { metrics, log, signal }: SeedOptions,
  what: string,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await ask();
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Refused) && !(error instanceof NodeError)) throw error;
    metrics.problems.inc({ service: 'richlist', kind: 'holders_unknown' });
    // Nothing that a person can change, so no warning: the metric tells it.
    log.info(
      `the node does not tell ${what}: holders without an account show once they move (${messageOf(error)})`,
    );
    return undefined;
  }
}

/** The same endpoints, asking again what fails while the node is down, and a few times what it refuses. */
function hesitant(rest: Endpoints, options: SeedOptions): Endpoints {
  return {
    ...rest,
    ask: async (request, read) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await rest.ask(request, read);
        } catch (error) {
          options.signal.throwIfAborted();
          if (!(error instanceof NodeError) || attempt >= attemptsAtOptional) throw error;
          // Only where it answers others is it this question that it cannot answer.
          await persist(options, 'the node', () => fetchEvmHeight(options.jsonRpc, options.signal));
          await sleep(retryDelay(attempt), options.signal);
        }
      }
    },
  };
}

/** The same endpoints, asking each request until it is answered. */
function patient(rest: Endpoints, options: SeedOptions): Endpoints {
  return {
    ...rest,
    ask: (request, read) => persist(options, request.path, () => rest.ask(request, read)),
  };
}
