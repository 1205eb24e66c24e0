/*
 * A whole indexer in a process that can be killed at an exact place: block, tx and nft services
 * over the embedded engine, with nothing else. Started by the crash test with the settings in
 * its environment; CRASH_AT names a point between two writes and how often it is passed
 * before the process kills itself there, CRASH_LOG is a file that collects the points.
 */
import { blockSettings } from '../../services/block/config.js';
import { startBlock } from '../../services/block/main.js';
import { openDatabase } from '../../services/common/clickhouse/open.js';
import { loadSettings } from '../../services/common/config.js';
import { createLog } from '../../services/common/log.js';
import { createMetrics } from '../../services/common/metrics.js';
import { gatewaySettings } from '../../services/gateway/config.js';
import { startGateway } from '../../services/gateway/main.js';
import { nftSettings } from '../../services/nft/config.js';
import { startNft } from '../../services/nft/main.js';
import { richlistSettings } from '../../services/richlist/config.js';
import { startRichlist } from '../../services/richlist/main.js';
import { txSettings } from '../../services/tx/config.js';
import { startTx } from '../../services/tx/main.js';
import { crashPoint } from './crash-point.js';

const env = process.env;
const fault = crashPoint(env);

const shared = { log: createLog('error', 2), metrics: createMetrics(), fault };
const database = await openDatabase(loadSettings(blockSettings, env));
const block = await startBlock({
  ...shared,
  database,
  config: loadSettings(blockSettings, env),
  addresses: ['127.0.0.1:0'],
});
const txEnv = { ...env, BLOCK_SERVICE_ADDR: block.address };
const tx = await startTx({
  ...shared,
  database,
  config: loadSettings(txSettings, txEnv),
  addresses: ['127.0.0.1:0'],
});
const nft = await startNft({
  ...shared,
  fault: (where) => fault(`nft ${where}`),
  database,
  config: loadSettings(nftSettings, txEnv),
  addresses: ['127.0.0.1:0'],
});
const richlist = await startRichlist({
  ...shared,
  database,
  config: loadSettings(richlistSettings, txEnv),
  addresses: ['127.0.0.1:0'],
});
const gateway = await startGateway({
  ...shared,
  config: loadSettings(gatewaySettings, {
    ...env,
    PORT: '0',
    BLOCK_SERVICE_ADDR: block.address,
    TX_SERVICE_ADDR: tx.address,
    NFT_SERVICE_ADDR: nft.address,
    RICHLIST_SERVICE_ADDR: richlist.address,
  }),
});
process.send?.({ url: `http://127.0.0.1:${gateway.port}`, nft: nft.address });
process.on('SIGTERM', () => {
  void (async () => {
    await gateway.stop();
    await nft.stop();
    await richlist.stop();
    await tx.stop();
    await block.stop();
    await database.close();
    process.exit(0);
  })();
});
