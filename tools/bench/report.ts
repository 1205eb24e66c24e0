import type { CatchUp } from './catchup.js';
import type { LoadResult } from './load.js';

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
