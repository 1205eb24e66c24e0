import { status, type UntypedServiceImplementation } from '@grpc/grpc-js';
import {
  type Block,
  type BlockServiceServer,
  BlockServiceService,
} from '../common/gen/indexer/block/v1/block.js';
import type { Coin, PageRequest } from '../common/gen/indexer/common/v1/common.js';
import { densePage } from '../common/page/dense.js';
import { checkPage, defaultPage, jsonBytes, type PageBound, readFitting } from '../common/page/fit.js';
import { type CallContext, forward } from '../common/rpc/context.js';
import {
  countLimits,
  type HandlerEnvironment,
  type ServedService,
  streaming,
  unary,
} from '../common/rpc/server.js';
import { invalidArgument, notFound, RpcError, unimplemented } from '../common/runtime/errors.js';
import type { WriterHealth } from '../common/writer/health.js';
import type { Head } from './head.js';
import type { BlockStore, HeaderRow, ShownHeader } from './store.js';
import { streamBlocks, streamTraces } from './stream.js';
import { timeHandlers } from './times.js';
import type { Validators } from './validators.js';

export interface BlockRpcOptions extends HandlerEnvironment {
  readonly store: BlockStore;
  readonly head: Head;
  readonly validators: Validators;
  readonly chain_id: () => string;
  readonly vm_type: string;
  /** Told whether streams can be read from the tables; undefined where another process writes them. */
  readonly health: WriterHealth | undefined;
  /** Whether this rollup is traced at all. */
  readonly traces: boolean;
  /** How much a page holds. Default: 8 MiB. */
  readonly page?: PageBound;
  /** Ends the streams when the service stops, so that nobody waits for them. */
  readonly stopping: AbortSignal;
}

/** How many of the newest blocks the average time is taken over. */
const averageOver = 100;

/** Most heights that ListBlockHashes takes. */
const hashesAtOnce = 1_000;

/** The handlers of indexer.block.v1.BlockService. */
export function blockService(options: BlockRpcOptions): ServedService {
  const { store, head, validators, stopping, page = defaultPage } = options;

  const toBlock = (header: ShownHeader): Block => ({
    chain_id: options.chain_id(),
    height: String(header.height),
    hash: header.hash,
    block_time: String(header.block_time),
    timestamp: header.timestamp,
    gas_used: header.gas_used,
    gas_wanted: header.gas_wanted,
    tx_count: String(header.tx_count),
    total_fee: JSON.parse(header.total_fee) as Coin[],
    proposer: validators.find(header.proposer_address),
  });

  /** Headers of a range, ascending: from memory when it has them. */
  const headersOf = async (from: number, to: number, call: CallContext): Promise<HeaderRow[]> => {
    const known = head.headers(from, to);
    return known === undefined ? store.headers(from, to, forward(call)) : [...known];
  };

  /** The same stream. Consumers stand still while it fails, and cannot put the tables right. */
  async function* watched<T>(stream: AsyncIterable<T>, part: string): AsyncGenerator<T> {
    try {
      for await (const item of stream) {
        options.health?.succeeded(part);
        yield item;
      }
    } catch (error) {
      options.health?.failed(part, error);
      throw error;
    }
  }
  /** Headers of a page; undefined where they are more bytes than it may have. */
  const pageHeaders = async (
    from: number,
    to: number,
    call: CallContext,
  ): Promise<ShownHeader[] | undefined> => {
    const known = head.headers(from, to);
    if (known !== undefined) return [...known];
    const found = await store.shownHeaders(from, to, { ...forward(call), stop_after_bytes: page.max_bytes });
    return found.at(-1)?.height === to || found.length === 0 ? found : undefined;
  };

  const implementation: BlockServiceServer = {
    ...timeHandlers(options),

    getStatus: unary(options, async () => ({
      chain_id: options.chain_id(),
      vm_type: options.vm_type,
      first_height: head.first,
      height: head.last?.height ?? 0,
      trace_height: head.trace_height,
      node_height: head.node_height,
      timestamp: head.last?.timestamp ?? '',
    })),

    getBlock: unary(options, async ({ height }, call) => {
      const last = head.last?.height ?? 0;
      const header =
        height < head.first || height > last
          ? undefined
          : (head.headers(height, height)?.[0] ?? (await store.shownHeader(height, forward(call))));
      if (header === undefined) throw notFound(`block ${height} is not indexed`);
      return { block: toBlock(header) };
    }),

    listBlocks: unary(options, async ({ pagination }, call) => {
      const list = { name: 'blocks', first: head.first, last: head.last?.height ?? head.first - 1 };
      const inOrder = <T>(ascending: readonly T[], { reverse }: PageRequest): T[] =>
        reverse ? ascending.toReversed() : [...ascending];
      // Fees of many denoms make headers large; what names a proposer may be escaped.
      const readPage = async (request: PageRequest) => {
        const { from, to, pagination } = densePage(request, list);
        const headers = from > to ? [] : await pageHeaders(from, to, call);
        return { from, to, pagination, blocks: headers && inOrder(headers, request).map(toBlock) };
      };
      const { blocks, pagination: given } = await readFitting(
        checkPage(pagination),
        page,
        readPage,
        async ({ blocks, from, to }) =>
          blocks?.map(jsonBytes) ??
          inOrder(await store.headerSizes(from, to, forward(call)), checkPage(pagination)),
      );
      if (blocks === undefined)
        throw new RpcError(
          status.UNAVAILABLE,
          'the chain was rolled back while the call was answered: ask again',
        );
      return { blocks, pagination: given };
    }),

    getAverageBlockTime: unary(options, async (_, call) => {
      const { first, last } = head;
      if (last === undefined || last.height === first) return { avg_block_time: 0 };
      const from = Math.max(first, last.height - averageOver + 1);
      const [oldest] = await headersOf(from, from, call);
      if (oldest === undefined) return { avg_block_time: 0 };
      const nanoseconds = BigInt(last.time_ns) - BigInt(oldest.time_ns);
      return { avg_block_time: Number(nanoseconds) / 1e9 / (last.height - from) };
    }),

    listBlockHashes: unary(options, async ({ from_height, to_height }, call) => {
      if (to_height - from_height >= hashesAtOnce)
        throw invalidArgument(`at most ${hashesAtOnce} heights can be asked for at once`);
      const last = Math.min(to_height, head.last?.height ?? 0);
      const headers = from_height > last ? [] : await store.headers(from_height, last, forward(call));
      return { blocks: headers.map(({ height, hash }) => ({ height, hash })) };
    }),

    streamBlocks: streaming(options, async function* (request, { signal }) {
      const stream = streamBlocks(store, head, request, AbortSignal.any([signal, stopping]));
      for await (const blocks of watched(stream, `reading blocks from ${request.from_height} on`))
        yield { blocks, head_height: head.last?.height ?? 0 };
    }),

    streamTraces: streaming(options, async function* ({ from_height }, { signal }) {
      if (!options.traces) throw unimplemented('this rollup is not traced');
      const ended = AbortSignal.any([signal, stopping]);
      const stream = streamTraces(store, head, from_height, ended);
      for await (const traces of watched(stream, `reading traces from ${from_height} on`)) yield { traces };
    }),

    watchHead: streaming(options, async function* (_, { signal }) {
      const ended = AbortSignal.any([signal, stopping]);
      while (!ended.aborted) {
        const rung = head.bell.count;
        yield { height: head.last?.height ?? 0, trace_height: head.trace_height, revision: head.revision };
        await head.bell.heard(rung, ended);
      }
    }),
  };
  return {
    definition: BlockServiceService,
    implementation: implementation as UntypedServiceImplementation,
    onLimit: countLimits('block', options),
  };
}
