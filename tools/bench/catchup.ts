import { sleep } from '../../services/common/runtime/lifecycle.js';
import { quantile } from './load.js';
import type { Processor, Program } from './processes.js';

/** How catching up went. */
export interface CatchUp {
  readonly blocks: number;
  readonly seconds: number;
  readonly blocks_per_second: number;
  /** Processor time a block in milliseconds, by thread. */
  readonly processor_ms: Processor;
  /** What the node sent for a block, on average, in kB. */
  readonly kb_per_block: number;
  /** Reads that were sent meanwhile, and their latency in milliseconds. */
  readonly reads: {
    readonly count: number;
    readonly p50: number;
    readonly p99: number;
    readonly failures: number;
  };
  /** Highest resident memory in bytes. */
  readonly peak_memory: number;
}

export interface CatchUpOptions {
  /** Port of the HTTP API. */
  readonly port: number;
  readonly program: Program;
  /** Height to wait for. */
  readonly height: number;
  readonly node_url: string;
  /** Whether to read all the while. */
  readonly probe: boolean;
}

const startPatience_ms = 60_000;

/** One read at a time, of each of these in turn, so often. */
const probeEvery_ms = 50;
const probes = [
  '/status',
  '/indexer/block/v1/blocks?pagination.limit=20',
  '/indexer/tx/v1/txs?pagination.limit=20',
  '/indexer/tx/v1/evm-txs?pagination.limit=20',
];

/** Waits until the API serves a height, and reads while it gets there. */
export async function measureCatchUp(options: CatchUpOptions): Promise<CatchUp> {
  const base = `http://127.0.0.1:${options.port}`;
  const from = await firstHeight(base);
  const [started, before] = [performance.now(), options.program.processor()];
  const latencies: number[] = [];
  let failures = 0;
  let height = from;
  for (let i = 0; height < options.height; i++) {
    if (options.program.child.exitCode !== null)
      throw new Error(`the program ended with code ${options.program.child.exitCode}`);
    if (options.probe) {
      const before = performance.now();
      const response = await fetch(base + (probes[i % probes.length] ?? ''));
      await response.arrayBuffer();
      latencies.push(performance.now() - before);
      if (response.status !== 200) failures += 1;
    }
    if (i % 10 === 0) height = await servedHeight(base);
    await sleep(probeEvery_ms);
  }
  const seconds = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  const blocks = options.height - from;
  const processor_ms = Object.fromEntries(
    Object.entries(options.program.processor())
      .map(([thread, ms]): [string, number] => [thread, (ms - (before[thread] ?? 0)) / blocks])
      .filter(([, ms]) => ms >= 0.01),
  );
  return {
    blocks,
    seconds,
    blocks_per_second: blocks / seconds,
    processor_ms,
    kb_per_block: await blockSize(options.node_url, options.height),
    reads: {
      count: latencies.length,
      p50: quantile(latencies, 0.5),
      p99: quantile(latencies, 0.99),
      failures,
    },
    peak_memory: options.program.memory().peak,
  };
}

/** Merges of the database go on for a moment after the last insert. */
const settle_ms = 5_000;

/** Waits until the traces are indexed too, and the database has calmed down. */
export async function settle(port: number, height: number): Promise<void> {
  for (;;) {
    const status = (await (await fetch(`http://127.0.0.1:${port}/status`)).json()) as {
      internal_tx_height: number;
    };
    if (status.internal_tx_height >= height) break;
    await sleep(200);
  }
  await sleep(settle_ms);
}

async function firstHeight(base: string): Promise<number> {
  const end = Date.now() + startPatience_ms;
  for (;;) {
    try {
      return await servedHeight(base);
    } catch (error) {
      if (Date.now() > end) throw error;
      await sleep(100);
    }
  }
}

async function servedHeight(base: string): Promise<number> {
  const { height } = (await (await fetch(`${base}/status`)).json()) as { height: number };
  return height;
}

/** Bytes of what the node says about the blocks at the end of the chain, in kB a block. */
async function blockSize(node_url: string, last: number): Promise<number> {
  const sampled = 20;
  let bytes = 0;
  const post = (method: string, params: unknown[]) => ({
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });
  for (let height = last - sampled + 1; height <= last; height++) {
    const hex = `0x${height.toString(16)}`;
    const answers = [
      fetch(`${node_url}/block?height=${height}`),
      fetch(`${node_url}/block_results?height=${height}`),
      fetch(`${node_url}/cosmos/tx/v1beta1/txs/block/${height}?pagination.limit=1000`),
      fetch(node_url, post('eth_getBlockReceipts', [hex])),
      fetch(node_url, post('debug_traceBlockByNumber', [hex, { tracer: 'callTracer' }])),
    ];
    for (const answer of answers) bytes += (await (await answer).arrayBuffer()).byteLength;
  }
  return bytes / sampled / 1000;
}
