import { isWithin } from './texts.js';

/** Kinds of parameters, each with what it takes. */
export type ParameterKind =
  | 'key'
  | 'offset'
  | 'limit'
  | 'boolean'
  | 'msgs'
  | 'height'
  | 'hash'
  | 'account'
  /** An address of something that may not be there. */
  | 'collection'
  /** An address in a query, or nothing. */
  | 'optional_account'
  | 'order'
  /** Any text. */
  | 'text'
  | 'denom';

/** A route of the API as its clients know it. */
export interface ApiRoute {
  /** With the one path parameter, if there is one, in braces. */
  readonly path: string;
  readonly in_path?: { readonly name: string; readonly kind: ParameterKind; readonly good: string };
  /** Query parameters by name. */
  readonly query: Readonly<Record<string, ParameterKind>>;
  /** Name of the list in its answer; undefined when it is none. */
  readonly list?: string;
  readonly only?: 'evm';
}

const blockPage = {
  'pagination.key': 'key',
  'pagination.offset': 'offset',
  'pagination.limit': 'limit',
  'pagination.reverse': 'boolean',
} as const;
const page = { ...blockPage, 'pagination.count_total': 'boolean' } as const;
const msgs = { msgs: 'msgs' } as const;
const signer = { is_signer: 'boolean' } as const;

/** Good path parameters to ask with: something that the chain at hand has. */
export interface KnownItems {
  /** A denom of the rich list; any on a rollup that has none. */
  readonly denom: string;
  readonly height: string;
  readonly account: string;
  readonly tx_hash: string;
  /** Ethereum hash; any on a rollup that has none. */
  readonly evm_hash: string;
  /** A collection, a token of it with three txs at least, and a part of the names of three collections. */
  readonly collection: string;
  readonly token_id: string;
  readonly name: string;
}

/** Every route, written down from the specification. */
export function apiRoutes(known: KnownItems): readonly ApiRoute[] {
  const height = { name: 'height', kind: 'height', good: known.height } as const;
  const account = { name: 'account', kind: 'account', good: known.account } as const;
  const hash = (good: string) => ({ name: 'tx_hash', kind: 'hash', good }) as const;
  const tx = '/indexer/tx/v1';
  const evm = { only: 'evm' } as const;
  const receipts = { ...evm, list: 'txs' };
  const frames = { ...evm, list: 'internal_txs' };
  return [
    { path: '/status', query: {} },
    { path: '/indexer/block/v1/avg_blocktime', query: {} },
    { path: '/indexer/block/v1/blocks', query: blockPage, list: 'blocks' },
    { path: '/indexer/block/v1/blocks/{height}', in_path: height, query: {} },
    { path: `${tx}/txs`, query: { ...page, ...msgs }, list: 'txs' },
    {
      path: `${tx}/txs/by_account/{account}`,
      in_path: account,
      query: { ...page, ...msgs, ...signer },
      list: 'txs',
    },
    { path: `${tx}/txs/by_height/{height}`, in_path: height, query: { ...page, ...msgs }, list: 'txs' },
    { path: `${tx}/txs/{tx_hash}`, in_path: hash(known.tx_hash), query: {} },
    { path: `${tx}/evm-txs`, query: page, ...receipts },
    {
      path: `${tx}/evm-txs/by_account/{account}`,
      in_path: account,
      query: { ...page, ...signer },
      ...receipts,
    },
    { path: `${tx}/evm-txs/by_height/{height}`, in_path: height, query: page, ...receipts },
    { path: `${tx}/evm-txs/{tx_hash}`, in_path: hash(known.evm_hash), query: {}, ...evm },
    { path: `${tx}/evm-internal-txs`, query: page, ...frames },
    {
      path: `${tx}/evm-internal-txs/by_account/{account}`,
      in_path: account,
      query: { ...page, ...signer },
      ...frames,
    },
    { path: `${tx}/evm-internal-txs/by_height/{height}`, in_path: height, query: page, ...frames },
    { path: `${tx}/evm-internal-txs/{tx_hash}`, in_path: hash(known.evm_hash), query: page, ...frames },
    {
      path: '/indexer/richlist/v1/{denom}',
      in_path: { name: 'denom', kind: 'denom', good: known.denom },
      query: page,
      ...evm,
      list: 'holders',
    },
    ...nftRoutes(known),
  ];
}

function nftRoutes(known: KnownItems): ApiRoute[] {
  const nft = '/indexer/nft/v1';
  const account = { name: 'account', kind: 'account', good: known.account } as const;
  const collection = { name: 'collection_addr', kind: 'collection', good: known.collection } as const;
  const tokens = { ...page, token_id: 'text', order_by: 'order' } as const;
  return [
    { path: `${nft}/collections`, query: page, list: 'collections' },
    // Too few for the tests of lists.
    { path: `${nft}/collections/by_account/{account}`, in_path: account, query: page },
    {
      path: `${nft}/collections/by_name/{name}`,
      in_path: { name: 'name', kind: 'text', good: known.name },
      query: page,
      list: 'collections',
    },
    {
      path: `${nft}/collections/{collection_addr}`,
      in_path: { ...collection, kind: 'collection' },
      query: {},
    },
    {
      path: `${nft}/tokens/by_account/{account}`,
      in_path: account,
      query: { ...tokens, collection_addr: 'optional_account' },
      list: 'tokens',
    },
    {
      path: `${nft}/tokens/by_collection/{collection_addr}`,
      in_path: collection,
      query: tokens,
      list: 'tokens',
    },
    {
      path: `${nft}/txs/${known.collection}/{token_id}`,
      in_path: { name: 'token_id', kind: 'text', good: known.token_id },
      query: page,
      list: 'txs',
    },
  ];
}

/** The path of a route with a value for its path parameter, percent-encoded already. */
export const pathOf = (route: ApiRoute, raw = encodeURIComponent(route.in_path?.good ?? '')): string =>
  route.path.replace(/\{\w+\}/, () => raw);

/** Whether the rules of the API take a text for a parameter; whether anything is there is another question. */
export function isGood(kind: ParameterKind, text: string): boolean {
  switch (kind) {
    case 'key':
      return text === '';
    case 'offset':
      return text === '' || /^[0-9]+$/.test(text);
    case 'limit':
      return text === '' || isWithin(text, 1n, 1000n);
    case 'boolean':
      return /^(|true|false|1|0)$/i.test(text);
    case 'msgs':
    case 'denom':
    case 'text':
      return true;
    case 'order':
      return /^(|token_id|height)$/.test(text);
    case 'height':
      return isWithin(text, 1n, 2n ** 63n - 1n);
    case 'hash':
      return /^(0[xX])?[0-9a-fA-F]{64}$/.test(text);
    case 'optional_account':
      return text === '' || isGood('account', text);
    case 'account':
    case 'collection':
      // Of bech32 only what a test knows to be good: no hostile text has a right checksum.
      return /^0[xX][0-9a-fA-F]{1,64}$/.test(text);
  }
}
