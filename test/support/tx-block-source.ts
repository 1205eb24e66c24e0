import { gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import {
  BlockMaterial,
  BlockServiceService,
  type RawBlock,
  type RawTrace,
} from '../../services/common/gen/indexer/block/v1/block.js';
import { type RpcServer, serveRpc, streaming, unary } from '../../services/common/rpc/server.js';
import { RpcError, unimplemented } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { createBell } from '../../services/common/util/signal.js';
import { type RecordedBlock, recordedBlocks } from './material.js';

/** A block service over real gRPC whose chain a test moves as it likes. */
export interface BlockSource {
  readonly address: string;
  /** The chain: block h at index h - 1. */
  readonly blocks: readonly RawBlock[];
  /** Makes blocks with the material of recorded ones. @param fork tells chains apart. */
  grow(count: number, fork?: string): void;
  /** Cuts the chain to a height; its traces too. */
  cutTo(height: number): void;
  /** Gives the traces of the blocks up to a height. @param wrongHash names another block than ours. */
  trace(height: number, wrongHash?: boolean): void;
  /** Ends every stream, as a restart does. */
  breakStreams(): void;
  close(): Promise<void>;
}

export interface BlockSourceOptions {
  readonly chain_id?: string;
  readonly vm_type?: string;
  readonly traced?: boolean;
  /** What a block holds, by height and fork; default: what recorded blocks do. */
  readonly contentOf?: (height: number, fork: string) => BlockContent;
}

/** What a block holds. */
export type BlockContent = Pick<RecordedBlock, 'timestamp' | 'tx_count' | 'material'>;

/** Starts a block service without blocks. */
export async function startBlockSource(options: BlockSourceOptions = {}): Promise<BlockSource> {
  const recorded = [...recordedBlocks('evm').values()].sort((a, b) => a.height - b.height);
  const environment = { log: createLog('silent'), metrics: createMetrics() };
  const bell = createBell();
  const blocks: RawBlock[] = [];
  const traces: RawTrace[] = [];
  let epoch = 0;
  const aborted = (height: number): RpcError =>
    new RpcError(status.ABORTED, `block ${height} is another one`);

  const implementation = {
    getStatus: unary(environment, async () => ({
      chain_id: options.chain_id ?? 'chain-1',
      vm_type: options.vm_type ?? 'evm',
      first_height: 1,
      height: blocks.length,
      trace_height: traces.length,
      node_height: blocks.length,
      timestamp: '',
    })),
    listBlockHashes: unary(environment, async (request: { from_height: number; to_height: number }) => ({
      blocks: blocks.slice(request.from_height - 1, request.to_height),
    })),
    streamBlocks: streaming(
      environment,
      async function* (request: { from_height: number; parent_hash: string }, call) {
        const began = epoch;
        let [next, parent] = [Math.max(1, request.from_height), request.parent_hash];
        while (!call.signal.aborted && began === epoch) {
          const rung = bell.count;
          const before = blocks[next - 2];
          if (parent !== '' && before?.hash !== parent) throw aborted(next - 1);
          const some = blocks.slice(next - 1, next + 2);
          const last = some.at(-1);
          if (last === undefined) {
            await bell.heard(rung, call.signal);
            continue;
          }
          yield { blocks: some, head_height: blocks.length };
          [next, parent] = [last.height + 1, last.hash];
        }
      },
    ),
    streamTraces: streaming(environment, async function* (request: { from_height: number }, call) {
      if (options.traced === false) throw unimplemented('not traced');
      const began = epoch;
      let next = Math.max(1, request.from_height);
      while (!call.signal.aborted && began === epoch) {
        const rung = bell.count;
        const some = traces.slice(next - 1, next + 3);
        if (some.length > 0) yield { traces: some };
        next += some.length;
        if (some.length === 0) await bell.heard(rung, call.signal);
      }
    }),
  };
  const definition = Object.fromEntries(
    Object.entries(BlockServiceService).filter(([name]) => name in implementation),
  ) as typeof BlockServiceService;
  const server: RpcServer = await serveRpc(
    [{ definition, implementation: implementation as never }],
    ['127.0.0.1:0'],
  );

  return {
    address: server.address,
    blocks,
    grow(count, fork = 'a') {
      for (let made = 0; made < count; made++) {
        const height = blocks.length + 1;
        const source =
          options.contentOf?.(height, fork) ?? recorded[(height * (fork === 'a' ? 1 : 7)) % recorded.length];
        if (source === undefined) throw new Error('the recording is empty');
        blocks.push({
          height,
          hash: Buffer.from(`${fork}${height}`).toString('hex').padEnd(64, '0').toUpperCase(),
          parent_hash: blocks.at(-1)?.hash ?? '',
          timestamp: source.timestamp,
          tx_count: source.tx_count,
          material: gzipSync(BlockMaterial.encode(source.material).finish()),
          material_bytes: 0,
        });
      }
      bell.ring();
    },
    cutTo(height) {
      blocks.length = Math.min(blocks.length, height);
      traces.length = Math.min(traces.length, height);
      bell.ring();
    },
    trace(height, wrongHash = false) {
      while (traces.length < height) {
        const block = blocks[traces.length];
        if (block === undefined) throw new Error(`there is no block ${traces.length + 1}`);
        const source = recorded[(block.height * 1) % recorded.length];
        const block_hash = wrongHash ? 'F'.repeat(64) : block.hash;
        traces.push({
          height: block.height,
          block_hash,
          material: gzipSync(source?.traces ?? '[]'),
          material_bytes: 0,
        });
      }
      bell.ring();
    },
    breakStreams() {
      epoch += 1;
      bell.ring();
    },
    close: () => server.close(100),
  };
}
