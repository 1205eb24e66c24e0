import type { Exchange } from '../replay/types.js';

/** A request that a capture makes: an exchange without its answer. */
export type Question = Omit<Exchange, 'status' | 'contentType' | 'body'>;

/** What to ask once about the chain as a whole. */
export function chainQuestions(evm: boolean): Question[] {
  const rpc = ['/status', '/abci_info', '/health', '/validators', '/consensus_params'];
  const rest = [
    '/cosmos/base/tendermint/v1beta1/node_info',
    '/opinit/opchild/v1/validators?pagination.limit=1000',
    '/opinit/opchild/v1/params',
    '/opinit/opchild/v1/bridge_info',
    '/cosmos/bank/v1beta1/supply?pagination.limit=1000',
    '/cosmos/bank/v1beta1/denoms_metadata?pagination.limit=1000',
  ];
  const methods = evm ? ['eth_chainId', 'eth_blockNumber', 'net_version', 'web3_clientVersion'] : [];
  return [
    ...rpc.map((path): Question => ({ api: 'rpc', method: 'GET', path })),
    ...rest.map((path): Question => ({ api: 'rest', method: 'GET', path })),
    ...methods.map((method) => jsonRpc(method, [])),
  ];
}

/** What to ask about one block, except for the pages of its txs, which depend on how many there are. */
export function blockQuestions(height: number, evm: boolean): Question[] {
  const tag = `0x${height.toString(16)}`;
  return [
    { api: 'rpc', method: 'GET', path: `/block?height=${height}` },
    { api: 'rpc', method: 'GET', path: `/block_results?height=${height}` },
    ...(evm ? [jsonRpc('eth_getBlockReceipts', [tag])] : []),
    ...(evm ? [jsonRpc('debug_traceBlockByNumber', [tag, { tracer: 'callTracer' }])] : []),
  ];
}

/** The pages of decoded txs of a block with `count` txs: at least one, 100 txs each. */
export function txPages(height: number, count: number): Question[] {
  const pages: Question[] = [];
  for (let offset = 0; offset === 0 || offset < count; offset += 100) {
    const more = offset === 0 ? '' : `&pagination.offset=${offset}`;
    const path = `/cosmos/tx/v1beta1/txs/block/${height}?pagination.limit=100${more}`;
    pages.push({ api: 'rest', method: 'GET', path });
  }
  return pages;
}

/**
 * State worth having at a height: accounts, module accounts, and every account's balances, so that holders
 * can be seeded from the recording. `accounts` are bech32.
 */
export function stateQuestions(height: number, accounts: string[]): Question[] {
  const paths = [
    '/cosmos/auth/v1beta1/accounts?pagination.limit=1000',
    '/cosmos/auth/v1beta1/module_accounts',
    ...accounts.map((a) => `/cosmos/bank/v1beta1/balances/${a}?pagination.limit=1000`),
  ];
  return paths.map((path) => ({ api: 'rest', method: 'GET', path, height: String(height) }));
}

function jsonRpc(method: string, params: unknown[]): Question {
  const requestBody = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return { api: 'jsonrpc', method: 'POST', path: '/', requestBody };
}
