import { askInHalves, isTooLarge, smallFirst } from '../../common/chain/batch.js';
import { type AnswerBound, type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';
import { isObject } from '../../common/chain/events.js';
import { createMutex, inParallel, type Mutex } from '../../common/util/concurrency.js';
import type { TextLimits } from '../text-limits.js';
import {
  answer,
  askUntilThere,
  failed,
  isBehind,
  type Outcome,
  read,
  refused,
  unreached,
} from './outcome.js';
import { type DetailSource, smallAnswer } from './source.js';

/** Selectors of name() and tokenURI(uint256). */
const [nameCall, tokenUriCall] = ['0x06fdde03', '0xc87b56dd'];

/** Calls in one JSON-RPC batch, batches at once, and single calls at once where batches are refused. */
const [callsInBatch, batchesAtOnce, callsAtOnce] = [100, 4, 8];

interface Call {
  readonly to: string;
  readonly data: string;
}

/** How the node is asked. */
interface Asking {
  readonly jsonRpc: Endpoints;
  /** Who holds it may hold a large answer. */
  readonly alone: Mutex;
  /** See `DetailSource`. */
  readonly height: number;
  readonly signal: AbortSignal;
}

/** Asks contracts over JSON-RPC, many in one request. */
export function evmSource(
  jsonRpc: Endpoints,
  { NFT_NAME_BYTES, NFT_URI_BYTES }: Pick<TextLimits, 'NFT_NAME_BYTES' | 'NFT_URI_BYTES'>,
): DetailSource {
  const alone = createMutex();
  return {
    async collections(collections, height, signal) {
      const calls = collections.map((collection) => ({ to: `0x${collection}`, data: nameCall }));
      return callAll({ jsonRpc, alone, height, signal }, calls, (outcome) =>
        read(
          outcome,
          (data) => asCollection(decodeText(data, NFT_NAME_BYTES)),
          'name() does not return a text',
        ),
      );
    },
    async uris(tokens, height, signal) {
      const calls = tokens.map(({ collection, token_id }) => ({
        to: `0x${collection}`,
        data: tokenUriCall + encodeNumber(token_id),
      }));
      return callAll({ jsonRpc, alone, height, signal }, calls, (outcome) =>
        read(outcome, (data) => decodeText(data, NFT_URI_BYTES), 'tokenURI() does not return a text'),
      );
    },
  };
}

const asCollection = (name: string | undefined) =>
  name === undefined ? undefined : { name, creator: '' as const };

/** @param take reads an outcome, at once: what a contract returns may be a thousand times what is wanted of it. */
async function callAll<T>(
  asking: Asking,
  calls: readonly Call[],
  take: (outcome: Outcome<string>) => Outcome<T>,
): Promise<Outcome<T>[]> {
  const batches: Call[][] = [];
  for (let start = 0; start < calls.length; start += callsInBatch)
    batches.push(calls.slice(start, start + callsInBatch));
  const outcomes = await inParallel(batches, batchesAtOnce, (batch) =>
    askInHalves(batch, async (some) => (await callBatch(asking, some, some.length < batch.length)).map(take)),
  );
  return outcomes.flat();
}

/**
 * Sends some calls together. A whole batch fails with one call that runs too long, and some nodes take none: then one by one.
 *
 * @param isPart whether they come from a batch whose answer was too large.
 * @throws NodeError too_large for several calls: they are to be sent in halves.
 */
async function callBatch(
  asking: Asking,
  calls: readonly Call[],
  isPart: boolean,
): Promise<Outcome<string>[]> {
  if (calls.length === 1) return [(await callOne(asking, calls[0] as Call, isPart)).outcome];
  try {
    return await request(asking, calls, smallAnswer);
  } catch (error) {
    if (isTooLarge(error)) throw error;
    if (isBehind(error) || asking.signal.aborted) return calls.map(() => failed(error));
  }
  const single = await inParallel(calls, callsAtOnce, (call) => callOne(asking, call));
  // Where the node answers others, it is the call that it cannot answer; unless it was asked of a
  // node that does not have the block.
  const isUp = single.some(({ outcome }) => outcome.is !== 'unreached');
  return single.map(({ outcome, isBehind }) =>
    isUp && outcome.is === 'unreached' && !isBehind ? refused(outcome.why) : outcome,
  );
}

/** @param isLarge whether its answer is probably large. */
async function callOne(asking: Asking, call: Call, isLarge = false): Promise<Single> {
  const ask = (bound?: AnswerBound) => request(asking, [call], bound);
  try {
    const [outcome] = await (isLarge ? asking.alone(ask) : smallFirst(smallAnswer, asking.alone, ask));
    return { outcome: outcome ?? unreached('no answer'), isBehind: false };
  } catch (error) {
    return { outcome: failed(error), isBehind: isBehind(error) };
  }
}

/** What came of a call that was sent by itself. */
interface Single {
  readonly outcome: Outcome<string>;
  readonly isBehind: boolean;
}

/** Sends calls, with the question how far the node is in front of them: what a node that is behind says is old. @throws NodeError */
function request(
  { jsonRpc, height, signal }: Asking,
  calls: readonly Call[],
  bound: AnswerBound | undefined,
): Promise<Outcome<string>[]> {
  const questions = [
    { jsonrpc: '2.0', id: 0, method: 'eth_blockNumber', params: [] },
    ...calls.map((call, index) => ({
      jsonrpc: '2.0',
      id: index + 1,
      method: 'eth_call',
      params: [call, 'latest'],
    })),
  ];
  const ask = () =>
    jsonRpc.ask({ path: '', body: JSON.stringify(questions), signal, bound }, (status, body) =>
      readAnswers(calls.length, height, status, body),
    );
  return askUntilThere(ask, signal);
}

/**
 * Reads the answers of a batch.
 *
 * @throws NodeError when it is none, or the node is behind: then its answers may be old ones.
 */
export function readAnswers(calls: number, height: number, status: number, body: string): Outcome<string>[] {
  const answers: unknown = parseNodeJson(status, body, 'eth_call');
  if (!Array.isArray(answers)) throw new NodeError('error_answer', `eth_call: HTTP ${status} and no batch`);
  const byId = new Map(answers.filter(isObject).map((one) => [one['id'], one]));
  const tip = Number(byId.get(0)?.['result']);
  if (!Number.isSafeInteger(tip)) throw new NodeError('incomplete', 'eth_blockNumber: no number');
  if (tip < height) throw new NodeError('behind', `eth_call: the node is at ${tip}, below ${height}`);
  return Array.from({ length: calls }, (_, index) => {
    const one = byId.get(index + 1);
    if (typeof one?.['result'] === 'string') return answer(one['result']);
    const { error } = one ?? {};
    return refused(isObject(error) ? String(error['message']) : 'no answer');
  });
}

const word = 64;

/** A number of 32 bytes; undefined when it is too large to be an offset or a length. */
function numberAt(data: string, at: number): number | undefined {
  const text = data.slice(2 + at, 2 + at + word);
  if (text.length !== word || !/^0*[0-9a-f]{0,12}$/i.test(text)) return undefined;
  return Number.parseInt(text.slice(-12), 16);
}

/**
 * The text that a contract returned: a string, or as some old contracts have it 32 bytes that
 * end in zeros. Bytes that are no UTF-8 become replacement characters. undefined for anything
 * else, such as the empty answer of an address without code.
 *
 * @param most bytes that are wanted; of a longer text the beginning is given, somewhat longer than that.
 */
export function decodeText(data: string, most: number): string | undefined {
  if (!data.startsWith('0x') || data.length < word + 2) return undefined;
  if (data.length === word + 2) return textOf(data.slice(2).replace(/(?:00)+$/, ''));
  const offset = numberAt(data, 0);
  const length = offset === undefined ? undefined : numberAt(data, offset * 2);
  if (offset === undefined || length === undefined) return undefined;
  const from = 2 + offset * 2 + word;
  if (from + length * 2 > data.length) return undefined;
  // One byte more tells that it is longer, and a character may lie across the end.
  return textOf(data.slice(from, from + Math.min(length, most + 4) * 2));
}

const textOf = (digits: string): string | undefined =>
  /^[0-9a-f]*$/i.test(digits) ? Buffer.from(digits, 'hex').toString('utf8') : undefined;

/** A token id as an argument. */
export const encodeNumber = (token_id: string): string => BigInt(token_id).toString(16).padStart(word, '0');
