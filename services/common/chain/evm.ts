import { type SendBatched, sendAlone } from './batch.js';
import { type AnswerBound, type Endpoints, NodeError, parseNodeJson } from './endpoints.js';
import { sliceMember, splitArray, splitArrayAt } from './json.js';

/** JSON-RPC's code for a method that the node does not have or does not allow. */
export const methodNotFound = -32601;

/** A JSON-RPC request's text. */
export const rpcBody = (method: string, params: readonly unknown[], id = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

/** A result as the node wrote it, and as a value. */
export interface EvmResult {
  readonly text: string;
  readonly value: unknown;
}

/**
 * Calls an EVM JSON-RPC method.
 *
 * @throws NodeError, with the node's own code and words for an error answer.
 */
export function callEvm(
  jsonRpc: Endpoints,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<EvmResult> {
  return jsonRpc.ask({ path: '', body: rpcBody(method, params), signal }, (status, body) =>
    readEvmResult(method, status, body),
  );
}

/** How an answer begins when the result is its last member, as nodes write it: then no search is needed. */
const resultLast = /^\{"jsonrpc":"2\.0","id":\d+,"result":/;

/** Reads a result. @throws NodeError */
export function readEvmResult(method: string, status: number, body: string): EvmResult {
  const answer = parseNodeJson(status, body, method) as {
    result?: unknown;
    error?: { code?: number; message?: string };
  } | null;
  if (answer?.error !== undefined && answer.error !== null) {
    const said = String(answer.error.message ?? '');
    throw new NodeError('error_answer', `${method}: ${answer.error.code} ${said.slice(0, 200)}`, {
      code: answer.error.code,
      message: said,
    });
  }
  if (status !== 200 || answer?.result === undefined) {
    throw new NodeError('http_error', `${method}: HTTP ${status} without a result`);
  }
  const prefix = Object.keys(answer).length === 3 ? (resultLast.exec(body)?.[0].length ?? 0) : 0;
  const text =
    prefix > 0 ? body.slice(prefix, body.lastIndexOf('}')).trim() : (sliceMember(body, 'result') ?? 'null');
  return { text, value: answer.result };
}

/** A height as JSON-RPC writes it. */
export const hexHeight = (height: number): string => `0x${height.toString(16)}`;

/** The last height whose EVM index is written: eth_blockNumber. It lags behind consensus. @throws NodeError */
export async function fetchEvmHeight(jsonRpc: Endpoints, signal: AbortSignal): Promise<number> {
  const { value } = await callEvm(jsonRpc, 'eth_blockNumber', [], signal);
  const height = typeof value === 'string' && /^0x[0-9a-f]{1,16}$/i.test(value) ? Number(value) : Number.NaN;
  if (Number.isSafeInteger(height)) return height;
  throw jsonRpc.blame(new NodeError('malformed', 'eth_blockNumber: the answer is no height'));
}

/** A JSON array as the node wrote it, and how many elements it has. */
export interface EvmList {
  readonly text: string;
  readonly count: number;
}

/** The receipts of a block; none also while the index lags. @throws NodeError */
export const fetchReceipts = (
  jsonRpc: Endpoints,
  height: number,
  signal: AbortSignal,
  send: SendBatched = sendAlone,
  bound?: AnswerBound,
): Promise<EvmList> => fetchList(jsonRpc, 'eth_getBlockReceipts', [hexHeight(height)], signal, send, bound);

/** The call traces of a block. @throws NodeError */
export const fetchTraces = (
  jsonRpc: Endpoints,
  height: number,
  signal: AbortSignal,
  send: SendBatched = sendAlone,
  bound?: AnswerBound,
): Promise<EvmList> =>
  fetchList(
    jsonRpc,
    'debug_traceBlockByNumber',
    [hexHeight(height), { tracer: 'callTracer' }],
    signal,
    send,
    bound,
  );

function fetchList(
  jsonRpc: Endpoints,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
  send: SendBatched,
  bound: AnswerBound | undefined,
): Promise<EvmList> {
  const read = (status: number, body: string) => readEvmList(method, status, body);
  return send({
    method,
    params,
    read: (answer) => read(200, answer),
    alone: () => jsonRpc.ask({ path: '', body: rpcBody(method, params), signal, bound }, read),
    signal,
  });
}

/** Reads a list of objects. Where it is written as nodes do it is cut out, not parsed. @throws NodeError */
export function readEvmList(method: string, status: number, body: string): EvmList {
  const { text, elements } = elementsOf(method, status, body);
  if (elements.some((element) => element[0] !== '{'))
    throw new NodeError('malformed', `${method}: an element of the result is no object`);
  return { text, count: elements.length };
}

function elementsOf(
  method: string,
  status: number,
  body: string,
): { readonly text: string; readonly elements: readonly string[] } {
  const start = resultLast.exec(body)?.[0].length ?? 0;
  if (status === 200 && start > 0 && body[start] === '[') {
    try {
      const { elements, end } = splitArrayAt(body, start);
      if (body.slice(end).trim() === '}') return { text: body.slice(start, end), elements };
    } catch (cause) {
      throw new NodeError('not_json', `${method}: the answer is cut`, undefined, { cause });
    }
  }
  const { text, value } = readEvmResult(method, status, body);
  if (value === null) return { text: '[]', elements: [] };
  if (!Array.isArray(value)) throw new NodeError('malformed', `${method}: the result is no list`);
  return { text, elements: splitArray(text) };
}
