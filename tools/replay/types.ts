/** Shapes shared by the parts of the replay node. */

/** One recorded HTTP exchange: a line of exchanges.jsonl. */
export interface Exchange {
  api: 'rpc' | 'rest' | 'jsonrpc';
  method: string;
  /** path with query */
  path: string;
  /** the x-cosmos-block-height header, when one was sent */
  height?: string | number;
  requestBody?: string;
  status: number;
  contentType: string;
  /** exact text of the answer */
  body: string;
}

/** Everything the three APIs say about one block, as JSON texts ready to be wrapped in an answer. */
export interface BlockBodies {
  height: number;
  /** CometBFT block hash, upper-case hex */
  hash: string;
  /** hash of the block's part set header, upper-case hex */
  partsHash: string;
  /** header time, RFC 3339 with nanoseconds */
  time: string;
  /** `result` of RPC /block */
  block: string;
  /** `result` of RPC /block_results */
  results: string;
  /** txs as the REST API decodes them, in block order; shorter than the block when the recording lacks some */
  txs: string[];
  /** how many txs the block has */
  txCount: number;
  /** `result` of eth_getBlockReceipts */
  receipts: string;
  /** `result` of debug_traceBlockByNumber */
  traces: string;
}

/** What a node answers to a request: body texts are sent as they are. */
export interface Answer {
  status: number;
  type: string;
  body: string | Buffer;
  /** what kind of request it was, for counting: `rpc.block`, `rest.txs_block`, `evm.eth_call` */
  kind: string;
}

/** A chain that has an end: a recording, or a generated one. */
export interface ChainSource {
  chainId: string;
  /** lowest and highest height that bodies() knows */
  first: number;
  last: number;
  /** whether there is an EVM JSON-RPC */
  evm: boolean;
  /** result of RPC /status, parsed, as a template for node_info and validator_info */
  status: Record<string, unknown>;
  /** result.response of RPC /abci_info, parsed */
  abciInfo: Record<string, unknown>;
  /** bodies of a height within first..last; undefined when it is not there */
  bodies(height: number): BlockBodies | undefined;
  /** answers about state and anything else that is no block */
  state: StateSource;
  /** height, position of a tx by its hash (upper-case hex, no 0x); undefined when unknown */
  findTx(hash: string): { height: number; index: number } | undefined;
}

/** What a state source answers; `undefined` stands for "never heard of it". */
export interface StateAnswer {
  status: number;
  type: string;
  body: string;
}

/** The result of an EVM call. */
export interface CallResult {
  /** 0x hex; empty when reverted */
  response: string;
  /** text of the error; empty when there is none */
  error: string;
  usedGas: string;
}

/** State at a height, answered by the meaning of the question. */
export interface StateSource {
  /** GET of the REST API. `path` without query, `query` as sent, `height` the state after that block */
  rest(path: string, query: URLSearchParams, height: number): StateAnswer | undefined;
  /** call of a contract */
  call(to: string, input: string, height: number): CallResult | undefined;
  /** any other JSON-RPC method: raw text of its `result`, or of its `error` */
  jsonRpc(method: string, params: unknown[]): { result: string } | { error: string } | undefined;
  /** any other RPC path: the recorded `result` text */
  rpc(path: string): string | undefined;
}
