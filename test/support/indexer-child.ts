import { blockSettings } from '../../services/block/config.js';
import { startBlock } from '../../services/block/main.js';
import { openDatabase } from '../../services/common/clickhouse/open.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { gatewaySettings } from '../../services/gateway/config.js';
import { startGateway } from '../../services/gateway/main.js';
import { nftSettings } from '../../services/nft/config.js';
import { startNft } from '../../services/nft/main.js';
import { richlistSettings } from '../../services/richlist/config.js';
import { startRichlist } from '../../services/richlist/main.js';
import { txSettings } from '../../services/tx/config.js';
import { startTx } from '../../services/tx/main.js';
import { crashPoint } from './crash-point.js';
import { connectReindex, generationsOf, nftContents, tableContents } from './reindex.js';

/*
 * An indexer in a process that can be killed at an exact place: the block service, and those that SERVICES names, over
 * the embedded engine. Tests start it with the settings in its environment. CRASH_AT names a point between two writes
 * and how often it is passed before the process kills itself there, CRASH_LOG is a file that collects the points. It
 * does what messages say.
 */

const env = process.env;
const fault = crashPoint(env);
const shared = { log: createLog('error', 2), metrics: createMetrics(), fault };
const config = loadSettings(blockSettings, env);
const database = await openDatabase(config);
const given = { ...shared, database, addresses: ['127.0.0.1:0'] };
const block = await startBlock({ ...given, config });
const settings = { ...env, BLOCK_SERVICE_ADDR: block.address };

const starts = {
  tx: () => startTx({ ...given, config: loadSettings(txSettings, settings) }),
  nft: () =>
    startNft({
      ...given,
      fault: (where) => fault(`nft ${where}`),
      config: loadSettings(nftSettings, settings),
    }),
  richlist: () => startRichlist({ ...given, config: loadSettings(richlistSettings, settings) }),
};
type Name = keyof typeof starts;
const names = (env['SERVICES'] ?? 'tx,nft,richlist').split(',') as Name[];
const addresses: Partial<Record<Name, string>> = {};
const stops = [() => database.close(), () => block.stop()];
for (const name of names) {
  const service = await starts[name]();
  addresses[name] = service.address;
  stops.push(() => service.stop());
}
const gateway = await startGateway({
  ...shared,
  config: loadSettings(gatewaySettings, {
    ...settings,
    PORT: '0',
    ...Object.fromEntries(names.map((name) => [`${name.toUpperCase()}_SERVICE_ADDR`, addresses[name]])),
  }),
});
stops.push(() => gateway.stop());

/** What a message asks for of the first service, and its answer. */
const name = names[0] as Name;
const { rebuild, close } = connectReindex(addresses[name] as string);
stops.push(async () => close());
const base = `${config.CLICKHOUSE_DATABASE}_${name}`;
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
process.send?.({ id: 0, answer: { url: `http://127.0.0.1:${gateway.port}`, nft: addresses.nft ?? '' } });
process.on('SIGTERM', () => {
  void (async () => {
    for (const stop of stops.reverse()) await stop();
    process.exit(0);
  })();
});
