import { type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';
import { hexHeight } from '../../common/chain/evm.js';
import type { Holding } from '../store/balance.js';

/** Selector of balanceOf(address). */
const balanceOf = '0x70a08231';

/** A question: the balance of a holding after a block. */
export interface BalanceQuestion extends Holding {
  readonly height: number;
}

/**
 * What came back: the balance; `gone` when the node no longer has that state, or not yet;
 * `unreadable` when the contract does not answer with a number.
 */
export type BalanceAnswer = bigint | 'gone' | 'unreadable';

/** How a node refuses a height, whatever the contract. */
const noSuchState =
  /failed to load state|version does not exist|pruned|lowest height|not available|header not found|missing trie|greater than the latest|not found|future/i;

interface RpcAnswer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown } | null;
}

/**
 * Asks for balances, many in one request (a JSON-RPC batch). A node that refuses so many is
 * asked for half of them, and so on.
 *
 * @param most questions in one request.
 * @returns answers in the order of the questions.
 * @throws NodeError when the node does not answer.
 */
export async function fetchBalances(
  jsonRpc: Endpoints,
  questions: readonly BalanceQuestion[],
  most: number,
  signal: AbortSignal,
): Promise<BalanceAnswer[]> {
  const answers: BalanceAnswer[] = [];
  for (let from = 0; from < questions.length; from += most)
    answers.push(...(await askSome(jsonRpc, questions.slice(from, from + most), signal)));
  return answers;
}

async function askSome(
  jsonRpc: Endpoints,
  questions: readonly BalanceQuestion[],
  signal: AbortSignal,
): Promise<BalanceAnswer[]> {
  const body = JSON.stringify(
    questions.map(({ token, account, height }, id) => ({
      jsonrpc: '2.0',
      id,
      method: 'eth_call',
      params: [{ to: `0x${token}`, data: balanceOf + account.padStart(64, '0') }, hexHeight(height)],
    })),
  );
  try {
    return await jsonRpc.ask({ path: '', body, signal }, (status, text) =>
      readBalances(questions.length, status, text),
    );
  } catch (error) {
    if (questions.length === 1 || signal.aborted) throw error;
    if (!(error instanceof NodeError) || !['error_answer', 'http_error', 'incomplete'].includes(error.reason))
      throw error;
    const half = questions.length >> 1;
    const first = await askSome(jsonRpc, questions.slice(0, half), signal);
    return [...first, ...(await askSome(jsonRpc, questions.slice(half), signal))];
  }
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
    if (answer.error) return noSuchState.test(String(answer.error.message)) ? 'gone' : 'unreadable';
    const word = /^0x[0-9a-f]{64}$/i.exec(String(answer.result))?.[0];
    return word === undefined ? 'unreadable' : BigInt(word);
  });
}
