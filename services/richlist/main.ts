import {
  type ConsumerDependencies,
  type ConsumerService,
  startConsumer,
} from '../common/consumer/service.js';
import { checkTransport } from '../common/rpc/transport.js';
import { loadSettings } from '../common/runtime/config.js';
import { isMainModule } from '../common/runtime/paths.js';
import { runService, type ServiceProcess } from '../common/runtime/service.js';
import { checkRichlist, type RichlistConfig, richlistProgramSettings } from './config.js';
import { richlistService } from './rpc.js';
import { type RichlistTables, rebuildableRichlist } from './tables.js';

const richlist: ConsumerService<RichlistConfig, RichlistTables> = {
  name: 'richlist',
  node: ({ REST_URL, JSON_RPC_URL, SEED_CONCURRENCY }) => ({
    rest: REST_URL,
    jsonRpc: JSON_RPC_URL,
    connections: SEED_CONCURRENCY,
  }),
  tables: rebuildableRichlist,
  api: ({ config, ...options }) =>
    richlistService({
      ...options,
      vm_type: config.VM_TYPE,
      account_prefix: config.ACCOUNT_ADDRESS_PREFIX,
    }),
};

/** Starts the richlist service: the gRPC API, and in the roles `all` and `ingest` the indexer. */
export function startRichlist(dependencies: ConsumerDependencies<RichlistConfig>): Promise<ServiceProcess> {
  return startConsumer(richlist, dependencies);
}

if (isMainModule(import.meta.url))
  await runService(
    'richlist',
    () =>
      loadSettings(richlistProgramSettings, process.env, (values) => [
        ...checkRichlist(values),
        ...checkTransport(values),
      ]),
    startRichlist,
  );
