import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { NftServiceClient } from '../../../services/common/gen/indexer/nft/v1/nft.js';
import { connectRpc } from '../../../services/common/rpc/client.js';
import { loadSettings } from '../../../services/common/runtime/config.js';
import { createLog } from '../../../services/common/runtime/log.js';
import { createMetrics } from '../../../services/common/runtime/metrics.js';
import { packageRoot } from '../../../services/common/runtime/paths.js';
import { nftSettings } from '../../../services/nft/config.js';
import { startNft } from '../../../services/nft/main.js';
import { freePort } from '../../../tools/bench/processes.js';
import { testDatabase, uniquePrefix } from '../database.js';
import { temporaryFolder } from '../folder.js';

/** An nft service under test. */
export interface MadeService {
  readonly client: NftServiceClient;
  /** Ends it without warning and starts it again on the same tables, where that can be done. */
  kill(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the service in this process. @param env where its node and its blocks are. */
export async function serviceHere(env: Readonly<Record<string, string>>): Promise<MadeService> {
  const config = loadSettings(nftSettings, {
    ...{ CLICKHOUSE_DATABASE: uniquePrefix(), SHUTDOWN_GRACE_MS: '200' },
    ...env,
  });
  const service = await startNft({
    ...{ config, database: await testDatabase(), log: createLog('silent') },
    ...{ metrics: createMetrics(), addresses: ['127.0.0.1:0'] },
  });
  const client = connectRpc(NftServiceClient, service.address);
  return {
    client,
    kill: async () => {},
    async stop() {
      client.close();
      await service.stop();
    },
  };
}

/** Starts the service as a program with a folder of its own. */
export async function serviceProgram(env: Readonly<Record<string, string>>): Promise<MadeService> {
  const folder = temporaryFolder('made');
  const port = await freePort();
  const start = (): ChildProcess =>
    spawn(process.execPath, [join(packageRoot, 'dist/services/nft/main.js')], {
      env: {
        ...{ PATH: process.env['PATH'] ?? '', DATA_DIR: folder, GRPC_PORT: String(port), OPS_PORT: '0' },
        ...{ LOG_LEVEL: 'error', ...env },
      },
      stdio: 'ignore',
    });
  let child = start();
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    child.kill(signal);
    await ended;
  };
  const client = connectRpc(NftServiceClient, `127.0.0.1:${port}`);
  return {
    client,
    async kill() {
      await end('SIGKILL');
      child = start();
    },
    async stop() {
      client.close();
      await end('SIGTERM');
    },
  };
}
