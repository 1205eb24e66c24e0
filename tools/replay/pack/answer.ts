import type { PartName } from './format.js';
import type { Pack } from './read.js';

/** An answer made of a pack: always HTTP 200 and JSON. */
export interface ReadyAnswer {
  readonly body: Buffer;
  /** what it is counted as, as the other answers are */
  readonly kinds: readonly string[];
}

/** A text, or a part of a block. */
type Piece = string | { readonly height: number; readonly part: PartName };

interface Method {
  readonly api: 'rpc' | 'evm';
  readonly part: PartName;
  /** first height that it is answered for from the pack */
  readonly from: number;
}

const methods = new Map<string, Method>([
  ['block', { api: 'rpc', part: 'block', from: 1 }],
  ['block_results', { api: 'rpc', part: 'results', from: 1 }],
  ['eth_getBlockReceipts', { api: 'evm', part: 'receipts', from: 1 }],
  // block 1 cannot be traced
  ['debug_traceBlockByNumber', { api: 'evm', part: 'traces', from: 2 }],
]);

const rpcUrl = /^(?:\/rpc)?\/(block|block_results)\?height=([1-9]\d{0,9})$/;
const txsUrl =
  /^(?:\/rest)?\/cosmos\/tx\/v1beta1\/txs\/block\/([1-9]\d{0,9})(?:\?pagination\.limit=([1-9]\d{0,5})(?:&pagination\.offset=0)?)?$/;
const postUrl = /^\/(rpc|evm)?\/?$/;

/** A page of the REST API when no limit is given. */
const defaultLimit = 100;

/**
 * Answers a GET from a pack; undefined for whatever is not asked in the usual way, or is not in the pack: that
 * is for the others to answer.
 *
 * @param tip highest height that may be answered.
 */
export function readyGet(pack: Pack, tip: number, url: string): ReadyAnswer | undefined {
  const rpc = rpcUrl.exec(url);
  if (rpc) {
    const height = Number(rpc[2]);
    const { part } = methods.get(rpc[1]!)!;
    if (!isIn(pack, tip, height)) return undefined;
    return { body: compose(pack, enveloped('-1', height, part)), kinds: [`rpc.${rpc[1]}`] };
  }
  const txs = txsUrl.exec(url);
  if (!txs) return undefined;
  const height = Number(txs[1]);
  const isWhole = Number(txs[2] ?? defaultLimit) >= pack.most_txs;
  if (!isWhole || !isIn(pack, tip, height)) return undefined;
  return { body: compose(pack, [{ height, part: 'txs' }]), kinds: ['rest.txs_block'] };
}

/** Answers a POST, a batch or a single request, from a pack; undefined as with `readyGet`. */
export function readyPost(pack: Pack, tip: number, url: string, text: string): ReadyAnswer | undefined {
  const path = postUrl.exec(url);
  const parsed = path ? parseCanonical(text) : undefined;
  if (!path || parsed === undefined) return undefined;
  const requests: unknown[] = Array.isArray(parsed) ? parsed : [parsed];
  const asked = requests.map(askedBy);
  const first = asked[0];
  if (first === undefined || (path[1] ?? first.method.api) !== first.method.api) return undefined;
  const { api } = first.method;
  if (api === 'evm' && !pack.evm) return undefined;
  const pieces: Piece[] = [];
  const kinds: string[] = [];
  for (const one of asked) {
    if (one === undefined || one.method.api !== api) return undefined;
    if (one.height < one.method.from || !isIn(pack, tip, one.height)) return undefined;
    if (kinds.length > 0) pieces.push(',');
    pieces.push(...enveloped(one.id, one.height, one.method.part));
    kinds.push(`${api}.${one.name}`);
  }
  const end = api === 'evm' ? '\n' : '';
  if (!Array.isArray(parsed)) return { body: compose(pack, [...pieces, end]), kinds };
  return { body: compose(pack, ['[', ...pieces, `]${end}`]), kinds: [...kinds, `${api}.batch`] };
}

const isIn = (pack: Pack, tip: number, height: number): boolean =>
  height >= pack.first && height <= pack.last && height <= tip;

/**
 * The value of a JSON text that is spelled as JSON.stringify would; undefined for any other. Only then does a
 * value give back its own text, which an id has to.
 */
function parseCanonical(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? value : undefined;
  } catch {
    return undefined;
  }
}

interface Asked {
  /** JSON text */
  readonly id: string;
  readonly name: string;
  readonly method: Method;
  readonly height: number;
}

function askedBy(request: unknown): Asked | undefined {
  if (typeof request !== 'object' || request === null) return undefined;
  const { id, method: name, params } = request as { id?: unknown; method?: unknown; params?: unknown };
  const method = typeof name === 'string' ? methods.get(name) : undefined;
  if (method === undefined || (typeof id !== 'number' && typeof id !== 'string')) return undefined;
  const height = method.api === 'evm' ? hexHeight(params) : namedHeight(params);
  return height === undefined ? undefined : { id: JSON.stringify(id), name: name as string, method, height };
}

function hexHeight(params: unknown): number | undefined {
  const tag: unknown = Array.isArray(params) ? params[0] : undefined;
  return typeof tag === 'string' && /^0x[1-9a-f][0-9a-f]{0,8}$/.test(tag) ? Number(tag) : undefined;
}

function namedHeight(params: unknown): number | undefined {
  if (typeof params !== 'object' || params === null || Array.isArray(params)) return undefined;
  const height = String((params as { height?: unknown }).height);
  return /^[1-9]\d{0,9}$/.test(height) ? Number(height) : undefined;
}

const enveloped = (id: string, height: number, part: PartName): Piece[] => [
  `{"jsonrpc":"2.0","id":${id},"result":`,
  { height, part },
  '}',
];

function compose(pack: Pack, pieces: readonly Piece[]): Buffer {
  let size = 0;
  for (const piece of pieces)
    size += typeof piece === 'string' ? Buffer.byteLength(piece) : pack.size(piece.height, piece.part);
  const body = Buffer.allocUnsafe(size);
  let at = 0;
  for (const piece of pieces) {
    if (typeof piece === 'string') at += body.write(piece, at);
    else {
      pack.copy(piece.height, piece.part, body, at);
      at += pack.size(piece.height, piece.part);
    }
  }
  return body;
}
