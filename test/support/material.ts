import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { sliceMember, splitArray } from '../../services/common/chain/json.js';
import { alignDecoded, decodeTxRaw } from '../../services/common/chain/txraw.js';
import type { BlockMaterial } from '../../services/common/gen/indexer/block/v1/block.js';
import { packageRoot } from '../../services/common/runtime/paths.js';

/** One line of a recording's exchanges.jsonl.gz. */
interface Exchange {
  api: 'rpc' | 'rest' | 'jsonrpc';
  path: string;
  requestBody?: string;
  status: number;
  body: string;
}

/** A block as the block service would hand it to a consumer, and its traces. */
export interface RecordedBlock {
  height: number;
  /** Upper-case hex. */
  hash: string;
  parent_hash: string;
  timestamp: string;
  tx_count: number;
  material: BlockMaterial;
  /** `result` of debug_traceBlockByNumber; undefined where the node answered with an error. */
  traces: string | undefined;
}

/**
 * Every block of a recording by height, built from what the recorded node answered: block,
 * block_results, decoded txs of REST, receipts and traces.
 */
export function recordedBlocks(recording: string): Map<number, RecordedBlock> {
  const rpc = new Map<string, string>();
  const rest = new Map<number, string[]>();
  const jsonrpc = new Map<string, string>();
  for (const exchange of readExchanges(recording)) {
    if (exchange.status !== 200) continue;
    if (exchange.api === 'rpc') rpc.set(exchange.path, exchange.body);
    else if (exchange.api === 'jsonrpc') rememberCall(jsonrpc, exchange);
    else rememberDecoded(rest, exchange);
  }
  const blocks = new Map<number, RecordedBlock>();
  for (const [path, body] of rpc) {
    const height = Number(/^\/block\?height=(\d+)$/.exec(path)?.[1]);
    const results = rpc.get(`/block_results?height=${height}`);
    if (!results || sliceMember(body, 'result') === undefined) continue;
    blocks.set(height, buildBlock(height, body, results, rest.get(height) ?? [], jsonrpc));
  }
  return blocks;
}

function readExchanges(recording: string): Exchange[] {
  const file = join(packageRoot, 'tools/replay/recordings', recording, 'exchanges.jsonl.gz');
  const lines = gunzipSync(readFileSync(file)).toString('utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Exchange);
}

function rememberCall(calls: Map<string, string>, exchange: Exchange): void {
  const request = JSON.parse(exchange.requestBody ?? 'null') as {
    method?: string;
    params?: unknown[];
  } | null;
  const result = sliceMember(exchange.body, 'result');
  if (request?.method && result) calls.set(`${request.method} ${request.params?.[0]}`, result);
}

function rememberDecoded(decoded: Map<number, string[]>, exchange: Exchange): void {
  const match = /^\/cosmos\/tx\/v1beta1\/txs\/block\/(\d+)(?:\?|$)/.exec(exchange.path);
  if (!match) return;
  const height = Number(match[1]);
  const txs = splitArray(sliceMember(exchange.body, 'txs') ?? '[]');
  const known = decoded.get(height) ?? [];
  decoded.set(height, txs.length > known.length ? txs : known);
}

function buildBlock(
  height: number,
  blockBody: string,
  resultsBody: string,
  decoded: string[],
  calls: Map<string, string>,
): RecordedBlock {
  const block = (JSON.parse(blockBody) as RpcBlock).result;
  const result = sliceMember(resultsBody, 'result') ?? '{}';
  const results = splitArray(notNull(sliceMember(result, 'txs_results')));
  const raws = block.block.data.txs.map((tx) => Buffer.from(tx, 'base64'));
  const aligned = alignDecoded(raws, decoded);
  const call = (method: string) => calls.get(`${method} 0x${height.toString(16)}`);
  return {
    height,
    hash: block.block_id.hash,
    parent_hash: block.block.header.last_block_id.hash,
    timestamp: block.block.header.time,
    tx_count: raws.length,
    material: {
      txs: raws.map((raw, index) => ({
        raw,
        result: Buffer.from(results[index] ?? ''),
        decoded: Buffer.from(aligned[index] ?? decodeTxRaw(raw)),
        decoded_locally: aligned[index] === undefined,
      })),
      receipts: Buffer.from(call('eth_getBlockReceipts') ?? ''),
      block_events: Buffer.from(notNull(sliceMember(result, 'finalize_block_events'))),
    },
    traces: call('debug_traceBlockByNumber'),
  };
}

interface RpcBlock {
  result: {
    block_id: { hash: string };
    block: { header: { time: string; last_block_id: { hash: string } }; data: { txs: string[] } };
  };
}

const notNull = (text: string | undefined): string => (text === undefined || text === 'null' ? '[]' : text);
