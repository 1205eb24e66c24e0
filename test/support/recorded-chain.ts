import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { packageRoot } from '../../services/common/runtime/paths.js';
import type { RecordingName } from './facts.js';

interface Exchange {
  readonly api: 'rpc' | 'rest' | 'jsonrpc';
  readonly path: string;
  readonly requestBody?: string;
  readonly status: number;
  readonly body: string;
}

/** What a recorded node said, looked up by what it was asked. */
export interface RecordedChain {
  /** Header times by height, as the node wrote them (`2026-11-21T09:20:10.897399357Z`). */
  readonly times: ReadonlyMap<number, string>;
  /** Parsed `result` of eth_getBlockReceipts by height. */
  readonly receipts: ReadonlyMap<number, readonly Record<string, unknown>[]>;
  /** Parsed `result` of debug_traceBlockByNumber by height; none for a block it refused. */
  readonly traces: ReadonlyMap<number, readonly TraceOfTx[]>;
}

/** One element of debug_traceBlockByNumber. */
export interface TraceOfTx {
  readonly txHash: string;
  readonly result: Call;
}

/** A call as callTracer describes it. */
export interface Call {
  readonly [member: string]: unknown;
  readonly calls?: readonly Call[];
}

/** Reads exchanges.jsonl.gz of a recording, without any code of the services. */
export function readChain(name: RecordingName): RecordedChain {
  const times = new Map<number, string>();
  const receipts = new Map<number, readonly Record<string, unknown>[]>();
  const traces = new Map<number, readonly TraceOfTx[]>();
  for (const exchange of readLines(name)) {
    if (exchange.api === 'rpc' && exchange.path.startsWith('/block?height=')) {
      const header = JSON.parse(exchange.body).result?.block?.header;
      if (header !== undefined) times.set(Number(header.height), header.time);
    }
    if (exchange.api !== 'jsonrpc') continue;
    const { method, params } = JSON.parse(exchange.requestBody ?? '{}');
    const { result } = JSON.parse(exchange.body);
    if (method === 'eth_getBlockReceipts') receipts.set(Number(params[0]), result);
    if (method === 'debug_traceBlockByNumber' && result !== undefined) traces.set(Number(params[0]), result);
  }
  return { times, receipts, traces };
}

function readLines(name: RecordingName): Exchange[] {
  const file = join(packageRoot, 'tools/replay/recordings', name, 'exchanges.jsonl.gz');
  const lines = gunzipSync(readFileSync(file)).toString().split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as Exchange);
}
