import type { AccountKey } from '../../common/chain/address.js';
import { type Endpoints, NodeError, retryDelay } from '../../common/chain/endpoints.js';
import { fetchEvmHeight } from '../../common/chain/evm.js';
import { messageOf, TryAgainError } from '../../common/runtime/errors.js';
import { sleep } from '../../common/runtime/lifecycle.js';
import type { Log } from '../../common/runtime/log.js';
import type { Metrics } from '../../common/runtime/metrics.js';
import { inParallel } from '../../common/util/concurrency.js';
import { createLru } from '../../common/util/lru.js';
import type { Holding } from '../store/balance.js';
import { contractInDenom, type DenomOwner, fetchContract, fetchDenoms, fetchOwners } from './denoms.js';
import {
  type BankCoin,
  EndlessList,
  fetchAccounts,
  fetchBankCoins,
  mostDenoms,
  Refused,
  StateGone,
} from './state.js';

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
  /** Denoms held by accounts above which holders without an account are not looked for. Default: a million. */
  readonly denoms_held?: number | undefined;
  /** How often a further page of a list is asked for while the node answers other questions. Default: for about a minute. */
  readonly attempts_at_page?: number | undefined;
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

/** Asks until the node answers; only the signal, pruned state and a list without end end it. */
async function persist<T>({ log, signal }: SeedOptions, what: string, ask: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt++) {
    signal.throwIfAborted();
    try {
      return await ask();
    } catch (error) {
      if (error instanceof EndlessList || !(error instanceof NodeError)) throw error;
      if (attempt % 20 === 5) log.warn({ err: error }, `${what}: ${messageOf(error)}`);
      await sleep(retryDelay(attempt), signal);
    }
  }
}

/**
 * The state after the first indexed block, or the latest one where the node no longer has
 * that. Which one it is shows before any balance is given.
 *
 * @throws StateGone from `balances`, when the node prunes the state while it is read: begin again.
 * @throws EndlessList from `balances`, when the node's list of accounts or of what one holds has no end.
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

/** Contracts of denoms that are kept; the others are asked for again. */
const contractsKept = 100_000;

/** Once so many balances are read, they are given before further accounts are asked for: an account may hold a thousand. */
const balancesAtOnce = 10_000;

async function* seedBalances(
  options: SeedOptions,
  height: number,
): AsyncGenerator<SeedBalance[], void, undefined> {
  const { rest, account_prefix, concurrency, log, metrics, signal, denoms_held = mostDenoms } = options;
  const seen = new Set<AccountKey>();
  const isNew = ({ account }: { readonly account: AccountKey }): boolean => {
    const before = seen.size;
    return seen.add(account).size > before;
  };
  let [read, found] = [0, 0];
  const told = (balances: SeedBalance[]): SeedBalance[] => {
    found += balances.length;
    options.onProgress?.({ height, accounts: read, balances: found });
    return balances;
  };
  const contracts = createLru<string, { readonly contract: string | undefined }>(contractsKept);
  const askContract = async (denom: string): Promise<string | undefined> => {
    const kept = contracts.get(denom);
    if (kept !== undefined) return kept.contract;
    const contract = await persist(options, `the contract of ${denom}`, () =>
      fetchContract(rest, denom, signal),
    );
    contracts.set(denom, { contract });
    if (contract === undefined) {
      metrics.problems.inc({ service: 'richlist', kind: 'denom' });
      log.error({ denom }, 'a denom has no contract and is left out of the rich list');
    }
    return contract;
  };
  const contractOf = async (denom: string): Promise<string | undefined> =>
    contractInDenom(denom) ?? (await askContract(denom));
  /** Denoms that accounts hold; undefined once they are too many. */
  let held: Set<string> | undefined = new Set();
  // A page is asked for again from its beginning: what was read of it before is dropped.
  const accounts = fetchAccounts(patient(rest, options), height, account_prefix, signal);
  const balancesOf = async (account: AccountKey, coins: readonly BankCoin[]): Promise<SeedBalance[]> => {
    const balances: SeedBalance[] = [];
    for (const { denom, amount } of coins) {
      const token = amount === 0n ? undefined : await contractOf(denom);
      if (token === undefined) continue;
      balances.push({ token, account, amount, denom });
      held?.add(denom);
      if (held !== undefined && held.size > denoms_held) held = undefined;
    }
    return balances;
  };
  for await (const page of accounts) {
    for (let left = page.filter(isNew); left.length > 0; ) {
      const balances: SeedBalance[] = [];
      /** What follows the first page of each account: nothing, for nearly all. */
      const further: { account: AccountKey; pages: AsyncIterable<readonly BankCoin[]> }[] = [];
      const askFirst = async ({ account, address }: (typeof left)[number]): Promise<void> => {
        const pages = fetchBankCoins(patient(rest, options), address, height, signal);
        const first = await pages.next();
        if (first.done) return;
        for (const balance of await balancesOf(account, first.value)) balances.push(balance);
        further.push({ account, pages });
      };
      const isEnough = (): boolean => balances.length >= balancesAtOnce;
      const { length } = await inParallel(left, concurrency, askFirst, isEnough);
      left = left.slice(length);
      read += length;
      // The order of answers is chance; the order of rows is not.
      yield told(balances.sort((a, b) => (a.token + a.account < b.token + b.account ? -1 : 1)));
      for (const { account, pages } of further)
        for await (const coins of pages) yield told(await balancesOf(account, coins));
    }
  }
  // The bank also knows holders that have no account: they never signed anything.
  if (held === undefined) {
    tellUnknown(options, `holders denom by denom: accounts hold more than ${denoms_held} denoms`);
    return;
  }
  for (const denom of await denomsOf(options, height, held)) {
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

/** The denoms that accounts hold, and those that the bank knows, as far as the node lists them. */
async function denomsOf(options: SeedOptions, height: number, held: Set<string>): Promise<Set<string>> {
  const denoms = new Set(held);
  const pages = fetchDenoms(hesitant(options.rest, options), height, options.signal);
  for await (const page of asFarAs(options, 'the supply of denoms', pages))
    for (const denom of page) denoms.add(denom);
  return denoms;
}

/** The owners of a denom, as far as the node lists them. */
function ownersOf(
  options: SeedOptions,
  denom: string,
  height: number,
): AsyncGenerator<readonly DenomOwner[], void, undefined> {
  const { rest, account_prefix, signal } = options;
  const pages = fetchOwners(hesitant(rest, options), denom, height, account_prefix, signal);
  return asFarAs(options, `the owners of ${denom}`, pages);
}

/** The pages until the node cannot answer, which is said once and counted. */
async function* asFarAs<T>(
  options: SeedOptions,
  what: string,
  pages: AsyncIterable<T>,
): AsyncGenerator<T, void, undefined> {
  try {
    yield* pages;
  } catch (error) {
    options.signal.throwIfAborted();
    if (!(error instanceof Refused) && !(error instanceof NodeError)) throw error;
    tellUnknown(options, `${what} (${messageOf(error)})`);
  }
}

/** Nothing that a person can change, so no warning: the metric shows it. */
function tellUnknown({ metrics, log }: SeedOptions, what: string): void {
  metrics.problems.inc({ service: 'richlist', kind: 'holders_unknown' });
  log.info(`holders without an account show once they move, since these are not known: ${what}`);
}

/** The same endpoints, asking again what fails while the node is down, and so many times what it refuses. */
function hesitant(rest: Endpoints, options: SeedOptions, attempts = attemptsAtOptional): Endpoints {
  return {
    ...rest,
    ask: async (request, read) => {
      for (let attempt = 1; ; attempt++) {
        try {
          return await rest.ask(request, read);
        } catch (error) {
          options.signal.throwIfAborted();
          if (!(error instanceof NodeError) || error instanceof EndlessList || attempt >= attempts)
            throw error;
          // Only where it answers others is it this question that it cannot answer.
          await persist(options, 'the node', () => fetchEvmHeight(options.jsonRpc, options.signal));
          await sleep(retryDelay(attempt), options.signal);
        }
      }
    },
  };
}

/** About a minute. */
const attemptsAtPage = 18;

/**
 * The same endpoints, asking each request until it is answered. A further page that the node does not have begins with a key
 * that was none: whoever gave it, the whole list has to be asked for again.
 */
function patient(rest: Endpoints, options: SeedOptions): Endpoints {
  const further = hesitant(rest, options, options.attempts_at_page ?? attemptsAtPage);
  return {
    ...rest,
    async ask(request, read) {
      if (!request.path.includes('pagination.key='))
        return persist(options, request.path, () => rest.ask(request, read));
      try {
        return await further.ask(request, read);
      } catch (error) {
        options.signal.throwIfAborted();
        if (!(error instanceof NodeError) || error instanceof EndlessList) throw error;
        throw new TryAgainError(`the state to begin with is asked for anew: ${messageOf(error)}`, {
          cause: error,
        });
      }
    },
  };
}
