import { type ConsumerTables, rebuildable, type TablesOptions } from '../common/consumer-service.js';
import { decodeAndTell } from '../common/decode-blocks.js';
import { createBlockFollower, nameOf } from '../common/follow-blocks.js';
import { pageBoundOf } from '../common/page/fit.js';
import { createProblemLog, type DecodeProblem } from '../common/problem-log.js';
import type { OpenOptions, RebuildableService } from '../common/reindex/tables.js';
import { callRpc } from '../common/rpc/client.js';
import type { NftConfig } from './config.js';
import { decodeBlock } from './decode/block.js';
import { earlierIn } from './enrich/earlier.js';
import { evmSource } from './enrich/evm.js';
import { followDetails } from './enrich/follow.js';
import { moveSource } from './enrich/move.js';
import { resolveObjectsFrom } from './enrich/objects.js';
import { createRangePlanner } from './enrich/ranges.js';
import { retryFailed } from './enrich/retry.js';
import type { DetailSource } from './enrich/source.js';
import { wasmSource } from './enrich/wasm.js';
import { createNftIndex } from './index.js';
import type { Reader } from './read/reader.js';

/** Everything that is opened on one generation of the nft service's tables. */
export interface NftTables extends ConsumerTables<Reader> {
  /** Asks again for details that were given up, of one collection or of all ('') and says for how many. */
  retryDetails(collection: string): Promise<number>;
}

/** The nft service as one whose tables can be rebuilt. */
export const rebuildableNft = (options: TablesOptions<NftConfig>): RebuildableService<NftTables> =>
  rebuildable('nft', options.config, (opened) => openNftTables(options, opened));

function openNftTables(options: TablesOptions<NftConfig>, opened: OpenOptions<NftTables>): NftTables {
  const { config, blocks, rest, log, metrics, fault } = options;
  const { target, database, writer, isInUse, signal } = opened;
  const vm = config.VM_TYPE;
  const index = createNftIndex(database, target, pageBoundOf('nft', config.PAGE_MB, metrics));
  const { tables, head, look } = index;
  const earlier = () => (isInUse() ? undefined : earlierIn({ ...opened.inUse().reader, database: writer }));
  const beginsLate = async (): Promise<boolean> =>
    (await callRpc(blocks.getStatus.bind(blocks), {}, { deadline: Date.now() + 5_000, signal }))
      .first_height > 1;
  const store = index.openStore(
    {
      vm,
      log,
      fault,
      onRebuild: (progress) => {
        rebuilding = progress;
      },
      resolveObjects: vm === 'move' ? resolveObjectsFrom(rest, log, signal, beginsLate, earlier) : undefined,
    },
    writer,
  );
  let rebuilding = '';
  let asked = { height: 0, generation: -1 };
  const rollup = { vm, account_prefix: config.ACCOUNT_ADDRESS_PREFIX, limits: config };
  const problemLog = createProblemLog({
    ...{ service: 'nft', kind: 'details', log, metrics },
    message: 'a detail of an NFT was not kept as a whole',
  });
  const report = (problem: DecodeProblem): void => problemLog(head.position.height, [problem]);
  const now = Date.now;
  const { ingest, hindrance } = createBlockFollower({
    ...options,
    ...{ name: nameOf('nft', isInUse), isInUse, signal, store },
    decode: decodeAndTell((block, material) => decodeBlock(block, material, rollup), {
      ...{ service: 'nft', kind: 'decode', log, metrics },
      message: 'an event of an NFT could not be read, or not as a whole',
    }),
    beside: (health) =>
      followDetails({
        ...{ database: writer, tables, head, store, log, metrics, health, signal, earlier, report, now },
        ranges: createRangePlanner({
          ...{ database: writer, tables, now, report },
          refresh_ms: config.NFT_REFRESH_MS,
        }),
        reader: { ...index.reader, database: writer },
        source: sourceOf(options),
        onAsked: (height, generation) => {
          asked = { height, generation };
        },
        attempts: config.DETAIL_ATTEMPTS,
        limits: config,
      }),
  });
  return {
    reader: config.ROLE === 'serve' ? { ...index.reader, look } : index.reader,
    ...{ head, store, look, ingest },
    hindrance: () => hindrance() || rebuilding,
    retryDetails: (collection) => retryFailed(index, store, collection),
    tracks() {
      const { height } = head.position;
      // Not known right after a start: tables in use are taken for complete, so that others are not put in their place early.
      const unknown = isInUse() ? height : 0;
      return { details: asked.generation === store.revision ? Math.min(asked.height, height) : unknown };
    },
  };
}

/** How the node of this rollup is asked for details. */
function sourceOf({ config, rest, jsonRpc }: TablesOptions<NftConfig>): DetailSource {
  if (config.VM_TYPE === 'evm') return evmSource(jsonRpc, config);
  return config.VM_TYPE === 'move' ? moveSource(rest) : wasmSource(rest, config.ACCOUNT_ADDRESS_PREFIX);
}
