import { isTooLarge, type SendBatched, sendAlone, smallFirst } from '../common/chain/batch.js';
import { fetchCometBlock, fetchCometResults } from '../common/chain/comet.js';
import {
  type AnswerBound,
  type Endpoints,
  NodeError,
  type NodeErrorReason,
  retryDelay,
} from '../common/chain/endpoints.js';
import { type EvmList, fetchEvmHeight, fetchReceipts } from '../common/chain/evm.js';
import { fetchDecodedTxs } from '../common/chain/rest.js';
import { alignDecoded, decodeTxRaw } from '../common/chain/txraw.js';
import { BlockMaterial, type RawBlock, type TxMaterial } from '../common/gen/indexer/block/v1/block.js';
import { messageOf } from '../common/runtime/errors.js';
import { sleep } from '../common/runtime/lifecycle.js';
import type { Log } from '../common/runtime/log.js';
import type { Metrics } from '../common/runtime/metrics.js';
import { compress } from '../common/util/gzip.js';
import { oneLarge } from '../common/util/material.js';
import { type BlockTotals, blockTotals } from './totals.js';

/** The three interfaces of a node; jsonrpc is undefined on rollups without EVM. */
export interface Node {
  readonly rpc: Endpoints;
  readonly rest: Endpoints;
  readonly jsonrpc: Endpoints | undefined;
  /** Ways to ask for many heights at once. */
  readonly batches: {
    readonly comet: SendBatched;
    readonly receipts: SendBatched;
    readonly traces: SendBatched;
  };
}

/** A block with everything that is kept of it. */
export interface FetchedBlock {
  readonly raw: RawBlock;
  /** How many receipts its material has. */
  readonly receipt_count: number;
  /** Consensus address, upper-case hex. */
  readonly proposer_address: string;
  readonly totals: BlockTotals;
}

export interface FetchOptions {
  readonly node: Node;
  /** The chain that blocks must be of; empty for any. */
  readonly chain_id: string;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How often REST is asked again for a tx that it misses, before the raw bytes are decoded. */
  readonly decodedAttempts: number;
  /** How large an answer about a block may be. */
  readonly blockBound: AnswerBound;
  /** Told why a block cannot be fetched and will not be until somebody does something; '' once it is. */
  readonly onHindrance: (height: number, reason: string) => void;
}

/** What answers are read up to while many blocks are fetched: nearly all are smaller. */
const smallAnswer: AnswerBound = { bytes: 2 * 1024 * 1024 };

/** How long to wait before a block is asked for again whose answer was too large, in milliseconds. */
const tooLargeWait_ms = 15_000;

/** What no node says that is well. */
const wrong: readonly NodeErrorReason[] = ['malformed', 'incomplete', 'contradicts'];

/** A block that was answered so often in such a way stops the indexer, after some seconds. */
export const patientAttempts = 8;

/** Whether the node has said what cannot be true, and not only too late or not at all. */
export const isWrong = (error: unknown): boolean =>
  error instanceof NodeError && wrong.includes(error.reason);

/** What is told of a block that stops the indexer. */
export const cannotBeIndexed = (height: number, why: string): string =>
  `block ${height} cannot be indexed, and no block is left out: ${why}`;

/**
 * Fetches a block until it is there whole: a node that fails, lags or contradicts itself is
 * asked again with growing waits, without end.
 *
 * @throws only when the signal is aborted.
 */
export async function fetchBlock(
  options: FetchOptions,
  height: number,
  signal: AbortSignal,
): Promise<FetchedBlock> {
  let [isHindered, wrongs] = [false, 0];
  try {
    for (let attempt = 0; ; attempt++) {
      try {
        return await smallFirst(smallAnswer, oneLarge, (bound) => fetchOnce(options, height, signal, bound));
      } catch (error) {
        if (signal.aborted) throw error;
        if (isWrong(error)) wrongs += 1;
        if (isTooLarge(error) || wrongs >= patientAttempts) {
          const reason = cannotBeIndexed(height, `${messageOf(error)}; ${remedyOf(error)}`);
          if (!isHindered) options.log.error({ height, err: error }, reason);
          isHindered = true;
          options.onHindrance(height, reason);
        }
        const wait = isTooLarge(error) ? tooLargeWait_ms : retryDelay(attempt);
        const level = attempt === 5 ? 'warn' : 'debug';
        options.log[level](
          { height, attempt, err: error },
          `block ${height} is not complete yet: ${messageOf(error)}`,
        );
        await sleep(wait, signal);
        if (signal.aborted) throw error;
      }
    }
  } finally {
    if (isHindered) options.onHindrance(height, '');
  }
}

/** What somebody can do about an answer that is too large, where a setting bounds it, or wrong. */
const remedyOf = (error: unknown): string => {
  const setting = error instanceof NodeError ? error.setting : undefined;
  const other = `give the URL of a node that ${isTooLarge(error) ? 'does not send so much' : 'answers it otherwise'}`;
  return setting === undefined ? other : `raise ${setting}, or ${other}`;
};

/** @param small how large an answer may be at first; without it one block is fetched alone, with all that it has. */
async function fetchOnce(
  { node, chain_id, log, metrics, decodedAttempts, blockBound }: FetchOptions,
  height: number,
  signal: AbortSignal,
  small: AnswerBound | undefined,
): Promise<FetchedBlock> {
  const bound = small ?? blockBound;
  const send = small === undefined ? { comet: sendAlone, receipts: sendAlone } : node.batches;
  const [block, results] = await Promise.all([
    fetchCometBlock(node.rpc, height, chain_id, signal, send.comet, bound),
    fetchCometResults(node.rpc, height, signal, send.comet, bound),
  ]);
  if (results.txs_results.length !== block.txs.length) {
    throw node.rpc.blame(
      new NodeError(
        'contradicts',
        `block ${height}: ${block.txs.length} txs but ${results.txs_results.length} results`,
      ),
    );
  }
  const isEmpty = block.txs.length === 0;
  const [rest, receipts] = await Promise.all([
    isEmpty ? [] : decodedTxs(node.rest, height, [...block.txs], decodedAttempts, signal, bound),
    isEmpty || node.jsonrpc === undefined
      ? noReceipts
      : fetchReceipts(node.jsonrpc, height, signal, send.receipts, bound),
  ]);
  const decoded = block.txs.map((raw, index) => {
    const text = rest[index];
    if (text !== undefined) return text;
    metrics.problems.inc({ service: 'block', kind: 'tx_not_in_rest' });
    log.warn({ height, index }, 'the REST API does not give a tx of this block: decoded from its bytes');
    return decodeTxRaw(raw);
  });
  if (node.jsonrpc !== undefined && !isEmpty) {
    await checkReceipts(node.jsonrpc, height, receipts.count, results.txs_results, decoded, signal);
  }
  const material: BlockMaterial = {
    txs: block.txs.map(
      (raw, i): TxMaterial => ({
        raw,
        result: Buffer.from(results.txs_results[i] ?? 'null'),
        decoded: Buffer.from(decoded[i] ?? ''),
        decoded_locally: rest[i] === undefined,
      }),
    ),
    receipts: Buffer.from(receipts.text),
    block_events: Buffer.from(results.block_events),
  };
  const bytes = BlockMaterial.encode(material).finish();
  const most = 2 * blockBound.bytes;
  if (bytes.length > most) {
    const { setting: limit = '' } = blockBound;
    metrics.limits.inc({ service: 'block', limit });
    throw new NodeError(
      'too_large',
      `the answers about it come to ${bytes.length} bytes, more than twice ${blockBound.setting}`,
      undefined,
      { setting: blockBound.setting },
    );
  }
  return {
    raw: {
      height,
      hash: block.hash,
      parent_hash: block.parent_hash,
      timestamp: block.time,
      tx_count: material.txs.length,
      material: await compress(bytes),
      material_bytes: bytes.length,
    },
    receipt_count: receipts.count,
    proposer_address: block.proposer_address,
    totals: blockTotals(material),
  };
}

const noReceipts: EvmList = { text: '', count: 0 };

/** The REST texts at the index of their tx; undefined for those that REST keeps missing. */
async function decodedTxs(
  rest: Endpoints,
  height: number,
  raws: Buffer[],
  attempts: number,
  signal: AbortSignal,
  bound: AnswerBound,
): Promise<readonly (string | undefined)[]> {
  let aligned: readonly (string | undefined)[] = raws.map(() => undefined);
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await sleep(retryDelay(attempt), signal);
    const previous = aligned;
    const answer = await fetchDecodedTxs(rest, height, raws.length, signal, bound);
    aligned = alignDecoded(raws, answer).map((text, i) => text ?? previous[i]);
    if (aligned.every((text) => text !== undefined)) break;
  }
  return aligned;
}

/** @throws NodeError behind while the EVM index lags behind; incomplete or contradicts where there are too few or too many. */
async function checkReceipts(
  jsonrpc: Endpoints,
  height: number,
  count: number,
  results: readonly string[],
  decoded: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  // A tx has one receipt at most.
  if (count > results.length)
    throw jsonrpc.blame(
      new NodeError('contradicts', `block ${height}: ${results.length} txs but ${count} receipts`),
    );
  if (count === results.length) return;
  const missing = results.filter((result, i) => mustHaveReceipt(result, decoded[i] ?? '')).length - count;
  // Once the index has passed the block, an empty list without a sign of an EVM tx is right, and too short a list is wrong.
  if ((missing > 0 || count === 0) && (await fetchEvmHeight(jsonrpc, signal)) < height)
    throw new NodeError('behind', `block ${height}: the EVM index is not there yet`);
  if (missing > 0)
    throw jsonrpc.blame(new NodeError('incomplete', `block ${height}: ${missing} receipts are missing`));
}

/** Events that only an EVM execution leaves. */
const evmEvents = new Set(['call', 'create', 'evm']);

/** Sign mode of txs that were signed as Ethereum ones, as the node's REST API writes it. */
const ethereumSignMode = /"mode_info":\{"single":\{"mode":9999\}\}/;

/** What of a tx result tells. */
interface Execution {
  readonly code?: number;
  readonly events?:
    | readonly { readonly type: string; readonly attributes?: readonly { readonly key: string }[] | null }[]
    | null;
}

/**
 * Whether a tx must have a receipt, by what the block itself says: every successful one
 * that ran in the EVM, or was signed as an Ethereum tx, has one. Failed ones may or may not.
 *
 * @param result the tx's execution as the RPC wrote it.
 * @param decoded the tx as the REST API wrote it.
 */
export function mustHaveReceipt(result: string, decoded: string): boolean {
  const { code, events } = JSON.parse(result) as Execution;
  if (code !== 0) return false;
  const ran = (events ?? []).some(
    (event) =>
      evmEvents.has(event.type) &&
      (event.attributes ?? []).some((attribute) => attribute.key === 'msg_index'),
  );
  return ran || ethereumSignMode.test(decoded);
}
