import { elements, members } from './json.js';
import { rawTxs } from './recording.js';
import type { Answer, BlockBodies } from './types.js';
import { cachedBody, type View } from './view.js';

/** Outcome of an RPC method: raw `result` text, or an error. */
export type RpcOutcome = { result: string | Buffer } | { error: RpcError };

interface RpcError {
  code: number;
  message: string;
  data?: string;
}

const json = 'application/json';

/** Whether the CometBFT RPC has such a method. */
export function isRpcMethod(name: string): boolean {
  return methods.has(name);
}

/** GET /{method}?name=value (or POST without a body): the id is -1, and an error is HTTP 500. */
export function rpcGet(view: View, method: string, query: URLSearchParams): Answer {
  const kind = `rpc.${method}`;
  const outcome = callRpc(view, method, query);
  if (!outcome)
    return {
      status: 404,
      type: 'text/plain; charset=utf-8',
      body: '404 page not found\n',
      kind: 'rpc.unknown',
    };
  if ('error' in outcome) return { status: 500, type: json, body: envelope('-1', outcome), kind };
  const { result } = outcome;
  return {
    status: 200,
    type: json,
    body: typeof result === 'string' ? envelope('-1', outcome) : result,
    kind,
  };
}

/** POST / with one JSON-RPC request, given as text: the answer's text. Errors are HTTP 200 here. */
export function rpcPost(view: View, request: string): { kind: string; body: string } {
  const parsed = members(request);
  const id = parsed.get('id') ?? '-1';
  const method = JSON.parse(parsed.get('method') ?? '""') as string;
  const params = JSON.parse(parsed.get('params') ?? '{}') as Record<string, unknown> | unknown[] | null;
  const outcome = callRpc(view, method, namedParams(method, params));
  const kind = `rpc.${outcome ? method : 'unknown'}`;
  return { kind, body: envelope(id, outcome ?? { error: { code: -32601, message: 'Method not found' } }) };
}

function envelope(id: string, outcome: RpcOutcome): string {
  if ('error' in outcome) return `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify(outcome.error)}}`;
  const { result } = outcome;
  // bytes are a whole answer for id -1, see whole()
  if (typeof result !== 'string') return result.toString('utf8').replace('"id":-1', () => `"id":${id}`);
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`;
}

function namedParams(method: string, params: Record<string, unknown> | unknown[] | null): URLSearchParams {
  const first = method === 'tx' ? 'hash' : 'height';
  const named = Array.isArray(params) ? (params.length ? { [first]: params[0] } : {}) : (params ?? {});
  const present = Object.entries(named).filter(([, v]) => v !== null && v !== undefined);
  // a tx hash is base64 in a JSON-RPC body and 0x hex in a URL
  const text = (k: string, v: unknown) =>
    k === 'hash' ? Buffer.from(String(v), 'base64').toString('hex') : String(v);
  return new URLSearchParams(present.map(([k, v]): [string, string] => [k, text(k, v)]));
}

type Method = (view: View, query: URLSearchParams) => RpcOutcome;

const methods = new Map<string, Method>([
  ['health', () => ({ result: '{}' })],
  ['status', (view) => ({ result: status(view) })],
  ['abci_info', (view) => ({ result: abciInfo(view) })],
  ['net_info', () => ({ result: '{"listening":true,"listeners":["Listener(@)"],"n_peers":"0","peers":[]}' })],
  ['block', (view, query) => atHeight(view, query, (b) => ({ result: whole(view, b, 'block', b.block) }))],
  [
    'block_results',
    (view, query) => atHeight(view, query, (b) => ({ result: whole(view, b, 'results', b.results) })),
  ],
  ['header', (view, query) => atHeight(view, query, (b) => ({ result: `{"header":${headerText(b)}}` }))],
  ['commit', (view, query) => atHeight(view, query, (b) => ({ result: commit(view, b) }))],
  ['validators', (view, query) => withBlockHeight(view, query, '/validators')],
  ['consensus_params', (view, query) => withBlockHeight(view, query, '/consensus_params')],
  ['tx', (view, query) => tx(view, query)],
]);

function callRpc(view: View, method: string, query: URLSearchParams): RpcOutcome | undefined {
  const known = methods.get(method);
  if (known) return known(view, query);
  const recorded = view.chain.source.state.rpc(`/${method}`);
  return recorded === undefined ? undefined : { result: recorded };
}

function atHeight(view: View, query: URLSearchParams, answer: (b: BlockBodies) => RpcOutcome): RpcOutcome {
  const height = heightParam(view, query);
  if (typeof height !== 'number') return height;
  const bodies = view.chain.bodies(height);
  return bodies ? answer(bodies) : internal(`could not find results for height #${height}`);
}

/** The height asked for, latest when absent; refused as CometBFT does when there is no such block. */
function heightParam(view: View, query: URLSearchParams): number | RpcOutcome {
  const text = (query.get('height') ?? '').replace(/^"(.*)"$/, '$1');
  if (text === '') return view.tip;
  if (!/^-?\d{1,18}$/.test(text)) {
    const data = `error converting http params to arguments: invalid 64-bit integer encoding ${JSON.stringify(text)}, expected string`;
    return { error: { code: -32602, message: 'Invalid params', data } };
  }
  const height = Number(text);
  if (height <= 0) return internal(`height must be greater than 0, but got ${height}`);
  if (height > view.tip) {
    return internal(
      `height ${height} must be less than or equal to the current blockchain height ${view.tip}`,
    );
  }
  if (height < view.earliest)
    return internal(`height ${height} is not available, lowest height is ${view.earliest}`);
  return height;
}

function internal(data: string): RpcOutcome {
  return { error: { code: -32603, message: 'Internal error', data } };
}

/** The answer to a GET as bytes, made once per block (the chain id only differs under a fault). */
function whole(view: View, bodies: BlockBodies, name: string, result: string): Buffer {
  const own = view.network === view.chain.source.chainId;
  const text = own
    ? result
    : result.replace(/"chain_id":"[^"]*"/, () => `"chain_id":${JSON.stringify(view.network)}`);
  return cachedBody(bodies, own ? name : `${name}/${view.network}`, () => envelope('-1', { result: text }));
}

function headerText(bodies: BlockBodies): string {
  return members(members(bodies.block).get('block')!).get('header')!;
}

function status(view: View): string {
  const template = view.chain.source.status as {
    node_info?: Record<string, unknown>;
    sync_info?: Record<string, unknown>;
  };
  const latest = view.chain.bodies(view.tip)!;
  const earliest = view.chain.bodies(view.earliest)!;
  const appHash = (b: BlockBodies) => (JSON.parse(headerText(b)) as { app_hash: string }).app_hash;
  const sync_info = {
    latest_block_hash: latest.hash,
    latest_app_hash: appHash(latest),
    latest_block_height: String(view.tip),
    latest_block_time: latest.time,
    earliest_block_hash: earliest.hash,
    earliest_app_hash: appHash(earliest),
    earliest_block_height: String(view.earliest),
    earliest_block_time: earliest.time,
    catching_up: false,
  };
  return JSON.stringify({
    ...template,
    node_info: { ...template.node_info, network: view.network },
    sync_info,
  });
}

function abciInfo(view: View): string {
  const results = JSON.parse(view.chain.bodies(view.tip)!.results) as { app_hash?: string };
  const last = { last_block_height: String(view.tip), last_block_app_hash: results.app_hash ?? '' };
  return JSON.stringify({ response: { ...view.chain.source.abciInfo, ...last } });
}

function commit(view: View, bodies: BlockBodies): string {
  // the signatures of a block are in the block after it
  const next = view.chain.bodies(bodies.height + 1);
  const last = next && members(members(next.block).get('block')!).get('last_commit');
  return `{"signed_header":{"header":${headerText(bodies)},"commit":${last ?? 'null'}},"canonical":true}`;
}

function withBlockHeight(view: View, query: URLSearchParams, path: string): RpcOutcome {
  const height = query.get('height') ? heightParam(view, query) : view.tip + 1;
  if (typeof height !== 'number') return height;
  const recorded = view.chain.source.state.rpc(path);
  if (recorded !== undefined)
    return { result: recorded.replace(/"block_height":"\d+"/, `"block_height":"${height}"`) };
  if (path !== '/validators') return internal('no consensus params in this recording');
  const own = (view.chain.source.status as { validator_info?: Record<string, unknown> }).validator_info;
  const validators = own ? [{ ...own, proposer_priority: '0' }] : [];
  const count = String(validators.length);
  return { result: JSON.stringify({ block_height: String(height), validators, count, total: count }) };
}

function tx(view: View, query: URLSearchParams): RpcOutcome {
  const hash = (query.get('hash') ?? '')
    .replace(/^"(.*)"$/, '$1')
    .replace(/^0x/i, '')
    .toUpperCase();
  const found = view.chain.source.findTx(hash);
  const bodies = found && found.height <= view.tip ? view.chain.bodies(found.height) : undefined;
  const raw = bodies && rawTxs(bodies.block)[found!.index];
  if (!bodies || raw === undefined) return internal(`tx (${hash}) not found`);
  const result = elements(members(bodies.results).get('txs_results')!)[found!.index];
  const { height, index } = found!;
  return {
    result: `{"hash":"${hash}","height":"${height}","index":${index},"tx_result":${result},"tx":"${raw}"}`,
  };
}
