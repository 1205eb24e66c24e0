import { type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';
import { fetchEvmHeight, hexHeight } from '../../common/chain/evm.js';
import { messageOf } from '../../common/runtime/errors.js';
import type { Log } from '../../common/runtime/log.js';
import { groupBy } from '../../common/util/chunk.js';
import { inParallel } from '../../common/util/concurrency.js';
import { createLru } from '../../common/util/lru.js';
import { within } from '../../common/util/signal.js';
import type { Holding } from '../store/balance.js';

/** Selector of balanceOf(address). */
const balanceOf = '0x70a08231';

/** A question: the balance of a holding after a block. */
export interface BalanceQuestion extends Holding {
  readonly height: number;
}

/**
 * What came back: the balance; `gone` when the node no longer has that state, or not yet;
 * `unreadable` when the contract does not answer with a number; `unanswered` when the node,
 * which answers otherwise, does not answer this (a contract that runs without end).
 */
export type BalanceAnswer = bigint | 'gone' | 'unreadable' | 'unanswered';

/** How a node refuses a height, whatever the contract. */
const noSuchState =
  /failed to load state|version does not exist|pruned|lowest height|not available|header not found|missing trie|greater than the latest|not found|future/i;

interface RpcAnswer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown } | null;
}

/** What balances are asked for with. */
export interface BalanceOptions {
  readonly jsonRpc: Endpoints;
  /** Questions in one request. */
  readonly most: number;
  readonly log: Log;
  readonly signal: AbortSignal;
  /**
   * How long a request for the balances of several tokens may take, and how long those of one token are asked for at a
   * stretch, once they are asked for apart, in milliseconds. Default: 20 s.
   */
  readonly patience_ms?: number | undefined;
  /**
   * How long one call of `ask` may take, in milliseconds: what has not come by then is `unanswered`, of whichever token it
   * is. A little more where the node itself is slow. Default: as long as it takes.
   */
  readonly wait_ms?: number | undefined;
}

/** Asks the node for balances. */
export interface Balances {
  /**
   * Asks many in one request (a JSON-RPC batch). Where a request fails at a node which is there otherwise, each token is
   * asked for apart, in requests as large as the node answers in time.
   *
   * @param evenResting asks also for tokens that rest: they have answered these questions a moment ago.
   * @returns answers in the order of the questions.
   * @throws NodeError when the node does not answer anything.
   */
  ask(questions: readonly BalanceQuestion[], evenResting?: boolean): Promise<BalanceAnswer[]>;
  /** Whether a token is not asked for at the moment: then its balances are `unanswered`. */
  isGivenUp(token: string): boolean;
}

/** A token of which a single question fails is given up for so long, in milliseconds. */
const givenUp_ms = 600_000;

/** A token that answers but not in time rests so many times as long as it was asked: it takes a tenth of the time. */
const restFactor = 9;

/** How long it is remembered that a token needs small requests, in milliseconds. */
const remembered_ms = 3_600_000;

/** Tokens that are asked for apart at the same time. */
const tokensAtOnce = 4;

/** Makes what asks for balances. One token, whatever its contract does, holds up the others for seconds at most. */
export function createBalances(options: BalanceOptions): Balances {
  const { jsonRpc, most, log, signal, patience_ms = 20_000, wait_ms } = options;
  const passedOver = createLru<string, 'given up' | 'rests'>(10_000);
  /** Questions in one request, for tokens that answer slowly. They are asked for apart from the beginning. */
  const sizes = createLru<string, number>(10_000, { ttl: remembered_ms });

  const passOver = (token: string, how: 'given up' | 'rests', ttl: number, why: string): void => {
    log[how === 'rests' ? 'info' : 'warn'](
      { token: `0x${token}`, seconds: Math.round(ttl / 1_000) },
      `the balances of a token are not asked for during the next seconds: ${why}`,
    );
    passedOver.set(token, how, { ttl: Math.max(1, ttl) });
  };

  const askOnce = (
    questions: readonly BalanceQuestion[],
    until: AbortSignal,
    onAnswer?: (took_ms: number) => void,
  ): Promise<BalanceAnswer[]> => {
    const body = JSON.stringify(
      questions.map(({ token, account, height }, id) => ({
        jsonrpc: '2.0',
        id,
        method: 'eth_call',
        params: [{ to: `0x${token}`, data: balanceOf + account.padStart(64, '0') }, hexHeight(height)],
      })),
    );
    return jsonRpc.ask({ path: '', body, signal: until, onAnswer }, (status, text) =>
      readBalances(questions.length, status, text),
    );
  };

  /**
   * The balances of one token, as far as they come in time. Requests begin small and double while they are quick, since the
   * large ones cost a whole deadline where they fail.
   */
  const askToken = async (
    token: string,
    questions: readonly BalanceQuestion[],
    until: AbortSignal,
  ): Promise<BalanceAnswer[]> => {
    const answers: BalanceAnswer[] = [];
    let [size, largest, spent_ms] = [sizes.get(token) ?? 1, most, 0];
    while (answers.length < questions.length) {
      if (spent_ms >= patience_ms || until.aborted) {
        const why = `${answers.length} of ${questions.length} took ${Math.round(spent_ms)} ms`;
        passOver(token, 'rests', spent_ms * restFactor, why);
        break;
      }
      const some = questions.slice(answers.length, answers.length + size);
      const began = performance.now();
      let took_ms = 0;
      try {
        for (const answer of await askOnce(some, until, (ms) => {
          took_ms = ms;
        }))
          answers.push(answer);
        spent_ms += took_ms;
        if (took_ms <= patience_ms / 8) size = Math.min(largest, size * 2);
        else {
          if (took_ms > patience_ms / 4) size = Math.ceil(some.length / 2);
          sizes.set(token, size);
        }
      } catch (error) {
        signal.throwIfAborted();
        if (!(error instanceof NodeError)) throw error;
        spent_ms += performance.now() - began;
        if (until.aborted) continue; // it rests: else it would be asked as long again with the next blocks
        // Throws where the node is down, which says nothing of the token.
        await fetchEvmHeight(jsonRpc, signal);
        if (some.length === 1) {
          passOver(token, 'given up', givenUp_ms, messageOf(error));
          break;
        }
        largest = some.length >> 1;
        size = largest;
        sizes.set(token, size);
      }
    }
    return answers;
  };

  /** Asks for each token apart, and puts what is answered into its place. */
  const askApart = async (
    questions: readonly BalanceQuestion[],
    indexes: readonly number[],
    answers: BalanceAnswer[],
    until: AbortSignal,
  ): Promise<void> => {
    const byToken = groupBy(indexes, (index) => (questions[index] as BalanceQuestion).token);
    const askOne = async ([token, own]: readonly [string, readonly number[]]): Promise<void> => {
      const some = own.map((index) => questions[index] as BalanceQuestion);
      for (const [n, answer] of (await askToken(token, some, until)).entries())
        answers[own[n] as number] = answer;
    };
    await inParallel([...byToken], tokensAtOnce, askOne, () => until.aborted);
  };

  return {
    isGivenUp: (token) => passedOver.has(token),
    async ask(questions, evenResting = false) {
      const answers = new Array<BalanceAnswer>(questions.length).fill('unanswered');
      const slow: number[] = [];
      const until = wait_ms === undefined ? signal : within(wait_ms, signal);
      for (let next = 0; next < questions.length && !until.aborted; ) {
        const some: number[] = [];
        // What a token is like may have shown with the request before.
        for (; next < questions.length && some.length < most; next++) {
          const { token } = questions[next] as BalanceQuestion;
          const how = passedOver.get(token);
          if (how === 'given up' || (how === 'rests' && !evenResting)) continue;
          (sizes.has(token) ? slow : some).push(next);
        }
        if (some.length === 0) break;
        try {
          const asked = some.map((index) => questions[index] as BalanceQuestion);
          const got = await askOnce(asked, within(patience_ms, until));
          for (const [n, index] of some.entries()) answers[index] = got[n] as BalanceAnswer;
        } catch (error) {
          if (!(error instanceof NodeError) || signal.aborted) throw error;
          if (until.aborted) break;
          await fetchEvmHeight(jsonRpc, signal); // throws where the node is down
          await askApart(questions, some, answers, until);
        }
      }
      await askApart(questions, slow, answers, until);
      signal.throwIfAborted();
      const unanswered = answers.filter((answer) => answer === 'unanswered').length;
      if (until.aborted && unanswered > 0)
        log.warn(
          { unanswered, of: questions.length },
          'balances take too long: what is left is not waited for',
        );
      return answers;
    },
  };
}

/** Reads the answer to a batch. @throws NodeError unless it holds one answer to each question. */
export function readBalances(count: number, status: number, text: string): BalanceAnswer[] {
  const parsed = parseNodeJson(status, text, 'eth_call');
  if (!Array.isArray(parsed)) {
    const said = String((parsed as RpcAnswer | null)?.error?.message ?? '').slice(0, 200);
    throw new NodeError('error_answer', `eth_call: HTTP ${status} and no answers: ${said}`);
  }
  const byId = new Map((parsed as (RpcAnswer | null)[]).map((answer) => [answer?.id, answer]));
  return Array.from({ length: count }, (_, id) => {
    const answer = byId.get(id);
    if (!answer || (answer.result === undefined && !answer.error))
      throw new NodeError('incomplete', `eth_call: question ${id} of ${count} has no answer`);
    if (answer.error) {
      const said = String(answer.error.message);
      return noSuchState.test(said) && !/revert/i.test(said) ? 'gone' : 'unreadable';
    }
    const word = /^0x[0-9a-f]{64}$/i.exec(String(answer.result))?.[0];
    return word === undefined ? 'unreadable' : BigInt(word);
  });
}
