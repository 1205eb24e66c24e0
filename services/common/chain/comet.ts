import { type Endpoints, NodeError, parseNodeJson } from './endpoints.js';

/** What /status says of a node. */
export interface NodeStatus {
  /** Chain id. */
  readonly network: string;
  readonly latest_height: number;
  /** First height that the node still has; 1 unless it was pruned or began late. */
  readonly earliest_height: number;
}

/** What an indexer needs of /block. */
export interface CometBlock {
  readonly height: number;
  /** Upper-case hex, as are all hashes and addresses here. */
  readonly hash: string;
  /** Hash of the block before; empty at the first height. */
  readonly parent_hash: string;
  readonly chain_id: string;
  /** RFC 3339, as the node wrote it. */
  readonly time: string;
  /** Consensus address. */
  readonly proposer_address: string;
  /** TxRaw of each tx. */
  readonly txs: readonly Buffer[];
}

/** What the node says of one tx's execution; more members than these, all of them strings or small numbers. */
export interface TxResult {
  readonly code: number;
  readonly gas_used?: string;
  readonly gas_wanted?: string;
  readonly events?:
    | readonly { readonly type: string; readonly attributes?: readonly { readonly key: string }[] | null }[]
    | null;
}

/** What an indexer needs of /block_results. */
export interface CometResults {
  /** In the order of the block. */
  readonly txs_results: readonly TxResult[];
  /** JSON array of the block's own events. */
  readonly block_events: string;
}

/** `GET {rpc}/status`. */
export const statusRequest = { path: '/status' };

/** Reads the answer to {@link statusRequest}. @throws NodeError */
export function readStatus(status: number, body: string): NodeStatus {
  const result = resultOf(status, body, 'status') as {
    sync_info: Record<string, string>;
    node_info: { network: string };
  };
  const [latest, earliest] = [
    Number(result.sync_info['latest_block_height']),
    Number(result.sync_info['earliest_block_height']),
  ];
  if (
    !Number.isSafeInteger(latest) ||
    !Number.isSafeInteger(earliest) ||
    typeof result.node_info.network !== 'string'
  ) {
    throw new NodeError('not_json', 'status: no heights in the answer');
  }
  return { network: result.node_info.network, latest_height: latest, earliest_height: Math.max(1, earliest) };
}

/** `GET {rpc}/block?height=`. */
export const blockRequest = (height: number) => ({ path: `/block?height=${height}` });

/**
 * Reads the answer to {@link blockRequest}.
 *
 * @param chain_id the chain that it must be of; empty for any.
 * @throws NodeError, `behind` when the node does not have that height (yet), `wrong_chain`.
 */
export function readBlock(height: number, chain_id: string, status: number, body: string): CometBlock {
  const { block_id, block } = resultOf(status, body, `block ${height}`) as {
    block_id: { hash: string };
    block: {
      header: Record<string, string> & { last_block_id?: { hash?: string } };
      data: { txs: string[] | null };
    };
  };
  const { header } = block;
  // A proxy's cache or a lagging node may answer for another height.
  if (header['height'] !== String(height))
    throw new NodeError('behind', `block ${height}: the answer is for height ${header['height']}`);
  if (chain_id !== '' && header['chain_id'] !== chain_id) {
    throw new NodeError(
      'wrong_chain',
      `block ${height}: the node is of chain ${header['chain_id']}, not ${chain_id}`,
    );
  }
  return {
    height,
    hash: block_id.hash.toUpperCase(),
    parent_hash: (header.last_block_id?.hash ?? '').toUpperCase(),
    chain_id: String(header['chain_id']),
    time: String(header['time']),
    proposer_address: String(header['proposer_address'] ?? '').toUpperCase(),
    txs: (block.data.txs ?? []).map((tx) => Buffer.from(tx, 'base64')),
  };
}

/** `GET {rpc}/block_results?height=`. */
export const resultsRequest = (height: number) => ({ path: `/block_results?height=${height}` });

/** Reads the answer to {@link resultsRequest}. @throws NodeError, `behind` when the node does not have that height (yet). */
export function readResults(height: number, status: number, body: string): CometResults {
  const what = `block_results ${height}`;
  const result = resultOf(status, body, what) as {
    height?: string;
    txs_results?: TxResult[] | null;
    finalize_block_events?: unknown[] | null;
  };
  if (result.height !== String(height))
    throw new NodeError('behind', `${what}: the answer is for height ${result.height}`);
  return {
    txs_results: result.txs_results ?? [],
    block_events: JSON.stringify(result.finalize_block_events ?? []),
  };
}

/** The `result` of a JSON-RPC answer. @throws NodeError */
function resultOf(status: number, body: string, what: string): unknown {
  const answer = parseNodeJson(status, body, what) as {
    result?: unknown;
    error?: { code?: number; message?: string; data?: string };
  } | null;
  if (answer?.result !== undefined && answer.result !== null) return answer.result;
  const said = `${answer?.error?.message ?? ''} ${answer?.error?.data ?? ''}`.trim();
  const behind =
    /must be less than or equal to the current blockchain height|is not available|could not find results/i.test(
      said,
    );
  throw new NodeError(behind ? 'behind' : 'error_answer', `${what}: HTTP ${status} ${said.slice(0, 200)}`, {
    code: answer?.error?.code,
    message: said,
  });
}

/** Asks the endpoints for a block. @throws NodeError */
export const fetchCometBlock = (
  rpc: Endpoints,
  height: number,
  chain_id: string,
  signal: AbortSignal,
): Promise<CometBlock> =>
  rpc.ask({ ...blockRequest(height), signal }, (status, body) => readBlock(height, chain_id, status, body));

/** Asks the endpoints for the results of a block. @throws NodeError */
export const fetchCometResults = (
  rpc: Endpoints,
  height: number,
  signal: AbortSignal,
): Promise<CometResults> =>
  rpc.ask({ ...resultsRequest(height), signal }, (status, body) => readResults(height, status, body));

/** Asks the endpoints how far they are. @throws NodeError */
export const fetchStatus = (rpc: Endpoints, signal: AbortSignal): Promise<NodeStatus> =>
  rpc.ask({ ...statusRequest, signal }, readStatus);
