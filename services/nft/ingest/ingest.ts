import type { Database } from '../../common/clickhouse/database.js';
import { consume } from '../../common/consume.js';
import { createBlockConsumer } from '../../common/consume-blocks.js';
import { decodeAndTell } from '../../common/decode-blocks.js';
import type { BlockServiceClient } from '../../common/gen/indexer/block/v1/block.js';
import { hasJoined } from '../../common/join.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import { createProblemLog, type DecodeProblem } from '../../common/problem-log.js';
import type { WriterHealth } from '../../common/writer-health.js';
import type { NftConfig } from '../config.js';
import { decodeBlock } from '../decode/block.js';
import { type FollowOptions, followDetails } from '../enrich/follow.js';
import { createRangePlanner } from '../enrich/ranges.js';
import type { DetailSource } from '../enrich/source.js';
import type { NftIndex } from '../index.js';
import type { NftStore } from '../store/store.js';
import type { TextLimits } from '../text-limits.js';

export interface IngestOptions {
  readonly config: Pick<
    NftConfig,
    'VM_TYPE' | 'CHAIN_ID' | 'ACCOUNT_ADDRESS_PREFIX' | 'DETAIL_ATTEMPTS' | 'NFT_REFRESH_MS'
  > &
    TextLimits;
  /** For everything but the answers to calls. */
  readonly database: Database;
  /** The name in logs and metrics. */
  readonly name: () => string;
  readonly blocks: BlockServiceClient;
  readonly index: NftIndex;
  readonly store: NftStore;
  /** How the node is asked for details. */
  readonly source: DetailSource;
  /** See `WorkOptions` and `FollowOptions`. */
  readonly earlier: FollowOptions['earlier'];
  readonly onAsked: FollowOptions['onAsked'];
  readonly log: Log;
  readonly metrics: Metrics;
  readonly health: WriterHealth;
  readonly signal: AbortSignal;
  /** Told what keeps the indexer from its work; '' once nothing does. */
  readonly onHindrance: (reason: string) => void;
}

/** Follows the block service until the signal. Ends early only for what will not heal: another chain. */
export async function ingest(options: IngestOptions): Promise<void> {
  const { config, name, blocks, index, store, log, metrics, health, signal } = options;
  const claim = (chain_id: string, vm_type: string) => store.claim(chain_id, vm_type);
  if (!(await hasJoined({ ...options, claim }))) return;
  const rollup = { vm: config.VM_TYPE, account_prefix: config.ACCOUNT_ADDRESS_PREFIX, limits: config };
  const decode = decodeAndTell((block, material) => decodeBlock(block, material, rollup), {
    ...{ service: 'nft', kind: 'decode', log, metrics },
    message: 'an event of an NFT could not be read, or not as a whole',
  });
  const problemLog = createProblemLog({
    ...{ service: 'nft', kind: 'details', log, metrics },
    message: 'a detail of an NFT was not kept as a whole',
  });
  const { tables, head, reader } = index;
  const { database } = options;
  const report = (problem: DecodeProblem): void => problemLog(head.position.height, [problem]);
  const now = Date.now;
  const ranges = createRangePlanner({ database, tables, now, refresh_ms: config.NFT_REFRESH_MS, report });
  await Promise.all([
    consume(createBlockConsumer({ name, store, decode, signal }), { blocks, signal, log, metrics, health }),
    followDetails({
      ...{ database, tables, head, reader: { ...reader, database }, store, log, metrics, health, signal },
      ...{ source: options.source, earlier: options.earlier, onAsked: options.onAsked },
      attempts: config.DETAIL_ATTEMPTS,
      limits: config,
      ...{ ranges, report, now },
    }),
  ]);
}
