import type { TablesOptions } from '../../common/consumer/service.js';
import { createOnce } from '../../common/util/lru.js';
import type { RichlistConfig } from '../config.js';
import { createBalances } from '../node/erc20.js';
import { openSeed, type Seed, type SeedBalance, type SeedProgress } from '../node/seed.js';
import { EndlessList } from '../node/state.js';
import type { Reader } from '../read/reader.js';
import type { WriterOptions } from '../tables.js';
import { createEarlierHeals, readEarlierNames, readEarlierSeed } from './earlier.js';
import { createNaming } from './names.js';

export interface WriterEnvironment
  extends Pick<TablesOptions<RichlistConfig>, 'config' | 'rest' | 'jsonRpc' | 'log' | 'metrics' | 'fault'> {
  readonly signal: AbortSignal;
  /** While tables are rebuilt: those in use, which know what only the node could tell. */
  readonly earlier: () => Reader | undefined;
  /** Told how far the state to begin with is read; '' once it is written. */
  readonly onSeeding: (progress: string) => void;
}

/** How long the blocks wait for the denoms of new tokens, and how long not after a failure, in milliseconds. */
const [namePatience_ms, namePause_ms] = [2_000, 30_000];

/**
 * How long a batch of blocks waits for first balances, and how long for those of one token, in milliseconds. What is left
 * is set right when it is compared: contracts whose balances take long must not hold up all others.
 */
const [balanceWait_ms, balancePatience_ms] = [30_000, 5_000];

/** How often the log tells how far the state to begin with is read, in milliseconds. */
const tellSeed_ms = 10_000;

/** What the writer of the tables is given: mostly ways to ask the node. */
export function writerOptions(environment: WriterEnvironment): WriterOptions {
  const { config, rest, jsonRpc, log, metrics, fault, signal, earlier } = environment;
  const seeding = { account_prefix: config.ACCOUNT_ADDRESS_PREFIX, concurrency: config.SEED_CONCURRENCY };
  const nameByNode = createNaming({
    ...{ rest, log, metrics, signal },
    ...{ patience_ms: namePatience_ms, pause_ms: namePause_ms },
  });
  const balances = createBalances({
    ...{ jsonRpc, most: config.BALANCE_BATCH, log, signal },
    ...{ patience_ms: balancePatience_ms, wait_ms: balanceWait_ms },
  });
  const isFirstMisfit = createOnce();
  let told = Number.NEGATIVE_INFINITY;
  const showProgress = ({ height, accounts, balances }: SeedProgress): void =>
    environment.onSeeding(
      `the state to begin with is being read at height ${height}: ${accounts} accounts, ${balances} balances so far`,
    );
  const onProgress = (progress: SeedProgress): void => {
    const { height, accounts, balances } = progress;
    metrics.seededBalances.set(balances);
    showProgress(progress);
    if (performance.now() - told < tellSeed_ms) return;
    told = performance.now();
    log.info({ height, accounts, balances }, 'reading the balances to begin with from the node');
  };
  /** Why the state to begin with cannot be read. Reading it again for hours would end in the same way. */
  let endless: EndlessList | undefined;
  async function* untilEndless(seed: Seed): AsyncGenerator<readonly SeedBalance[], void, undefined> {
    try {
      yield* seed.balances();
    } catch (error) {
      if (error instanceof EndlessList) {
        endless = error;
        const reason = `nothing is indexed until this service starts again with another node: ${error.message}`;
        log.fatal({ err: error }, reason);
        environment.onSeeding(reason);
      }
      throw error;
    }
  }
  return {
    log,
    // Every service has a `write blocks`: the points of this one carry its name.
    fault: fault === undefined ? undefined : (point) => fault(`richlist ${point}`),
    openSeed: async (height) => {
      const known = await readEarlierSeed(earlier(), height);
      if (known !== undefined) return known;
      if (endless !== undefined) throw endless;
      // The first balances may be long in coming.
      showProgress({ height, accounts: 0, balances: 0 });
      const seed = await openSeed({ ...seeding, rest, jsonRpc, log, metrics, signal, onProgress }, height);
      return { height: seed.height, balances: () => untilEndless(seed) };
    },
    onSeeded: () => environment.onSeeding(''),
    earlierHeals: createEarlierHeals(earlier),
    askBalances: async (questions) => {
      try {
        return await balances.ask(questions);
      } catch (error) {
        signal.throwIfAborted();
        // The logs alone are a beginning; comparing sets right what they do not tell.
        metrics.problems.inc({ service: 'richlist', kind: 'first_balance' }, questions.length);
        log.warn(
          { err: error, balances: questions.length },
          'first balances are not known until they are compared',
        );
        return [];
      }
    },
    nameTokens: async (tokens) => {
      const known = await readEarlierNames(earlier(), tokens);
      const unknown = tokens.filter((token) => !known.has(token));
      return unknown.length === 0 ? known : new Map([...known, ...(await nameByNode(unknown))]);
    },
    onMisfit: ({ token, account }, height) => {
      metrics.problems.inc({ service: 'richlist', kind: 'range' });
      if (isFirstMisfit(token))
        log.warn(
          { token: `0x${token}`, account: `0x${account}`, height },
          'the logs of a token lead below zero or beyond uint256',
        );
    },
  };
}
