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
}

/** Every route over blocks, txs, receipts, call frames and holders, written down from the specification. */
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
      return true;
    case 'height':
      return isWithin(text, 1n, 2n ** 63n - 1n);
    case 'hash':
      return /^(0[xX])?[0-9a-fA-F]{64}$/.test(text);
    case 'account':
      // Of bech32 only what a test knows to be good: no hostile text has a right checksum.
      return /^0[xX][0-9a-fA-F]{1,64}$/.test(text);
  }
}
