import type { Endpoints } from '../../common/chain/endpoints.js';
import type { Database } from '../../common/clickhouse/database.js';
import { consume } from '../../common/consume.js';
import { createBlockConsumer } from '../../common/consume-blocks.js';
import { decodeAndTell } from '../../common/decode-blocks.js';
import type { BlockServiceClient } from '../../common/gen/indexer/block/v1/block.js';
import { hasJoined } from '../../common/join.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import { callRpc } from '../../common/rpc/client.js';
import type { WriterHealth } from '../../common/writer-health.js';
import type { RichlistConfig } from '../config.js';
import { decodeBlock } from '../decode/block.js';
import type { RichlistStore } from '../store/store.js';
import type { Tables } from '../store/tables.js';
import type { NameTokens } from './names.js';
import { reconcile } from './reconcile.js';

export interface IngestOptions {
  readonly config: RichlistConfig;
  /** The name in logs and metrics. */
  readonly name: () => string;
  readonly blocks: BlockServiceClient;
  readonly store: RichlistStore;
  readonly database: Database;
  readonly tables: Tables;
  readonly jsonRpc: Endpoints;
  /** Asks for denoms with more patience than the blocks have. */
  readonly nameTokens: NameTokens;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly health: WriterHealth;
  readonly signal: AbortSignal;
  /** Told what keeps the indexer from its work; '' once nothing does. */
  readonly onHindrance: (reason: string) => void;
}

/** Follows the block service until the signal. Ends early only for what will not heal: another chain. */
export async function ingest(options: IngestOptions): Promise<void> {
  const { name, blocks, store, log, metrics, health, signal } = options;
  const claim = (chain_id: string, vm_type: string) => store.claim(chain_id, vm_type);
  if (!(await hasJoined({ ...options, claim }))) return;
  const decode = decodeAndTell(decodeBlock, {
    ...{ service: 'richlist', kind: 'log', log, metrics },
    message: 'a Transfer log or a part of a block could not be read',
  });
  await Promise.all([
    consume(createBlockConsumer({ name, store, decode, signal }), { blocks, signal, log, metrics, health }),
    reconcile({
      ...options,
      headHeight: async () =>
        (await callRpc(blocks.getStatus.bind(blocks), {}, { deadline: Date.now() + 5_000, signal })).height,
    }),
  ]);
}
