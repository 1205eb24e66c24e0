import type { Endpoints } from '../../common/chain/endpoints.js';
import { fetchEvmHeight } from '../../common/chain/evm.js';
import type { Log } from '../../common/log.js';
import { createLru } from '../../common/lru.js';
import type { Metrics } from '../../common/metrics.js';
import { type BalanceAnswer, type BalanceQuestion, fetchBalances } from '../node/erc20.js';
import { type Holding, holdingKey } from '../store/balance.js';
import type { Compared } from '../store/heal.js';
import type { RichlistStore } from '../store/store.js';
import { createOnce } from './once.js';

export interface CompareOptions {
  readonly config: { readonly BALANCE_BATCH: number };
  readonly store: RichlistStore;
  readonly jsonRpc: Endpoints;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
}

/** How a comparison went: balances that the node told, and states that it said it does not have. */
export interface Outcome {
  readonly told: number;
  readonly gone: number;
}

/** A token whose contract kept the node from answering is left alone for so long, in milliseconds. */
const muted_ms = 600_000;

/**
 * Makes a function that compares holdings with the node, at the height that both have, and
 * sets those right that differ.
 */
export function createComparison(
  options: CompareOptions,
): (holdings: readonly Holding[]) => Promise<Outcome> {
  const { config, store, jsonRpc, log, metrics, signal } = options;
  const [isFirstDrift, isFirstUnreadable] = [createOnce(), createOnce()];
  const muted = createLru<string, true>(10_000, { ttl: muted_ms });
  const ask = (questions: readonly BalanceQuestion[]): Promise<BalanceAnswer[]> =>
    fetchBalances(jsonRpc, questions, config.BALANCE_BATCH, signal);

  const tellUnreadable = ({ token, height }: BalanceQuestion, answer: BalanceAnswer | undefined): void => {
    metrics.problems.inc({ service: 'richlist', kind: 'balance' });
    if (answer === 'unanswered') muted.set(token, true);
    if (isFirstUnreadable(token))
      log.warn(
        { token: `0x${token}`, height, answer },
        'a contract does not tell balances: its logs are trusted',
      );
  };

  const readable = (questions: readonly BalanceQuestion[], answers: readonly BalanceAnswer[]): Compared[] =>
    questions.flatMap((question, index) => {
      const amount = answers[index];
      if (typeof amount === 'bigint') return [{ ...question, amount }];
      tellUnreadable(question, amount);
      return [];
    });

  const compareSome = async (holdings: readonly Holding[]): Promise<Outcome> => {
    const { position, revision } = store;
    // The index behind JSON-RPC lags behind the blocks.
    const height = Math.min(position.height, await fetchEvmHeight(jsonRpc, signal));
    const questions = holdings.map(({ token, account }) => ({ token, account, height }));
    const answers = await ask(questions);
    const told = readable(questions, answers);
    metrics.comparedBalances.inc(told.length);
    const outcome = { told: told.length, gone: answers.filter((answer) => answer === 'gone').length };
    const differing = await store.differing(told, revision);
    if (differing.length === 0) return outcome;
    // A wrong answer must not become a wrong row: only what is said twice is believed.
    const said = new Map(
      readable(differing, await ask(differing)).map((again) => [
        holdingKey(again.token, again.account),
        again.amount,
      ]),
    );
    const confirmed = differing.filter(
      ({ token, account, amount }) => said.get(holdingKey(token, account)) === amount,
    );
    for (const { token, account } of await store.heal(confirmed, revision)) {
      metrics.healedBalances.inc();
      if (isFirstDrift(token))
        log.warn(
          { token: `0x${token}`, account: `0x${account}`, height },
          'the logs of a token do not tell the truth about its balances: they are set right as the node says',
        );
    }
    return outcome;
  };

  return async (holdings) => {
    const asked = holdings.filter(({ token }) => !muted.has(token));
    let [told, gone] = [0, 0];
    for (let from = 0; from < asked.length && !signal.aborted; from += config.BALANCE_BATCH) {
      const outcome = await compareSome(asked.slice(from, from + config.BALANCE_BATCH));
      told += outcome.told;
      gone += outcome.gone;
    }
    return { told, gone };
  };
}
