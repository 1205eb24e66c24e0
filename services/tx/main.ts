import {
  type ConsumerDependencies,
  type ConsumerService,
  startConsumer,
} from '../common/consumer/service.js';
import { checkTransport } from '../common/rpc/transport.js';
import { loadSettings } from '../common/runtime/config.js';
import { isMainModule } from '../common/runtime/paths.js';
import { runService, type ServiceProcess } from '../common/runtime/service.js';
import { type TxConfig, txProgramSettings } from './config.js';
import { txService } from './rpc.js';
import { rebuildableTx, type TxTables } from './tables.js';

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
