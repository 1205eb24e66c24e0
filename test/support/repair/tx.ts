import { status } from '@grpc/grpc-js';
import type { Database } from '../../../services/common/clickhouse/database.js';
import { lookOf } from '../../../services/common/consumer/look.js';
import type { TxServiceClient } from '../../../services/common/gen/indexer/tx/v1/tx.js';
import { connectLocal } from '../../../services/common/rpc/local.js';
import { RpcError } from '../../../services/common/runtime/errors.js';
import { createReader, type Reader, type ReaderOptions } from '../../../services/tx/read/reader.js';
import { txService } from '../../../services/tx/rpc.js';
import { createHead, type Head } from '../../../services/tx/store/cursor.js';
import { factsAbove, headOf, tablesOf, txViews } from '../../../services/tx/store/tables.js';
import { ask, collect, stream } from '../rpc.js';
import { sampled } from '../sample.js';
import { accounts, busy, type ModelBlock, msgTypes, randomChain, traceOf } from '../tx-model.js';
import { factFilesOf, migrateTx, openTx } from '../tx-tables.js';
import type { Questions } from './readers.js';
import { common, environment, page, type Service, top } from './service.js';

const chain = randomChain(11);
const blocks: ModelBlock[] = [];
while (blocks.length < top) blocks.push(chain.next(blocks.at(-1)));

const orNotFound = <T>(answer: Promise<T>): Promise<T | string> =>
  answer.catch((error: unknown) => {
    if (error instanceof RpcError && error.code === status.NOT_FOUND) return 'not found';
    throw error;
  });

function questionsOf(reader: () => Reader): Questions {
  const client = connectLocal<TxServiceClient>(txService({ ...environment, vm_type: 'evm', reader }));
  const questions: Record<string, () => Promise<unknown>> = {};
  const request = { msgs: [] as string[], is_signer: false, pagination: page };
  for (const key of [...sampled(accounts, 2), busy]) {
    const account = `0x${key}`;
    questions[`txs of ${key}`] = () => ask(client).listTxsByAccount({ ...request, account });
    questions[`internal txs of ${key}`] = () =>
      ask(client).listEvmInternalTxsByAccount({ ...request, account });
  }
  const account = `0x${busy}`;
  const msgs = msgTypes.slice(0, 2);
  const { hash } = blocks.slice(common).flatMap(({ txs }) => txs)[0] as { hash: string };
  return {
    ...questions,
    signed: () => ask(client).listTxsByAccount({ ...request, account, is_signer: true }),
    evm: () => ask(client).listEvmTxsByAccount({ ...request, account }),
    filtered: () => ask(client).listTxsByAccount({ ...request, account, msgs }),
    msgs: () => ask(client).listTxs({ ...request, msgs }),
    all: () => ask(client).listTxs(request),
    'at a height': () => ask(client).listTxsByHeight({ ...request, height: common }),
    'at a height that goes': () => ask(client).listTxsByHeight({ ...request, height: top }),
    'at a height that goes first': () => ask(client).listTxsByHeight({ ...request, height: common + 1 }),
    'a tx that goes': () => orNotFound(ask(client).getTx({ tx_hash: hash })),
    activity: () =>
      collect(stream(client).streamActivity({ from_height: 1, to_height: common }), ({ txs }) => txs),
  };
}

/** A reader beside the process that writes. */
function serve(database: Database, prefix: string, options: Partial<ReaderOptions> = {}): Reader {
  const tables = tablesOf({ database: `${prefix}_tx`, cluster: '' });
  const head: Head = options.head ?? createHead();
  return createReader({
    ...{ database, tables, head, cacheBytes: 1024 * 1024, atOnce: 1, writesToo: false },
    files: factFilesOf(database, tables, head, `${prefix}-serve`),
    ...options,
    look: options.look ?? lookOf(database, headOf(tables), head),
  });
}

/** The txs: blocks up to the common one are batches of their own, those above are one. */
export const tx: Service = {
  refuses: false,
  moving: [],
  views: txViews.views,
  above: factsAbove,
  async open(database, prefix, fault) {
    await migrateTx(database, prefix);
    const { store, reader, head } = openTx(database, prefix, { fault, endCapacity: 3 });
    await lookOf(database, headOf(reader.tables), head)();
    return {
      questions: questionsOf(() => reader),
      recover: () => store.recover(),
      async write(upTo, onStep = async () => {}) {
        while (store.position.height < upTo || store.position.internal_height < upTo) {
          const { height, internal_height } = store.position;
          const next = (from: number) => blocks.slice(from, from < common ? from + 1 : upTo);
          const traces =
            internal_height < height ? next(internal_height).slice(0, height - internal_height) : [];
          if (traces.length > 0) await store.writeTraces(traces.map(traceOf));
          else await store.writeBlocks(next(height));
          if (store.position.internal_height < upTo) await onStep();
        }
      },
      unwind: (height) => store.unwind(height),
      compareViews: () => store.compareViews(),
    };
  },
  async replica(database, prefix) {
    const reader = serve(database, prefix);
    return {
      questions: questionsOf(() => reader),
      async look() {
        await reader.look?.();
        const { height, internal_height } = reader.head.position;
        return `${height}, traced ${internal_height}`;
      },
    };
  },
  async forgetful(database, prefix, looks) {
    const { head, look } = serve(database, prefix);
    await look?.();
    return questionsOf(() => serve(database, prefix, { head, look: looks ? look : async () => {} }));
  },
};
