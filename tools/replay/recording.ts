import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { elements, members } from './json.js';
import { recordedState } from './state.js';
import type { BlockBodies, ChainSource, Exchange } from './types.js';

/** A recorded chain, indexed by meaning, with the exchanges it was made from. */
export interface Recording extends ChainSource {
  exchanges: Exchange[];
}

/** Where the recordings that ship with the package are. */
export const recordingsFolder = join(packageRoot, 'tools', 'replay', 'recordings');

/**
 * Loads a recording: the name of one that ships with the package (`evm`, `move`, `wasm`, `wasm-hostile`),
 * a folder with exchanges.jsonl(.gz), or a .jsonl(.gz) file. Throws with the reason when the file is
 * missing, a line is no exchange, or a block or its results are missing between the first and the last.
 */
export function loadRecording(nameOrPath: string): Recording {
  const exchanges = parseExchanges(readText(findFile(nameOrPath)));
  return indexExchanges(exchanges, nameOrPath);
}

/** Indexes exchanges that are already in memory; `name` is for messages only. */
export function indexExchanges(exchanges: Exchange[], name = 'recording'): Recording {
  const blocks = new Map<number, string>();
  const results = new Map<number, string>();
  const pages = new Map<number, string[]>();
  const receipts = new Map<number, string>();
  const traces = new Map<number, string>();
  const rest: Exchange[] = [];
  let evm = false;
  for (const e of exchanges) {
    if (e.api === 'rpc') {
      const target = /^\/(block|block_results)(\?|$)/.exec(e.path)?.[1];
      if (target && e.method === 'GET') {
        if (e.status === 200) put(target === 'block' ? blocks : results, target, e.body);
      } else rest.push(e);
    } else if (e.api === 'jsonrpc') {
      evm = true;
      for (const one of splitBatch(e)) {
        const request = JSON.parse(one.requestBody ?? '{}') as { method: string; params?: unknown[] };
        const result = members(one.body).get('result');
        if (request.method === 'eth_getBlockReceipts') {
          if (result && result !== 'null') receipts.set(blockTag(request.params?.[0]), result);
        } else if (request.method === 'debug_traceBlockByNumber') {
          if (result) traces.set(blockTag(request.params?.[0]), result);
        } else rest.push(one);
      }
    } else {
      const height = /^\/cosmos\/tx\/v1beta1\/txs\/block\/(\d+)(?:\?(.*))?$/.exec(e.path);
      if (!height) rest.push(e);
      else if (e.status === 200)
        mergePage(pages, Number(height[1]), new URLSearchParams(height[2] ?? ''), e.body);
    }
  }
  const heights = [...blocks.keys()];
  const first = heights.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY);
  const last = heights.reduce((a, b) => Math.max(a, b), 0);
  if (last === 0) throw new Error(`${name}: no block in it`);
  const bodies = new Map<number, BlockBodies>();
  for (let height = first; height <= last; height++) {
    const block = blocks.get(height);
    const result = results.get(height);
    if (!block || !result)
      throw new Error(`${name}: ${block ? 'results of block' : 'block'} ${height} missing`);
    bodies.set(
      height,
      toBodies(height, block, result, pages.get(height), receipts.get(height), traces.get(height)),
    );
  }
  const header = JSON.parse(blocks.get(last)!) as { block: { header: { chain_id: string } } };
  const status = firstResult(rest, /^\/status$/) ?? '{}';
  const info = firstResult(rest, /^\/abci_info$/);
  let hashes: Map<string, { height: number; index: number }> | undefined;
  return {
    exchanges,
    chainId: header.block.header.chain_id,
    first,
    last,
    evm,
    status: JSON.parse(status) as Record<string, unknown>,
    abciInfo: info ? (JSON.parse(info) as { response: Record<string, unknown> }).response : {},
    bodies: (height) => bodies.get(height),
    state: recordedState(rest, [...bodies.values()], last),
    findTx(hash) {
      hashes ??= indexHashes(bodies.values());
      return hashes.get(hash.toUpperCase());
    },
  };
}

/** SHA-256 of the raw tx, upper-case hex: the hash of a Cosmos tx. */
export function txHash(base64: string): string {
  return createHash('sha256').update(Buffer.from(base64, 'base64')).digest('hex').toUpperCase();
}

/** The raw txs (base64) of a block, from its RPC `result` text. */
export function rawTxs(block: string): string[] {
  return (JSON.parse(block) as { block: { data: { txs: string[] | null } } }).block.data.txs ?? [];
}

function indexHashes(all: Iterable<BlockBodies>): Map<string, { height: number; index: number }> {
  const out = new Map<string, { height: number; index: number }>();
  for (const { height, block } of all) {
    for (const [index, raw] of rawTxs(block).entries()) out.set(txHash(raw), { height, index });
  }
  return out;
}

function findFile(nameOrPath: string): string {
  const bases = [nameOrPath];
  if (/^[\w-]+$/.test(nameOrPath)) bases.push(join(recordingsFolder, nameOrPath));
  for (const base of bases) {
    for (const candidate of [join(base, 'exchanges.jsonl.gz'), join(base, 'exchanges.jsonl'), base]) {
      if (existsSync(candidate) && /\.jsonl(\.gz)?$/.test(candidate)) return candidate;
    }
  }
  throw new Error(
    `no recording at ${bases.join(' or ')}: want a .jsonl or .jsonl.gz file, or a folder with one`,
  );
}

function readText(file: string): string {
  const bytes = readFileSync(file);
  const zipped = bytes[0] === 0x1f && bytes[1] === 0x8b;
  return (zipped ? gunzipSync(bytes) : bytes).toString('utf8');
}

function parseExchanges(text: string): Exchange[] {
  const out: Exchange[] = [];
  for (const [index, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const e = JSON.parse(line) as Exchange;
    if (typeof e.path !== 'string' || typeof e.body !== 'string')
      throw new Error(`line ${index + 1} is no exchange`);
    out.push(e);
  }
  return out;
}

function put(into: Map<number, string>, kind: string, body: string): void {
  const result = members(body).get('result');
  if (!result) return;
  // the height is taken from the answer: `/block` without a parameter is the latest one
  const parsed = members(result);
  const height =
    kind === 'block' ? /"height":"(\d+)"/.exec(parsed.get('block') ?? '')?.[1] : parsed.get('height');
  if (height) into.set(Number(height.replaceAll('"', '')), result);
}

function splitBatch(e: Exchange): Exchange[] {
  const text = e.requestBody ?? '{}';
  if (!text.trimStart().startsWith('[')) return [e];
  const answers = elements(e.body);
  const byId = new Map(answers.map((a) => [members(a).get('id'), a]));
  return elements(text).flatMap((requestBody) => {
    const body = byId.get(members(requestBody).get('id'));
    return body ? [{ ...e, requestBody, body }] : [];
  });
}

function blockTag(tag: unknown): number {
  return typeof tag === 'string' ? Number.parseInt(tag, 16) : Number.NaN;
}

function mergePage(pages: Map<number, string[]>, height: number, query: URLSearchParams, body: string): void {
  const offset = Number(query.get('pagination.offset') ?? 0);
  const list = pages.get(height) ?? [];
  for (const [index, tx] of elements(members(body).get('txs') ?? '[]').entries()) list[offset + index] = tx;
  pages.set(height, list);
}

function toBodies(
  height: number,
  block: string,
  results: string,
  txs: string[] | undefined,
  receipts: string | undefined,
  traces: string | undefined,
): BlockBodies {
  const parsed = JSON.parse(block) as {
    block_id: { hash: string; parts: { hash: string } };
    block: { header: { time: string }; data: { txs: string[] | null } };
  };
  return {
    height,
    hash: parsed.block_id.hash,
    partsHash: parsed.block_id.parts.hash,
    time: parsed.block.header.time,
    block,
    results,
    txs: [...(txs ?? [])].filter((t) => t !== undefined),
    txCount: parsed.block.data.txs?.length ?? 0,
    receipts: receipts ?? '[]',
    traces: traces ?? '[]',
  };
}

function firstResult(exchanges: Exchange[], path: RegExp): string | undefined {
  const found = exchanges.find((e) => e.api === 'rpc' && path.test(e.path) && e.status === 200);
  return found && members(found.body).get('result');
}
