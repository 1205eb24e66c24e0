import { type SendBatched, sendAlone } from './batch.js';
import { type AnswerBound, type Endpoints, NodeError, parseNodeJson } from './endpoints.js';
import { splitArrayAt } from './json.js';

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

/** What an indexer needs of /block_results. */
export interface CometResults {
  /** What the node says of each tx's execution, in the order of the block: JSON texts as it wrote them. */
  readonly txs_results: readonly string[];
  /** JSON array of the block's own events. */
  readonly block_events: string;
}

/** `GET {rpc}/status`. */
export const statusRequest = { path: '/status' };

/**
 * Reads the answer to {@link statusRequest}.
 *
 * @param chain_id the chain that the node must be of; empty for any.
 * @throws NodeError, `wrong_chain` among others.
 */
export function readStatus(status: number, body: string, chain_id = ''): NodeStatus {
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
  const { network } = result.node_info;
  if (chain_id !== '' && network !== chain_id)
    throw new NodeError('wrong_chain', `the node is of chain ${network}, not ${chain_id}`);
  return { network, latest_height: latest, earliest_height: Math.max(1, earliest) };
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
    throw new NodeError('behind', `block ${height}: the answer is for height ${shown(header['height'])}`);
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

/** What stands where a height should be, which nodes write as a text of digits. */
const shown = (height: unknown): string =>
  typeof height === 'string' && /^[1-9]\d*$/.test(height) ? height : (JSON.stringify(height) ?? 'none');

/** `GET {rpc}/block_results?height=`. */
export const resultsRequest = (height: number) => ({ path: `/block_results?height=${height}` });

/** How an answer begins as nodes write it, up to the results of the txs. */
const resultsFirst = /^\{"jsonrpc":"2\.0","id":-?\d+,"result":\{"height":"(\d+)","txs_results":(?=\[)/;

/**
 * Reads the answer to {@link resultsRequest}. The results are cut out, not parsed: most of
 * what a node sends is here, and nobody needs it as objects yet.
 *
 * @throws NodeError, `behind` when the node does not have that height (yet).
 */
export function readResults(height: number, status: number, body: string): CometResults {
  const what = `block_results ${height}`;
  const head = resultsFirst.exec(body);
  if (head === null) return readOtherResults(height, what, status, body);
  if (head[1] !== String(height))
    throw new NodeError('behind', `${what}: the answer is for height ${head[1]}`);
  try {
    const { elements, end } = splitArrayAt(body, head[0].length);
    const rest = JSON.parse(`{"result":{"txs_results":[]${body.slice(end)}`) as { result: Results };
    return { txs_results: elements, block_events: JSON.stringify(rest.result.finalize_block_events ?? []) };
  } catch (cause) {
    throw new NodeError('not_json', `${what}: the answer is cut`, undefined, { cause });
  }
}

interface Results {
  readonly height?: string;
  readonly txs_results?: readonly unknown[] | null;
  readonly finalize_block_events?: readonly unknown[] | null;
}

/** The same for an answer that is written in another way: an empty block, other spacing, an error. */
function readOtherResults(height: number, what: string, status: number, body: string): CometResults {
  const result = resultOf(status, body, what) as Results;
  if (result.height !== String(height))
    throw new NodeError('behind', `${what}: the answer is for height ${shown(result.height)}`);
  return {
    txs_results: (result.txs_results ?? []).map((one) => JSON.stringify(one)),
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
  send: SendBatched = sendAlone,
  bound?: AnswerBound,
): Promise<CometBlock> => {
  const read = (status: number, body: string) => readBlock(height, chain_id, status, body);
  return send({
    method: 'block',
    params: { height: String(height) },
    read: (answer) => read(200, answer),
    alone: () => rpc.ask({ ...blockRequest(height), signal, bound }, read),
    signal,
  });
};

/** Asks the endpoints for the results of a block. @throws NodeError */
export const fetchCometResults = (
  rpc: Endpoints,
  height: number,
  signal: AbortSignal,
  send: SendBatched = sendAlone,
  bound?: AnswerBound,
): Promise<CometResults> => {
  const read = (status: number, body: string) => readResults(height, status, body);
  return send({
    method: 'block_results',
    params: { height: String(height) },
    read: (answer) => read(200, answer),
    alone: () => rpc.ask({ ...resultsRequest(height), signal, bound }, read),
    signal,
  });
};

/** Asks the endpoints how far they are; one of another chain counts as failing. @throws NodeError */
export const fetchStatus = (rpc: Endpoints, signal: AbortSignal, chain_id = ''): Promise<NodeStatus> =>
  rpc.ask({ ...statusRequest, signal }, (status, body) => readStatus(status, body, chain_id));
