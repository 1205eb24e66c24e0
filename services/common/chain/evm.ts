import { type Endpoints, NodeError, parseNodeJson } from './endpoints.js';
import { sliceMember } from './json.js';

/** JSON-RPC's code for a method that the node does not have or does not allow. */
export const methodNotFound = -32601;

/** A JSON-RPC request's text. */
export const rpcBody = (method: string, params: readonly unknown[], id = 1): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });

/**
 * Calls an EVM JSON-RPC method and gives the text of `result`, as the node wrote it.
 *
 * @throws NodeError, with the node's own code and words for an error answer.
 */
export function callEvm(
  jsonRpc: Endpoints,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal,
): Promise<string> {
  return jsonRpc.ask({ path: '', body: rpcBody(method, params), signal }, (status, body) =>
    readEvmResult(method, status, body),
  );
}

/** Reads the text of `result`. @throws NodeError */
export function readEvmResult(method: string, status: number, body: string): string {
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
  const result = answer?.result === undefined ? undefined : sliceMember(body, 'result');
  if (status !== 200 || result === undefined)
    throw new NodeError('http_error', `${method}: HTTP ${status} without a result`);
  return result;
}

/** A height as JSON-RPC writes it. */
export const hexHeight = (height: number): string => `0x${height.toString(16)}`;

/** The last height whose EVM index is written: eth_blockNumber. It lags behind consensus. @throws NodeError */
export async function fetchEvmHeight(jsonRpc: Endpoints, signal: AbortSignal): Promise<number> {
  return Number(JSON.parse(await callEvm(jsonRpc, 'eth_blockNumber', [], signal)));
}

/** The receipts of a block as a JSON array's text; `[]` also while the index lags. @throws NodeError */
export async function fetchReceipts(
  jsonRpc: Endpoints,
  height: number,
  signal: AbortSignal,
): Promise<string> {
  const text = await callEvm(jsonRpc, 'eth_getBlockReceipts', [hexHeight(height)], signal);
  return text === 'null' ? '[]' : text;
}

/** The call traces of a block as a JSON array's text. @throws NodeError */
export async function fetchTraces(jsonRpc: Endpoints, height: number, signal: AbortSignal): Promise<string> {
  const text = await callEvm(
    jsonRpc,
    'debug_traceBlockByNumber',
    [hexHeight(height), { tracer: 'callTracer' }],
    signal,
  );
  return text === 'null' ? '[]' : text;
}
