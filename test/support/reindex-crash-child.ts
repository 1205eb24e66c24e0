/*
 * An indexer of blocks and of the service SERVICE (tx or nft), as crash-child.ts, that is told by
 * messages to rebuild the tables of that service, and that kills itself at a point between two steps (CRASH_AT, `point#times`).
 */
import { blockSettings } from '../../services/block/config.js';
import { startBlock } from '../../services/block/main.js';
import { openDatabase } from '../../services/common/clickhouse/open.js';
import { loadSettings } from '../../services/common/config.js';
import { createLog } from '../../services/common/log.js';
import { createMetrics } from '../../services/common/metrics.js';
import { nftSettings } from '../../services/nft/config.js';
import { startNft } from '../../services/nft/main.js';
import { txSettings } from '../../services/tx/config.js';
import { startTx } from '../../services/tx/main.js';
import { crashPoint } from './crash-point.js';
import { connectReindex, generationsOf, nftContents, tableContents } from './reindex.js';

const env = process.env;
const fault = crashPoint(env);

const shared = { log: createLog('error', 2), metrics: createMetrics() };
const config = loadSettings(blockSettings, env);
const database = await openDatabase(config);
const block = await startBlock({ ...shared, database, config, addresses: ['127.0.0.1:0'] });
const name = env['SERVICE'] ?? 'tx';
const given = { ...shared, fault, database, addresses: ['127.0.0.1:0'] };
const settings = { ...env, BLOCK_SERVICE_ADDR: block.address };
const service =
  name === 'nft'
    ? await startNft({ ...given, config: loadSettings(nftSettings, settings) })
    : await startTx({ ...given, config: loadSettings(txSettings, settings) });
const { rebuild, close } = connectReindex(service.address);
const base = `${config.CLICKHOUSE_DATABASE}_${name}`;

/** What a message asks for, and its answer. */
const orders: Readonly<Record<string, (argument: number) => Promise<unknown>>> = {
  rebuild: async () => {
    await rebuild();
    return 'done';
  },
  generations: () => generationsOf(database, base),
  contents: (generation) =>
    tableContents(
      database,
      generation === 1 ? base : `${base}_g${generation}`,
      name === 'nft' ? nftContents : undefined,
    ),
};
process.on('message', ({ id, order, argument }: { id: number; order: string; argument: number }) => {
  void orders[order]?.(argument).then(
    (answer) => process.send?.({ id, answer }),
    (error: unknown) => process.send?.({ id, error: String(error) }),
  );
});
process.send?.({ id: 0, answer: 'up' });
process.on('SIGTERM', () => {
  void (async () => {
    close();
    await service.stop();
    await block.stop();
    await database.close();
    process.exit(0);
  })();
});
