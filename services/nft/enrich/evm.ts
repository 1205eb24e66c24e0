import { type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';
import { isObject } from '../../common/chain/events.js';
import { messageOf } from '../../common/errors.js';
import { decodeText, encodeNumber } from './abi.js';
import { askUntilThere, isBehind } from './behind.js';
import { answer, inParallel, type Outcome, read, refused, unreached } from './outcome.js';
import type { DetailSource } from './source.js';

/** Selectors of name() and tokenURI(uint256). */
const [nameCall, tokenUriCall] = ['0x06fdde03', '0xc87b56dd'];

/** Calls in one JSON-RPC batch, batches at once, and single calls at once where batches are refused. */
const [callsInBatch, batchesAtOnce, callsAtOnce] = [100, 4, 8];

interface Call {
  readonly to: string;
  readonly data: string;
}

/** Asks contracts over JSON-RPC, many in one request. */
export function evmSource(jsonRpc: Endpoints): DetailSource {
  return {
    async collections(collections, height, signal) {
      const calls = collections.map((collection) => ({ to: `0x${collection}`, data: nameCall }));
      const outcomes = await callAll(jsonRpc, calls, height, signal);
      return outcomes.map((outcome) =>
        read(outcome, (data) => asCollection(decodeText(data)), 'name() does not return a text'),
      );
    },
    async uris(tokens, height, signal) {
      const calls = tokens.map(({ collection, token_id }) => ({
        to: `0x${collection}`,
        data: tokenUriCall + encodeNumber(token_id),
      }));
      const outcomes = await callAll(jsonRpc, calls, height, signal);
      return outcomes.map((outcome) => read(outcome, decodeText, 'tokenURI() does not return a text'));
    },
  };
}

const asCollection = (name: string | undefined) =>
  name === undefined ? undefined : { name, creator: '' as const };

async function callAll(
  jsonRpc: Endpoints,
  calls: readonly Call[],
  height: number,
  signal: AbortSignal,
): Promise<Outcome<string>[]> {
  const batches: Call[][] = [];
  for (let start = 0; start < calls.length; start += callsInBatch)
    batches.push(calls.slice(start, start + callsInBatch));
  const outcomes = await inParallel(batches, batchesAtOnce, (batch) =>
    callBatch(jsonRpc, batch, height, signal),
  );
  return outcomes.flat();
}

/** A whole batch fails with one call that runs too long, and some nodes take none: then one by one. */
async function callBatch(
  jsonRpc: Endpoints,
  calls: readonly Call[],
  height: number,
  signal: AbortSignal,
): Promise<Outcome<string>[]> {
  try {
    return await request(jsonRpc, calls, height, signal);
  } catch (error) {
    if (calls.length === 1 || isBehind(error) || signal.aborted)
      return calls.map(() => unreached(messageOf(error)));
  }
  const single = await inParallel(calls, callsAtOnce, async (call): Promise<Single> => {
    try {
      const [outcome] = await request(jsonRpc, [call], height, signal);
      return { outcome: outcome ?? unreached('no answer'), isBehind: false };
    } catch (error) {
      return { outcome: unreached(messageOf(error)), isBehind: isBehind(error) };
    }
  });
  // Where the node answers others, it is the call that it cannot answer; unless it was asked of a
  // node that does not have the block.
  const isUp = single.some(({ outcome }) => outcome.is !== 'unreached');
  return single.map(({ outcome, isBehind }) =>
    isUp && outcome.is === 'unreached' && !isBehind ? refused(outcome.why) : outcome,
  );
}

/** What came of a call that was sent by itself. */
interface Single {
  readonly outcome: Outcome<string>;
  readonly isBehind: boolean;
}

/** Sends calls, with the question how far the node is in front of them: what a node that is behind says is old. @throws NodeError */
function request(
  jsonRpc: Endpoints,
  calls: readonly Call[],
  height: number,
  signal: AbortSignal,
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
    jsonRpc.ask({ path: '', body: JSON.stringify(questions), signal }, (status, body) =>
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
