import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../../services/common/clickhouse/database.js';
import { packageRoot } from '../../../services/common/runtime/paths.js';
import { freePort } from '../../../tools/bench/processes.js';
import { startReplayNode } from '../../../tools/replay/node.js';
import { eventually, nodeEnvironment } from '../block.js';
import { type ClickHouseServer, serveClickHouse } from '../clickhouse-server.js';
import { query, uniquePrefix } from '../database.js';
import { outputOf } from '../output.js';
import { type ClickHouseProxy, startClickHouseProxy } from './clickhouse-proxy.js';

/** The services that write tables of the chain. */
export const writing = ['block', 'tx', 'nft', 'richlist'] as const;

export type Writing = (typeof writing)[number];

/** A process that writes the tables of one service. */
export interface WriterProcess {
  readonly service: Writing;
  readonly child: ChildProcess;
  /** What it has logged. */
  readonly said: () => string;
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number | null>;
}

/** Services in processes of their own, over one ClickHouse server and a chain that grows. */
export interface WriterWorld {
  readonly prefix: string;
  /** What stands between the writers and the server. */
  readonly proxy: ClickHouseProxy;
  /** How far a service is. */
  height(service: Writing): Promise<number>;
  /** Starts one more process that writes a service's tables. */
  start(service: Writing): WriterProcess;
  /** Starts one for every service. */
  startAll(): Record<Writing, WriterProcess>;
  /** Resolves when every service has all of the chain. */
  isComplete(): Promise<void>;
  /** The last lines that each process has logged, to find out why a test failed. */
  said(): string;
  /** Ends everything, the writers with SIGTERM. @returns the exit codes of those that still ran. */
  stop(): Promise<(number | null)[]>;
}

/** How long a silent writer is waited for: long enough for a loaded machine, short enough for a test. */
export const lease_ms = 3_000;

/** How many blocks the chain has that the slowest service has not. */
const blocksAhead = 25;

/** @param interval_ms how often the chain may grow. */
export async function startWriterWorld(
  database: Database,
  tip: number,
  interval_ms: number,
): Promise<WriterWorld> {
  const server: ClickHouseServer = await serveClickHouse(database);
  const proxy = await startClickHouseProxy(server.url);
  const node = await startReplayNode({ recording: 'evm', tip: blocksAhead });
  const prefix = uniquePrefix();
  const blockPort = await freePort();
  const all: WriterProcess[] = [];
  let isOver = false;

  const run = (service: Writing, env: Record<string, string>): WriterProcess => {
    const child = spawn(process.execPath, [join(packageRoot, 'dist/services', service, 'main.js')], {
      env: {
        ...process.env,
        ...nodeEnvironment(node, 'evm'),
        NODE_TIMEOUT_MS: '10000',
        CLICKHOUSE_URL: proxy.url,
        CLICKHOUSE_DATABASE: prefix,
        BLOCK_SERVICE_ADDR: `127.0.0.1:${blockPort}`,
        WRITER_LEASE_MS: String(lease_ms),
        GRPC_PORT: '0',
        OPS_PORT: '0',
        ...env,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const ended = once(child, 'exit').then(([code]) => code as number | null);
    const started = { service, child, said: outputOf(child), ended };
    all.push(started);
    return started;
  };

  const height = async (service: Writing): Promise<number> => {
    const [row] = await query<{ height: number }>(
      `SELECT max(height) AS height FROM ${prefix}_${service}.blocks`,
    ).catch(() => []);
    return row?.height ?? 0;
  };

  /** The chain is never far ahead of the slowest service: there is something left to write whenever one is handed over. */
  const growth = (async () => {
    while (node.tip() < tip && !isOver) {
      const heights = await Promise.all(writing.map(height));
      node.setTip(Math.max(node.tip(), Math.min(tip, Math.min(...heights) + blocksAhead)));
      await sleep(interval_ms);
    }
  })();

  const knowsDetails = async (): Promise<boolean> => {
    const [row] = await query<{
      open: number;
    }>(`SELECT (SELECT count() FROM ${prefix}_nft.jobs FINAL WHERE state = 'pending' AND attempts = 0)
         + (SELECT count() FROM ${prefix}_nft.asks WHERE at > (SELECT max(at) FROM ${prefix}_nft.asked FINAL)) AS open`);
    return row?.open === 0;
  };

  run('block', { ROLE: 'serve', GRPC_PORT: String(blockPort) });
  const start = (service: Writing): WriterProcess => run(service, { ROLE: 'ingest' });
  return {
    prefix,
    proxy,
    height,
    start,
    startAll: () => Object.fromEntries(writing.map((service) => [service, start(service)])) as never,
    async isComplete() {
      for (const service of writing)
        await eventually(async () => (await height(service)) >= tip, `all blocks in ${service}`, 120_000);
      const traces = `SELECT max(height) AS height FROM ${prefix}_tx.internal_blocks`;
      await eventually(
        async () =>
          ((await database.rows<{ height: number }>(traces, {}, { name: 'test' }))[0]?.height ?? 0) >= tip,
        'all traces',
        30_000,
      );
      await eventually(knowsDetails, 'the details of NFTs', 30_000);
    },
    said: () =>
      all
        .map(({ service, child, said }) => {
          const state = child.exitCode ?? child.signalCode ?? 'runs';
          return `${service} ${child.pid} (${state}):\n${said().split('\n').slice(-8).join('\n')}`;
        })
        .join('\n'),
    async stop() {
      const running = all.filter(({ child }) => child.exitCode === null && child.signalCode === null);
      for (const { child } of running) child.kill('SIGCONT');
      for (const { child } of running) child.kill('SIGTERM');
      const codes = await Promise.all(running.map(({ ended }) => ended));
      isOver = true;
      await growth;
      await node.close();
      await proxy.close();
      await server.close();
      return codes;
    },
  };
}
