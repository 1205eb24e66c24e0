import type { CatchUp } from './catchup.js';
import type { LoadResult } from './load.js';
import { mixName } from './routes.js';

/**
 * Where answers may come from: only the tables; the facts on local disk too; the memory for bodies, as when an answer
 * is asked for the first time; or the cache of whole answers as well.
 */
export type Source = 'tables' | 'disk' | 'memory' | 'cache';

/** What was measured at one route. */
export interface RouteResult {
  readonly route: string;
  readonly txs: number;
  readonly from: Source;
  readonly connections: number;
  readonly result: LoadResult;
}

/** Everything that a run gives. */
export interface BenchReport {
  readonly machine: { readonly cores: number; readonly memory_gib: number; readonly node: string };
  readonly chain: { readonly blocks: number; readonly txs_per_block: number; readonly kb_per_block: number };
  readonly catch_up: CatchUp;
  readonly disk_bytes_per_tx: number;
  readonly memory_at_rest: { readonly now: number; readonly peak: number };
  /** How long the embedded engine takes for a statement that reads nothing, at the median. */
  readonly engine_ms: number;
  readonly routes: readonly RouteResult[];
}

/** Prints how catching up went. */
export function printCatchUp(result: CatchUp, txs_per_block: number): void {
  const { reads } = result;
  process.stdout.write(
    [
      `${result.blocks} blocks in ${result.seconds.toFixed(1)} s: ${result.blocks_per_second.toFixed(0)} blocks/s, ${(result.blocks_per_second * txs_per_block).toFixed(0)} txs/s`,
      `a block: ${txs_per_block} txs, ${result.kb_per_block.toFixed(1)} kB from the node`,
      `reads meanwhile: ${reads.count}, p50 ${reads.p50.toFixed(1)} ms, p99 ${reads.p99.toFixed(1)} ms, ${reads.failures} failures`,
      `memory at most: ${(result.peak_memory / 2 ** 20).toFixed(0)} MiB`,
      '',
    ].join('\n'),
  );
}

/** Prints the table of the README, in Markdown. */
export function printSummary({
  catch_up,
  routes,
  engine_ms,
  disk_bytes_per_tx,
  memory_at_rest,
}: BenchReport): void {
  const mib = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(0)} MiB`;
  const long = Math.max(...routes.map(({ txs }) => txs));
  const measured = (name: string, from: Source, connections: number): LoadResult | undefined =>
    routes.find(
      (one) => one.route === name && one.from === from && one.connections === connections && one.txs === long,
    )?.result;
  const latency = (name: string, from: Source): string => {
    const result = measured(name, from, 1);
    return result === undefined ? '' : `${result.p50.toFixed(2)}, ${result.p99.toFixed(1)} ms`;
  };
  const rate = (name: string, from: Source, connections: number): string => {
    const result = measured(name, from, connections);
    return result === undefined ? '' : `${result.per_second.toFixed(0)}/s, p99 ${result.p99.toFixed(0)} ms`;
  };
  const cold = [
    'tx by hash',
    'account, newest 10',
    'txs by height',
    'block by height',
    'txs, newest 100',
    'txs, 100 anywhere',
    'blocks, 100 anywhere',
    'txs of a message type',
  ];
  const threads = Object.entries(catch_up.processor_ms)
    .sort(([, a], [, b]) => b - a)
    .slice(0, 4)
    .map(([thread, ms]) => `${thread} ${ms.toFixed(1)}`);
  const rows = [
    ['catching up, all services', `${catch_up.blocks_per_second.toFixed(0)} blocks/s`],
    ['processor time a block, the largest threads', `${threads.join(', ')} ms`],
    ['reads meanwhile, p50, p99', `${catch_up.reads.p50.toFixed(0)}, ${catch_up.reads.p99.toFixed(0)} ms`],
    ['memory at most, at rest', `${mib(memory_at_rest.peak)}, ${mib(memory_at_rest.now)}`],
    ['disk a tx, everything included', `${disk_bytes_per_tx.toFixed(0)} bytes`],
    ["the engine's own `SELECT 1`, p50", `${engine_ms.toFixed(2)} ms`],
    ...cold.map((name) => [
      `${name}, cold, 1 connection, p50, p99: files, tables alone`,
      `${latency(name, 'disk')}; ${latency(name, 'tables')}`,
    ]),
    ...(['disk', 'tables', 'memory'] as const).flatMap((from) =>
      [1, 32].map((count) => [`${mixName} from ${from}, ${count} connections`, rate(mixName, from, count)]),
    ),
    ['one URL from the cache, 32 connections', rate('one tx again and again', 'cache', 32)],
  ];
  const lines = [['what', 'figure'], ['---', '---'], ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** Prints a table of every route: small chain and long chain from the tables, long chain from disk, memory and the cache. */
export function printRoutes(results: readonly RouteResult[]): void {
  const header = ['route', 'txs', 'from', 'conns', 'req/s', 'p50 ms', 'p99 ms', 'max ms', 'kB'];
  const rows = results.map(({ route, txs, from, connections, result }) => [
    route,
    String(txs),
    from,
    String(connections),
    result.per_second.toFixed(0),
    result.p50.toFixed(2),
    result.p99.toFixed(2),
    result.max.toFixed(1),
    (result.bytes / 1000).toFixed(1),
  ]);
  const widths = header.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i]?.length ?? 0)));
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, i) => (i === 0 ? cell.padEnd(widths[i] ?? 0) : cell.padStart(widths[i] ?? 0)))
      .join('  ');
  process.stdout.write(`\n${[header, ...rows].map(line).join('\n')}\n\n`);
}
