import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { openEmbedded } from '../../services/common/clickhouse/embedded.js';
import { UserError } from '../../services/common/runtime/errors.js';
import { generateChain } from '../replay/generate.js';
import { preparePack } from '../replay/pack/write.js';
import { type CatchUp, measureCatchUp, settle } from './catchup.js';
import { load, quantile } from './load.js';
import { runNftBench } from './nft/cli.js';
import { diskUsage, freePort, type Program, startProgram } from './processes.js';
import {
  type BenchReport,
  printCatchUp,
  printRoutes,
  printSummary,
  type RouteResult,
  type Source,
} from './report.js';
import { benchRichlist } from './richlist.js';
import { benchRoutes, mixedRoute, oneUrl, type Samples } from './routes.js';
import { takeSamples } from './samples.js';

const usage = `weft bench: measures catching up and every route on a generated chain

  --blocks N          length of the chain (default 20000)
  --txs-per-block N   default 5
  --small N           length of the chain that routes are compared with (default 2000)
  --seconds N         how long each route is asked (default 3)
  --out FILE          JSON of everything (default bench-results/<time>.json)
  --keep FOLDER       keep the data there, and the node's answers, which another run then need not make again
  --richlist N        only the rich list of a token with N holders, beside one with 10,000
  --nft N             only NFT lists of N tokens, beside those of 10,000
`;

/** `weft bench`. */
export async function runBench(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      blocks: { type: 'string', default: '20000' },
      'txs-per-block': { type: 'string', default: '5' },
      small: { type: 'string', default: '2000' },
      seconds: { type: 'string', default: '3' },
      out: { type: 'string' },
      keep: { type: 'string' },
      nft: { type: 'string' },
      richlist: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  if (values.nft !== undefined) {
    await runNftBench(positive('nft', values.nft));
    return;
  }
  const folder = values.keep ?? mkdtempSync(join(tmpdir(), 'weft-bench-'));
  try {
    if (values.richlist !== undefined) {
      await benchRichlist(positive('richlist', values.richlist), folder);
      return;
    }
    const report = await bench({
      blocks: positive('blocks', values.blocks),
      txs_per_block: positive('txs-per-block', values['txs-per-block']),
      small: positive('small', values.small),
      seconds: positive('seconds', values.seconds),
      folder,
    });
    const out = values.out ?? join('bench-results', `${new Date().toISOString().replaceAll(':', '-')}.json`);
    mkdirSync(join(out, '..'), { recursive: true });
    writeFileSync(out, `${JSON.stringify(report, null, 2)}\n`);
    process.stdout.write(`\nwritten to ${out}\n`);
  } finally {
    if (values.keep === undefined) rmSync(folder, { recursive: true, force: true });
  }
}

interface BenchOptions {
  readonly blocks: number;
  readonly txs_per_block: number;
  readonly small: number;
  readonly seconds: number;
  readonly folder: string;
}

async function bench(options: BenchOptions): Promise<BenchReport> {
  const { blocks, txs_per_block, small, folder } = options;
  const chain = generateChain({ blocks, txs_per_block });
  // The node is to cost as little as it can: it shares the processors with what is measured.
  const pack = join(folder, 'chain.pack');
  const packing = performance.now();
  const isNew = await preparePack(chain, pack);
  const seconds = ((performance.now() - packing) / 1000).toFixed(1);
  process.stdout.write(
    isNew ? `the node's answers made ready in ${seconds} s\n` : `the node's answers are in ${pack}\n`,
  );
  mkdirSync(folder, { recursive: true });
  const data = mkdtempSync(join(folder, 'data-'));
  const ports = { node: await freePort(), http: await freePort() };
  const replay = (tip: number): Program =>
    startProgram(
      [
        'replay',
        '--generate',
        '--blocks',
        blocks,
        '--txs-per-block',
        txs_per_block,
        '--pack',
        pack,
        '--port',
        ports.node,
        '--interval-ms',
        0,
        '--tip',
        tip,
      ].map(String),
    );
  const url = `http://127.0.0.1:${ports.node}`;
  const weft = (from: Source): Program =>
    startProgram(['start'], {
      RPC_URL: url,
      REST_URL: url,
      JSON_RPC_URL: url,
      DATA_DIR: data,
      PORT: String(ports.http),
      OPS_PORT: '0',
      BLOCK_GRPC_PORT: '0',
      TX_GRPC_PORT: '0',
      CACHE_MB: from === 'cache' ? '64' : '0',
      ...(from === 'tables' || from === 'disk' ? { BODY_CACHE_MB: '0' } : {}),
      ...(from === 'tables' ? { FACT_CACHE_MB: '0' } : {}),
      NFT_GRPC_PORT: '0',
      RICHLIST_GRPC_PORT: '0',
      POLL_INTERVAL_MS: '200',
    });
  const routes: RouteResult[] = [];
  const measureRoutes = async (
    samples: Samples,
    from: Source,
    connections: readonly number[],
  ): Promise<void> => {
    const again = from === 'cache' ? [oneUrl(samples)] : [];
    for (const route of [...benchRoutes(samples), mixedRoute(samples), ...again]) {
      for (const count of connections) {
        const result = await load({
          host: '127.0.0.1',
          port: ports.http,
          connections: count,
          seconds: options.seconds,
          nextPath: route.nextPath,
        });
        if (result.failures > 0)
          throw new Error(`${route.name}: ${result.failures} of ${result.requests} answers were not 200`);
        routes.push({ route: route.name, txs: samples.total, from, connections: count, result });
      }
    }
  };

  const catchUp = (program: Program, height: number, probe = false): Promise<CatchUp> =>
    measureCatchUp({ port: ports.http, program, height, node_url: url, probe });

  // A short chain first: no route may be slower on the long one, where all comes from the tables.
  let node = replay(small);
  let program = weft('tables');
  process.stdout.write(`a chain of ${small} blocks first\n`);
  await catchUp(program, small);
  await settle(ports.http, small);
  await measureRoutes(takeSamples(chain, small, txs_per_block), 'tables', [1, 32]);
  await program.stop();
  await node.stop();

  process.stdout.write(`catching up to ${blocks} blocks of ${txs_per_block} txs\n`);
  node = replay(blocks);
  program = weft('memory');
  const samples = takeSamples(chain, blocks, txs_per_block);
  const catch_up = await catchUp(program, blocks, true);
  printCatchUp(catch_up, txs_per_block);
  await settle(ports.http, blocks);
  await measureRoutes(samples, 'memory', [1, 32]);
  const memory_at_rest = program.memory();
  await program.stop();

  for (const from of ['tables', 'disk', 'cache'] as const) {
    program = weft(from);
    await catchUp(program, blocks);
    await settle(ports.http, blocks);
    await measureRoutes(samples, from, [1, 32]);
    await program.stop();
  }
  await node.stop();
  const total = blocks * txs_per_block;
  const disk_bytes_per_tx = diskUsage(data) / total;
  printRoutes(routes);
  const report: BenchReport = {
    machine: {
      cores: availableParallelism(),
      memory_gib: Math.round(totalmem() / 2 ** 30),
      node: process.version,
    },
    chain: { blocks, txs_per_block, kb_per_block: catch_up.kb_per_block },
    catch_up,
    disk_bytes_per_tx,
    memory_at_rest,
    engine_ms: await measureEngine(join(folder, 'engine')),
    routes,
  };
  printSummary(report);
  return report;
}

/** The median time of `SELECT 1` in milliseconds, one after the other: what no cold read can go below that asks the engine. */
async function measureEngine(folder: string): Promise<number> {
  const database = await openEmbedded(folder);
  const times: number[] = [];
  for (let i = 0; i < 500; i++) {
    const before = performance.now();
    await database.bytes('SELECT 1', 'TSV', {}, { name: 'bench.select' });
    times.push(performance.now() - before);
  }
  await database.close();
  return quantile(
    times.sort((a, b) => a - b),
    0.5,
  );
}

function positive(name: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text))
    throw new UserError(`--${name} ${JSON.stringify(text)} is not a whole number above 0`);
  return Number(text);
}
