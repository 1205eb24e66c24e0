import { stateGone } from './evm.js';
import { accountHex } from './meaning.js';
import { restError, txsPage } from './paging.js';
import { restBlock, restBlockWithSdk } from './restblock.js';
import type { Answer, BlockBodies } from './types.js';
import { cachedBody, stateHeight, type View } from './view.js';

const json = 'application/json';

/** A request to the REST API. */
export interface RestRequest {
  method: string;
  /** without query, percent-encoded as sent */
  path: string;
  query: URLSearchParams;
  /** the x-cosmos-block-height header */
  height: string | undefined;
  body: string;
}

/** Answers the Cosmos REST API as the gRPC gateway does; an unknown route is 501. */
export function restAnswer(view: View, request: RestRequest): Answer {
  const { path, query } = request;
  const inBlock = /^\/cosmos\/tx\/v1beta1\/txs\/block\/([^/]+)$/.exec(path)?.[1];
  if (inBlock) return txsInBlock(view, inBlock, query);
  const block = /^\/cosmos\/base\/tendermint\/v1beta1\/blocks\/([^/]+)$/.exec(path)?.[1];
  if (block) return oneBlock(view, block);
  if (path === '/cosmos/base/tendermint/v1beta1/syncing') return ok('rest.syncing', '{"syncing":false}');
  return stateAnswer(view, request);
}

function ok(kind: string, body: string | Buffer): Answer {
  return { status: 200, type: json, body, kind };
}

/** The block at a height of a path, or the refusal a node gives. */
function blockOf(view: View, text: string, kind: string): BlockBodies | Answer {
  if (!/^-?\d{1,18}$/.test(text)) {
    const message = `type mismatch, parameter: height, error: strconv.ParseInt: parsing ${JSON.stringify(text)}: invalid syntax`;
    return restError(kind, 400, 3, message);
  }
  const height = Number(text);
  if (height < 1 || height > view.tip) {
    const message = `codespace sdk code 26: invalid height: requested height ${height} but height must not be less than 1 or greater than the current height ${view.tip}`;
    return restError(kind, 500, 2, message);
  }
  const bodies = height < view.earliest ? undefined : view.chain.bodies(height);
  return (
    bodies ?? restError(kind, 500, 2, `height ${height} is not available, lowest height is ${view.earliest}`)
  );
}

function txsInBlock(view: View, text: string, query: URLSearchParams): Answer {
  const kind = 'rest.txs_block';
  const bodies = blockOf(view, text, kind);
  if ('kind' in bodies) return bodies;
  // A node that misses txs does not count them either.
  const missing = view.missingTxs(bodies.height);
  const all = bodies.txs.filter((_, index) => !missing.includes(index));
  const page = txsPage(query, bodies.txCount - (bodies.txs.length - all.length));
  if ('error' in page) return restError(kind, 500, 2, page.error);
  const make = () => txsText(bodies, all.slice(page.from, page.to));
  return ok(kind, missing.length ? make() : cachedBody(bodies, `txs/${page.from}/${page.to}`, make));
}

/** The answer about the txs in a block: a page of them, and the whole block. */
export function txsText(bodies: BlockBodies, page: readonly string[]): string {
  const tail = `"pagination":{"next_key":null,"total":"${bodies.txCount}"}`;
  return `{"txs":[${page.join(',')}],${restBlock(bodies.block)},${tail}}`;
}

function oneBlock(view: View, text: string): Answer {
  const kind = 'rest.block';
  const bodies = blockOf(view, text === 'latest' ? String(view.tip) : text, kind);
  if ('kind' in bodies) return bodies;
  return ok(
    kind,
    cachedBody(bodies, 'rest_block', () => restBlockWithSdk(bodies.block, 'init')),
  );
}

function stateAnswer(view: View, request: RestRequest): Answer {
  const { path, query } = request;
  const kind = kindOf(path);
  const asked = Number(request.height ?? 0);
  if (!Number.isSafeInteger(asked) || asked < 0) {
    return restError(kind, 400, 3, `codespace sdk code 26: invalid height: ${request.height}`);
  }
  if (asked > view.tip) {
    const message =
      'codespace sdk code 26: invalid height: cannot query with height in the future; please provide a valid height';
    return restError(kind, 500, 2, message);
  }
  if (asked !== 0 && asked < view.earliestState) return restError(kind, 500, 2, stateGone(view, asked));
  const height = stateHeight(view, asked);
  if (request.method === 'POST') {
    return path === '/minievm/evm/v1/call' ? call(view, request.body, height) : notImplemented();
  }
  const found = view.chain.source.state.rest(path, query, height);
  if (!found) return { ...unrecorded(path, query), kind };
  const body =
    kind === 'rest.node_info'
      ? found.body.replace(/"network":"[^"]*"/, () => `"network":${JSON.stringify(view.network)}`)
      : found.body;
  return { ...found, body, kind };
}

function call(view: View, body: string, height: number): Answer {
  const kind = 'rest.call';
  let request: { contract_addr?: string; input?: string };
  try {
    request = JSON.parse(body) as typeof request;
  } catch (error) {
    return restError(kind, 400, 3, String(error));
  }
  const found = view.chain.source.state.call(request.contract_addr ?? '', request.input ?? '0x', height);
  const { response, usedGas, error } = found ?? { response: '0x', usedGas: '0', error: '' };
  return ok(kind, JSON.stringify({ response, used_gas: usedGas, logs: [], trace_output: '', error }));
}

/** What a node answers about something it does not have, by route, as the recordings show. */
function unrecorded(path: string, query: URLSearchParams): Omit<Answer, 'kind'> {
  const last = decodeURIComponent(path.split('/').at(-1) ?? '');
  const denom = query.get('denom') ?? '';
  const address = path.split('/')[5] ?? '';
  const rules: [RegExp, () => Answer][] = [
    [/^\/cosmos\/bank\/v1beta1\/balances\//, () => emptyBalances(last)],
    [/^\/cosmos\/auth\/v1beta1\/accounts\/./, () => restError('', 404, 5, `account ${last} not found`)],
    [/^\/cosmos\/tx\/v1beta1\/txs\/./, () => restError('', 404, 5, `tx not found: ${last}`)],
    [/^\/opinit\/opchild\/v1\/validator\//, () => restError('', 404, 5, `validator ${last} not found`)],
    [
      /\/evm\/v1\/contracts\/by_denom$/,
      () => restError('', 404, 5, `collections: not found: key '${denom}' of type bytes`),
    ],
    [
      /\/evm\/v1\/denoms\//,
      () => restError('', 404, 5, `collections: not found: key '${last}' of type bytes`),
    ],
    [/^\/initia\/move\/v1\/accounts\/.*\/resources/, () => restError('', 500, 2, moveMissing(path, query))],
    [
      /^\/cosmwasm\/wasm\/v1\/contract\//,
      () => restError('', 500, 2, `codespace wasm code 22: no such contract: address ${address}`),
    ],
  ];
  return (rules.find(([route]) => route.test(path))?.[1] ?? notImplemented)();
}

function emptyBalances(address: string): Answer {
  if (accountHex(address)) return ok('', '{"balances":[],"pagination":{"next_key":null,"total":"0"}}');
  return restError('', 400, 3, 'invalid address: decoding bech32 failed: invalid separator index -1');
}

/** The store key of a Move resource: address, 2 for resource, then the struct tag in BCS. */
function moveMissing(path: string, query: URLSearchParams): string {
  const address = decodeURIComponent(path.split('/')[5] ?? '').replace(/^0x/, '');
  const [module = '', ...names] = (query.get('struct_tag') ?? '').split('::');
  const bcs = names.map((n) => Buffer.from([n.length, ...Buffer.from(n)]).toString('hex')).join('');
  const tag = `${module.replace(/^0x/, '').padStart(64, '0')}${bcs}00`;
  return `collections: not found: key 'hexBytes:${address.padStart(64, '0')}02${tag}' of type bytes`;
}

function notImplemented(): Answer {
  return restError('rest.unknown', 501, 12, 'Not Implemented');
}

function kindOf(path: string): string {
  if (path.endsWith('/node_info')) return 'rest.node_info';
  if (path.includes('/smart/')) return 'rest.smart';
  if (path.includes('/resources')) return 'rest.resource';
  if (path.includes('/balances')) return 'rest.balances';
  if (path.includes('/opchild/v1/validator')) return 'rest.validators';
  if (/\/auth\/v1beta1\/(module_)?accounts/.test(path)) return 'rest.accounts';
  return 'rest.other';
}
