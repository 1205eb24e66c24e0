import { loadSettings } from '../common/config.js';
import type { ConsumerDependencies, ConsumerService } from '../common/consumer-service.js';
import { isMainModule } from '../common/paths.js';
import { checkTransport } from '../common/rpc/transport.js';
import { runService } from '../common/run-service.js';
import type { ServiceProcess } from '../common/service.js';
import { startConsumer } from '../common/start-consumer.js';
import { type TxConfig, txProgramSettings } from './config.js';
import { rebuildableTx, type TxTables } from './generation.js';
import { txService } from './rpc.js';

const tx: ConsumerService<TxConfig, TxTables> = {
  name: 'tx',
  node: ({ VM_TYPE, REST_URL }) => ({
    rest: VM_TYPE === 'move' ? REST_URL : [],
    jsonRpc: [],
    connections: 8,
  }),
  tables: rebuildableTx,
  api({ config, ...options }) {
    const { metrics, reader } = options;
    metrics.holds('tx', 'bodies', () => reader().bodies.size);
    metrics.holds('tx', 'hashes', () => reader().hashes.size);
    metrics.holds('tx', 'list_ends', () => reader().accounts.size);
    return txService({
      ...options,
      vm_type: config.VM_TYPE,
      account_prefix: config.ACCOUNT_ADDRESS_PREFIX,
    });
  },
};

/** Starts the tx service: the gRPC API, and in the roles `all` and `ingest` the indexer. */
export function startTx(dependencies: ConsumerDependencies<TxConfig>): Promise<ServiceProcess> {
  return startConsumer(tx, dependencies);
}

if (isMainModule(import.meta.url))
  await runService('tx', () => loadSettings(txProgramSettings, process.env, checkTransport), startTx);
