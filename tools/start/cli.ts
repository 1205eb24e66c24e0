import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startBlock } from '../../services/block/main.js';
import { watchLostParts } from '../../services/common/clickhouse/engine-files.js';
import { openDatabase } from '../../services/common/clickhouse/open.js';
import type { BlockServiceClient } from '../../services/common/gen/indexer/block/v1/block.js';
import type { NftServiceClient } from '../../services/common/gen/indexer/nft/v1/nft.js';
import type { RichlistServiceClient } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import type { TxServiceClient } from '../../services/common/gen/indexer/tx/v1/tx.js';
import { connectLocal } from '../../services/common/rpc/local.js';
import { openPlainTransport } from '../../services/common/rpc/transport.js';
import { limitHeapGrowth } from '../../services/common/runtime/heap.js';
import {
  type Drainable,
  type OnFatal,
  runUntilSignal,
  startTogether,
} from '../../services/common/runtime/lifecycle.js';
import { createLog, type Log } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { hostPort, reachable } from '../../services/common/runtime/network.js';
import { allReady, serveOps } from '../../services/common/runtime/ops.js';
import { startGateway } from '../../services/gateway/main.js';
import { startNft } from '../../services/nft/main.js';
import { startRichlist } from '../../services/richlist/main.js';
import { startTx } from '../../services/tx/main.js';
import { showProgress } from './progress.js';
import { startRecorded } from './recorded.js';
import { isRecorded, loadStartConfig, type StartConfig } from './settings.js';

const usage = `weft start: indexes a rollup and serves its API, all in one process

Set RPC_URL, REST_URL and JSON_RPC_URL (EVM) to index a rollup; without them a recorded
one is served. All settings are environment variables: see \`weft config\`.
`;

/** `weft start`: runs until SIGINT or SIGTERM. */
export async function runStart(args: string[]): Promise<void> {
  const { values } = parseArgs({ args, options: { help: { type: 'boolean', default: false } } });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  const log = createLog('warn', 2);
  await runUntilSignal(log, (signal, onFatal) =>
    startAll(loadStartConfig(process.env), log, signal, onFatal),
  );
}

/** Starts every service in this process, over the same gRPC as in many. */
async function startAll(
  config: StartConfig,
  log: Log,
  signal: AbortSignal,
  onFatal: OnFatal,
): Promise<Drainable> {
  log.level = config.LOG_LEVEL;
  limitHeapGrowth(config.HEAP_GROWTH_PERCENT);
  const screen = process.stdout;
  return startTogether(async (stops) => {
    const recorded = isRecorded(config);
    const folder = recorded ? join(config.DATA_DIR, 'recorded') : config.DATA_DIR;
    let node = { RPC_URL: config.RPC_URL, REST_URL: config.REST_URL, JSON_RPC_URL: config.JSON_RPC_URL };
    if (recorded) {
      const replay = await startRecorded(folder, config.REPLAY_INTERVAL_MS);
      stops.push(() => replay.close());
      node = { RPC_URL: [replay.rpc_url], REST_URL: [replay.rest_url], JSON_RPC_URL: [replay.json_rpc_url] };
      screen.write(
        `No RPC_URL is set: serving a recorded EVM rollup (${replay.chain.source.chainId}) that makes a block every ${config.REPLAY_INTERVAL_MS / 1000} s.\n`,
      );
    } else {
      screen.write(
        `Indexing the ${config.VM_TYPE} rollup at ${config.RPC_URL.map(withoutCredentials).join(', ')}.\n`,
      );
    }

    const metrics = createMetrics(true);
    const database = await openDatabase({ ...config, DATA_DIR: folder });
    stops.push(() => database.close());
    const lost = await watchLostParts(database, log);
    stops.push(async () => lost.stop());
    const shared = { database, log, metrics, onFatal, transport: openPlainTransport(config) };
    const all = { ...config, ...node, DATA_DIR: folder, ROLE: 'all' as const };

    const block = await startBlock({
      ...shared,
      config: { ...all, GRPC_PORT: config.BLOCK_GRPC_PORT },
      addresses: [hostPort(config.HOST, config.BLOCK_GRPC_PORT)],
    });
    stops.push(() => block.stop());
    // Within the process calls need no socket; the gRPC ports are for others.
    const blockClient = connectLocal<BlockServiceClient>(block.service);
    const tx = await startTx({
      ...shared,
      config: { ...all, GRPC_PORT: config.TX_GRPC_PORT, BLOCK_SERVICE_ADDR: block.address },
      blocks: blockClient,
      addresses: [hostPort(config.HOST, config.TX_GRPC_PORT)],
    });
    stops.push(() => tx.stop());
    const nft = await startNft({
      ...shared,
      config: { ...all, GRPC_PORT: config.NFT_GRPC_PORT, BLOCK_SERVICE_ADDR: block.address },
      blocks: blockClient,
      addresses: [hostPort(config.HOST, config.NFT_GRPC_PORT)],
    });
    stops.push(() => nft.stop());
    const richlist = await startRichlist({
      ...shared,
      config: { ...all, GRPC_PORT: config.RICHLIST_GRPC_PORT, BLOCK_SERVICE_ADDR: block.address },
      blocks: blockClient,
      addresses: [hostPort(config.HOST, config.RICHLIST_GRPC_PORT)],
    });
    stops.push(() => richlist.stop());
    const clients = {
      block: blockClient,
      tx: connectLocal<TxServiceClient>(tx.service),
      nft: connectLocal<NftServiceClient>(nft.service),
      richlist: connectLocal<RichlistServiceClient>(richlist.service),
    };
    const gateway = await startGateway({
      config: {
        ...config,
        BLOCK_SERVICE_ADDR: block.address,
        TX_SERVICE_ADDR: tx.address,
        NFT_SERVICE_ADDR: nft.address,
        RICHLIST_SERVICE_ADDR: richlist.address,
      },
      clients,
      log,
      metrics,
    });
    stops.push(() => gateway.stop());
    const readiness = allReady({
      tables: lost.readiness,
      block: block.readiness,
      tx: tx.readiness,
      nft: nft.readiness,
      richlist: richlist.readiness,
      gateway: gateway.readiness,
    });
    const ops = await serveOps(config.HOST, config.OPS_PORT, metrics, readiness);
    stops.push(() => ops.close());

    const base = `http://${reachable(config.HOST, gateway.port)}${config.BASE_PATH}`;
    screen.write(
      `\n  Live page   ${base}/\n  API docs    ${base}/swagger/\n  Status      ${base}/status\n  Latest txs  ${base}/indexer/tx/v1/txs\n  Holders     ${base}/indexer/richlist/v1/GAS\n  Metrics     http://${reachable(config.HOST, ops.port)}/metrics\n\nStop with Ctrl-C; a second start goes on where this one stops.\n\n`,
    );

    const progress = showProgress(screen, clients.block, clients.tx, signal);
    stops.push(() => progress);
    const stopWriting = (): void => {
      for (const service of [richlist, nft, tx, block]) service.stopWriting?.();
    };
    return {
      stopWriting,
      drain: gateway.drain,
      drain_ms: config.DRAIN_MS,
      grace_ms: config.SHUTDOWN_GRACE_MS,
    };
  });
}

function withoutCredentials(url: string): string {
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`;
}
