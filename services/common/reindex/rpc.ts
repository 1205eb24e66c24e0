import { status, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { type ReindexServiceServer, ReindexServiceService } from '../gen/indexer/reindex/v1/reindex.js';
import { type HandlerEnvironment, type ServedService, streaming, unary } from '../rpc/server.js';
import { RpcError } from '../runtime/errors.js';
import type { Reindexer } from './writer.js';

export interface ReindexRpcOptions extends HandlerEnvironment {
  /** Undefined in a process that does not write the tables. */
  readonly reindexer: Reindexer | undefined;
}

/** The handlers of indexer.reindex.v1.ReindexService, served beside the service that is rebuilt. */
export function reindexService(options: ReindexRpcOptions): ServedService {
  const writing = (): Reindexer => {
    if (options.reindexer !== undefined) return options.reindexer;
    throw new RpcError(
      status.FAILED_PRECONDITION,
      'this process only answers calls: ask the one whose ROLE is ingest or all',
    );
  };
  const implementation: ReindexServiceServer = {
    reindex: streaming(options, async function* (_, { signal }) {
      const reindexer = writing();
      await reindexer.start();
      for await (const progress of reindexer.watch(signal)) yield { progress };
    }),
    watchReindex: streaming(options, async function* (_, { signal }) {
      for await (const progress of writing().watch(signal)) yield { progress };
    }),
    compareViews: streaming(options, async function* (_, { signal }) {
      for await (const { table, differences } of writing().compareViews(signal))
        yield {
          view: table,
          differences: differences.map(({ row, kind }) => ({ row, is_missing: kind === 'missing' })),
        };
    }),
    cancelReindex: unary(options, async () => {
      await writing().cancel();
      return {};
    }),
  };
  return {
    definition: ReindexServiceService,
    implementation: implementation as UntypedServiceImplementation,
    changing: ['reindex', 'cancelReindex', 'compareViews'],
  };
}
