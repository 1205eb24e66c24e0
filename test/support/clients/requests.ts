import type { answers } from './answers.js';

/** What a client puts into its requests. */
export interface Asker {
  /** bech32. */
  readonly accounts: readonly string[];
  readonly heights: readonly number[];
  readonly tx_hashes: readonly string[];
  readonly evm_accounts: readonly string[];
  readonly evm_hashes: readonly string[];
  /** Collections, as the chain writes their addresses. */
  readonly collections: readonly string[];
  /** Owner, collection and id of tokens: the id encoded once, as explorers do before the client encodes again. */
  readonly tokens: readonly { readonly owner: string; readonly collection: string; readonly id: string }[];
  readonly names: readonly string[];
}

/** How a client goes on after a page. */
export type Paging =
  /** It does not. */
  | 'once'
  /** Sends `next_key` until it is falsy. */
  | 'until falsy'
  /** The same, at most 15 pages, and ends at an empty one. */
  | 'at most 15';

/** A request that a client sends, in the spelling of that client. */
export interface ClientRequest {
  readonly client: string;
  /**
   * `{account}`, `{height}`, `{hash}`, `{collection}`, `{name}`, `{owner}`, `{id}` and `{key}` stand
   * for values; the key is empty on the first page.
   */
  readonly url: string;
  readonly answer: keyof typeof answers;
  readonly paging: Paging;
  readonly only?: 'evm';
}

const tx = '/indexer/tx/v1';
const block = '/indexer/block/v1';
const nft = '/indexer/nft/v1';
const holders = (denom: string): string => `/indexer/richlist/v1/${encodeURIComponent(denom)}`;
const key = 'pagination.key={key}';
const newest = 'pagination.reverse=true';

const wallet = (url: string): ClientRequest => ({ client: 'wallet', url, answer: 'txs', paging: 'once' });

const explorer = (
  answer: ClientRequest['answer'],
  url: string,
  paging: Paging = 'until falsy',
): ClientRequest => ({
  client: 'explorer',
  url,
  answer,
  paging,
  ...(url.includes('/evm-') ? { only: 'evm' } : {}),
});

/** What the public clients send for blocks, txs, receipts, call frames and holders. */
export const clientRequests: readonly ClientRequest[] = [
  wallet(`${tx}/txs/by_account/{account}?${newest}&pagination.limit=10`),
  {
    ...wallet(`${tx}/txs/by_account/{account}?${key}&${newest}`),
    client: 'older wallet, gallery',
    paging: 'until falsy',
  },

  // The offset goes along with the key, and an endpoint that ends with a slash doubles it.
  explorer('blocks', `${block}/blocks?${key}&pagination.limit=10&pagination.offset=0&${newest}`),
  explorer('blocks', `/${block}/blocks?${key}&pagination.limit=20&pagination.offset=0&${newest}`),
  explorer('block', `${block}/blocks/{height}`, 'once'),
  explorer('average', `${block}/avg_blocktime`, 'once'),
  explorer('txs', `${tx}/txs?pagination.count_total=true&pagination.limit=1`, 'once'),
  explorer('txs', `${tx}/txs?${key}&pagination.limit=10&${newest}`),
  explorer('txs', `/${tx}/txs/by_account/{account}?${key}&pagination.limit=10&${newest}`),
  explorer('txs', `${tx}/txs/by_height/{height}?${key}&pagination.limit=10`),
  explorer('tx', `${tx}/txs/{hash}`, 'once'),
  explorer('receipts', `${tx}/evm-txs?${key}&pagination.limit=10&pagination.count_total=false&${newest}`),
  explorer('receipts', `${tx}/evm-txs?pagination.limit=1&pagination.count_total=true`, 'once'),
  explorer('receipts', `${tx}/evm-txs/by_account/{account}?${key}&pagination.limit=10&${newest}`),
  explorer('receipts', `${tx}/evm-txs/by_height/{height}?${key}&pagination.limit=10`),
  explorer('receipt', `${tx}/evm-txs/{hash}`, 'once'),
  explorer('frames', `${tx}/evm-internal-txs?${key}&pagination.limit=100&pagination.count_total=false`),
  explorer('frames', `${tx}/evm-internal-txs/by_account/{account}?${key}&pagination.limit=50&${newest}`),
  explorer('frames', `${tx}/evm-internal-txs/by_height/{height}?${key}&pagination.limit=10`),
  explorer('frames', `${tx}/evm-internal-txs/{hash}?${key}&pagination.limit=10`),

  // The contract page sends an address, percent-encoded; the list is paged by offset.
  {
    ...explorer(
      'holders',
      `${holders('0xe7f1725E7734CE288F8367e1Bb143E90bb3F0512')}?pagination.limit=10&pagination.offset=0&${newest}`,
      'once',
    ),
    only: 'evm',
  },
  {
    ...explorer(
      'holders',
      `${holders('evm/e7f1725E7734CE288F8367e1Bb143E90bb3F0512')}?${key}&pagination.limit=3`,
    ),
    only: 'evm',
  },
  {
    client: 'tool server',
    url: `${holders('GAS')}?limit=10&count_total=true`,
    answer: 'holders',
    paging: 'once',
    only: 'evm',
  },

  {
    client: 'gas script',
    url: `${tx}/evm-txs/by_account/{account}?is_signer=true&pagination.limit=100&${key}`,
    answer: 'receipts',
    paging: 'at most 15',
    only: 'evm',
  },
  { ...wallet(`${tx}/txs?pagination.limit=1&pagination.count_total=true`), client: 'dashboard' },
  { ...explorer('blocks', `${block}/blocks?pagination.limit=50&${newest}`, 'once'), client: 'dashboard' },
  { client: 'tool server', url: '/status', answer: 'status', paging: 'once' },
  {
    ...wallet(
      `${tx}/txs/by_account/{account}?pagination.limit=10&pagination.offset=0&pagination.count_total=true&${newest}`,
    ),
    client: 'tool server',
  },
  // NFTs: the wallet takes all pages at the default size, the explorer asks in its own order.
  {
    client: 'wallet',
    url: `${nft}/tokens/by_account/{account}?${key}`,
    answer: 'tokens',
    paging: 'until falsy',
  },
  { client: 'wallet', url: `${nft}/collections/{collection}`, answer: 'collection', paging: 'once' },
  {
    client: 'older wallet, gallery',
    url: `${nft}/collections/by_account/{account}?${key}`,
    answer: 'collections',
    paging: 'until falsy',
  },
  {
    client: 'older wallet, gallery',
    url: `${nft}/tokens/by_account/{owner}?collection_addr={collection}&${key}&pagination.limit=9`,
    answer: 'tokens',
    paging: 'until falsy',
  },
  explorer(
    'tokens',
    `${nft}/tokens/by_collection/{collection}?${key}&pagination.reverse=false&pagination.limit=10`,
  ),
  explorer('tokens', `${nft}/tokens/by_collection/{collection}?pagination.count_total=true`, 'once'),
  explorer(
    'tokens',
    `${nft}/tokens/by_account/{owner}?collection_addr={collection}&${key}&pagination.limit=10&pagination.reverse=false&token_id={id}`,
    'once',
  ),
  explorer('collections', `${nft}/collections?${key}&pagination.limit=2&pagination.reverse=false`),
  explorer('collections', `${nft}/collections/by_name/{name}?${key}&pagination.reverse=false`),
  explorer(
    'collections',
    `${nft}/collections/by_account/{account}?pagination.count_total=false&pagination.limit=1000&pagination.reverse=false`,
    'once',
  ),
  explorer('collection', `/${nft}/collections/{collection}`, 'once'),

  // An unknown parameter, which is ignored.
  { ...wallet(`${tx}/txs/by_account/{account}?limit=10`), client: 'agent' },
];

/** The URLs of a request's first pages, for every value it is sent with; `{key}` is left to fill in. */
export function urlsOf(request: ClientRequest, asker: Asker): string[] {
  const isEvm = request.only === 'evm';
  const [accounts, hashes] = isEvm
    ? [asker.evm_accounts, asker.evm_hashes]
    : [asker.accounts, asker.tx_hashes];
  const fill = (name: string, values: readonly (string | number)[]) => (url: string) =>
    url.includes(`{${name}}`) ? values.map((value) => url.replace(`{${name}}`, String(value))) : [url];
  const fillToken = (url: string): string[] =>
    url.includes('{owner}')
      ? asker.tokens.map(({ owner, collection, id }) =>
          url
            .replace('{owner}', owner)
            .replace('{collection}', collection)
            .replace('{id}', encodeURIComponent(id)),
        )
      : [url];
  return [request.url]
    .flatMap(fill('account', accounts))
    .flatMap(fill('height', asker.heights))
    .flatMap(fill('hash', hashes))
    .flatMap(fillToken)
    .flatMap(fill('collection', asker.collections))
    .flatMap(fill('name', asker.names));
}
