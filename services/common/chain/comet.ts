import { toNanoseconds } from '../util/time.js';
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
  const what = 'status';
  const { sync_info, node_info } = resultOf(status, body, what) as {
    sync_info?: Record<string, unknown>;
    node_info?: { network?: unknown };
  };
  const height = (name: string): number => Number(textOf(what, name, sync_info?.[name], /^\d{1,15}$/));
  const [latest, earliest] = [height('latest_block_height'), height('earliest_block_height')];
  const network = textOf(what, 'network', node_info?.network, chainId);
  if (chain_id !== '' && network !== chain_id)
    throw new NodeError('wrong_chain', `the node is of chain ${network}, not ${chain_id}`);
  return { network, latest_height: latest, earliest_height: Math.max(1, earliest) };
}

/** A chain id as CometBFT bounds it. */
const chainId = /^.{1,50}$/;

/** A hash and a consensus address as the node writes them; the block before the first has no hash. */
const [hash, hashOrNone, addressOrNone] = [/^[0-9A-F]{64}$/i, /^([0-9A-F]{64})?$/i, /^([0-9A-F]{40})?$/i];

/** The bytes of a tx. */
const base64 = /^[A-Za-z0-9+/]*={0,2}$/;

/** The instants that a table can hold: those of Go's zero time and of the year 9999 are none that a block has. */
const [earliestTime, latestTime] = [0n, 2n ** 63n];

/**
 * A text of an answer that has the form that such a text has: what is kept of a block is as large as it says.
 *
 * @throws NodeError malformed, which names it.
 */
function textOf(what: string, name: string, value: unknown, form: RegExp): string {
  if (typeof value === 'string' && form.test(value)) return value;
  throw new NodeError('malformed', `${what}: its ${name} is ${shown(value)}`);
}

/** What stands where something else should be, as a message shows it. */
const shown = (value: unknown): string => {
  if (typeof value === 'object' && value !== null) return Array.isArray(value) ? 'a list' : 'an object';
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : String(value ?? 'missing');
};

/** `GET {rpc}/block?height=`. */
export const blockRequest = (height: number) => ({ path: `/block?height=${height}` });

/**
 * Reads the answer to {@link blockRequest}.
 *
 * @param chain_id the chain that it must be of; empty for any.
 * @throws NodeError, `behind` when the node does not have that height (yet), `wrong_chain`.
 */
export function readBlock(height: number, chain_id: string, status: number, body: string): CometBlock {
  const what = `block ${height}`;
  const { block_id, block } = resultOf(status, body, what) as {
    block_id?: { hash?: unknown };
    block?: {
      header?: Record<string, unknown> & { last_block_id?: { hash?: unknown } };
      data?: { txs?: unknown };
    };
  };
  const header = block?.header ?? {};
  expectHeight(what, height, header['height']);
  const network = textOf(what, 'chain_id', header['chain_id'], chainId);
  if (chain_id !== '' && network !== chain_id)
    throw new NodeError('wrong_chain', `${what}: the node is of chain ${network}, not ${chain_id}`);
  const txs = block?.data?.txs ?? [];
  if (!Array.isArray(txs)) throw new NodeError('malformed', `${what}: its txs are ${shown(txs)}`);
  return {
    height,
    hash: textOf(what, 'hash', block_id?.hash, hash).toUpperCase(),
    parent_hash: textOf(what, 'parent hash', header['last_block_id']?.hash ?? '', hashOrNone).toUpperCase(),
    chain_id: network,
    time: timeOf(what, header['time']),
    proposer_address: textOf(
      what,
      'proposer_address',
      header['proposer_address'] ?? '',
      addressOrNone,
    ).toUpperCase(),
    txs: txs.map((tx, index) => Buffer.from(textOf(what, `tx ${index}`, tx, base64), 'base64')),
  };
}

/** A proxy's cache or a lagging node may answer for another height. @throws NodeError behind */
function expectHeight(what: string, height: number, answered: unknown): void {
  if (answered !== String(height))
    throw new NodeError('behind', `${what}: the answer is for height ${shown(answered)}`);
}

/** The time of a block, which a table can hold. @throws NodeError malformed */
function timeOf(what: string, value: unknown): string {
  const time = textOf(what, 'time', value, /^.{1,40}$/);
  try {
    const ns = toNanoseconds(time);
    if (ns >= earliestTime && ns < latestTime) return time;
  } catch {
    // told below
  }
  throw new NodeError('malformed', `${what}: its time is ${shown(time)}`);
}

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
  expectHeight(what, height, head[1]);
  let elements: readonly string[];
  let rest: { result: Results };
  try {
    const list = splitArrayAt(body, head[0].length);
    elements = list.elements;
    rest = JSON.parse(`{"result":{"txs_results":[]${body.slice(list.end)}`);
  } catch (cause) {
    throw new NodeError('not_json', `${what}: the answer is cut`, undefined, { cause });
  }
  return resultsOf(what, elements, rest.result.finalize_block_events);
}

/** Gas of more digits than 64 bits have: to read a number of millions of digits takes seconds. Within a string its quotes are escaped. */
const longGas = /"gas_(?:used|wanted)":"\d{21}/;

interface Results {
  readonly height?: unknown;
  readonly txs_results?: unknown;
  readonly finalize_block_events?: unknown;
}

/** The same for an answer that is written in another way: an empty block, other spacing, an error. */
function readOtherResults(height: number, what: string, status: number, body: string): CometResults {
  const result = resultOf(status, body, what) as Results;
  expectHeight(what, height, result.height);
  const results = result.txs_results ?? [];
  if (!Array.isArray(results))
    throw new NodeError('malformed', `${what}: its txs_results are ${shown(results)}`);
  return resultsOf(
    what,
    results.map((one) => JSON.stringify(one)),
    result.finalize_block_events,
  );
}

/** @param texts JSON of the txs' results. @throws NodeError malformed where one is no object, so that none counts as a tx that succeeded */
function resultsOf(what: string, texts: readonly string[], events: unknown): CometResults {
  const index = texts.findIndex((text) => text[0] !== '{');
  if (index !== -1) throw new NodeError('malformed', `${what}: the result of tx ${index} is no object`);
  const long = texts.findIndex((text) => longGas.test(text));
  if (long !== -1) throw new NodeError('malformed', `${what}: the gas of tx ${long} has more than 64 bits`);
  if (!Array.isArray(events ?? []))
    throw new NodeError('malformed', `${what}: its events are ${shown(events)}`);
  return { txs_results: texts, block_events: JSON.stringify(events ?? []) };
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
