import type { Endpoints } from '../../common/chain/endpoints.js';
import { fetchEvmHeight } from '../../common/chain/evm.js';
import type { Log } from '../../common/runtime/log.js';
import type { Metrics } from '../../common/runtime/metrics.js';
import { createOnce } from '../../common/util/lru.js';
import { type BalanceAnswer, type BalanceQuestion, createBalances } from '../node/erc20.js';
import { type Holding, holdingKey } from '../store/balance.js';
import type { Compared } from '../store/heal.js';
import type { RichlistStore } from '../store/store.js';

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

/**
 * Makes a function that compares holdings with the node, at the height that both have, and
 * sets those right that differ.
 */
export function createComparison(
  options: CompareOptions,
): (holdings: readonly Holding[]) => Promise<Outcome> {
  const { config, store, jsonRpc, log, metrics, signal } = options;
  const [isFirstDrift, isFirstUnreadable] = [createOnce(), createOnce()];
  const { ask, isGivenUp } = createBalances({ jsonRpc, most: config.BALANCE_BATCH, log, signal });

  const tellUnreadable = ({ token, height }: BalanceQuestion, answer: BalanceAnswer | undefined): void => {
    metrics.problems.inc({ service: 'richlist', kind: 'balance' });
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
      readable(differing, await ask(differing, true)).map((again) => [
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
    let [told, gone] = [0, 0];
    let left = holdings;
    while (!signal.aborted) {
      // A token may have been given up since the batch before.
      left = left.filter(({ token }) => !isGivenUp(token));
      if (left.length === 0) break;
      const outcome = await compareSome(left.slice(0, config.BALANCE_BATCH));
      left = left.slice(config.BALANCE_BATCH);
      told += outcome.told;
      gone += outcome.gone;
    }
    return { told, gone };
  };
}
