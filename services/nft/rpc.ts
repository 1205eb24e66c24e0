import { status, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { ofOneChain, whenWhole } from '../common/consumer/look.js';
import type { PageRequest } from '../common/gen/indexer/common/v1/common.js';
import { type NftServiceServer, NftServiceService } from '../common/gen/indexer/nft/v1/nft.js';
import { checkAddress, checkPage, jsonBytes, readFitting } from '../common/page/fit.js';
import type { MovingPage } from '../common/page/moving.js';
import { type CallContext, forward } from '../common/rpc/context.js';
import {
  countLimits,
  type ReaderEnvironment,
  type ServedService,
  streaming,
  unary,
  watchHead,
} from '../common/rpc/server.js';
import { notFound, RpcError } from '../common/runtime/errors.js';
import { isRepairing } from '../common/writer/head-table.js';
import { countJobs, readAsks } from './enrich/queue.js';
import {
  describeCollections,
  fittingCollections,
  listCollections,
  listCollectionsNamed,
  listCollectionsOf,
} from './read/collections.js';
import { readOwner, streamAccountTokens, streamChanges, streamCollectionTokens } from './read/past.js';
import { type Reader, type Reading, startReading } from './read/reader.js';
import { listTokensByAccount, listTokensByCollection } from './read/token-lists.js';
import { listTokenTxs } from './read/token-txs.js';
import { checkOptionalAddress, checkOrder } from './requests.js';
import type { Shower } from './show.js';
import { readAsked } from './store/details.js';
import { endOf, heightOf } from './store/token.js';
import { tokenIdOf, tokenKey } from './token-key.js';

export interface NftRpcOptions extends ReaderEnvironment<Reader> {
  readonly show: Shower;
  /** Asks again for what was given up, and says for how many; undefined where nothing is indexed. */
  readonly retryDetails: ((collection: string) => Promise<number>) | undefined;
}

/** The handlers of indexer.nft.v1.NftService. */
export function nftService(options: NftRpcOptions): ServedService {
  const implementation: NftServiceServer = {
    ...headHandlers(options),
    ...collectionHandlers(options),
    ...tokenHandlers(options),
    ...pastHandlers(options),
    retryDetails: unary(options, async ({ collection_addr }) => {
      const { retryDetails, account_prefix } = options;
      if (retryDetails === undefined)
        throw new RpcError(status.UNIMPLEMENTED, 'this process does not index: ask the one that does');
      const collection = checkOptionalAddress('collection_addr', collection_addr, account_prefix);
      return { retried: await retryDetails(collection) };
    }),
  };
  return {
    definition: NftServiceService,
    implementation: implementation as UntypedServiceImplementation,
    changing: ['retryDetails'],
    onLimit: countLimits('nft', options),
  };
}

/** Reads for a call, from one chain. */
const answerTo = <T>(
  { reader }: NftRpcOptions,
  call: CallContext,
  read: (reading: Reading) => Promise<T>,
): Promise<T> => ofOneChain(() => begin(reader(), call), read);

/** A page as it is shown. Escapes make texts longer: what fits is looked at again. */
const shownPage = <T, Shown>(
  reading: Reading,
  request: PageRequest,
  read: (request: PageRequest) => Promise<MovingPage<T>>,
  show: (item: T) => Shown,
): Promise<MovingPage<Shown>> =>
  readFitting(
    request,
    reading.page,
    async (wanted) => {
      const { items, pagination } = await read(wanted);
      return { items: items.map(show), pagination };
    },
    ({ items }) => items.map(jsonBytes),
  );

const begin = (reader: Reader, call: CallContext): Reading => startReading(reader, forward(call));

function headHandlers(options: NftRpcOptions): Pick<NftServiceServer, 'getStatus' | 'watchHead'> {
  return {
    getStatus: unary(options, async () => {
      const { database, tables, head } = options.reader();
      const { height } = head.position;
      const jobs = await countJobs(database, tables);
      const [next] = await readAsks(
        database,
        tables,
        (await readAsked(database, tables)).at,
        endOf(height),
        1,
      );
      return {
        height,
        details_height: next === undefined ? height : heightOf(next.at) - 1,
        details_pending: jobs.pending,
        details_failed: jobs.failed,
        hash: head.position.hash,
      };
    }),
    watchHead: watchHead(options, ({ position: { height }, revision }) => ({ height, revision })),
  };
}

function collectionHandlers(
  options: NftRpcOptions,
): Pick<
  NftServiceServer,
  'getCollection' | 'listCollections' | 'listCollectionsByAccount' | 'listCollectionsByName'
> {
  const { show, account_prefix } = options;
  const described = async (
    reading: Reading,
    request: PageRequest,
    list: (request: PageRequest) => Promise<MovingPage<{ collection: string }>>,
  ) => {
    const read = (wanted: PageRequest) => fittingCollections(reading, wanted, list);
    const { items, pagination } = await shownPage(reading, request, read, show.collection);
    return { collections: items, pagination };
  };
  return {
    getCollection: unary(options, async ({ collection_addr }, call) => {
      const collection = checkAddress('collection_addr', collection_addr, account_prefix);
      const [found] = await answerTo(options, call, (reading) =>
        describeCollections(reading, [{ collection }]),
      );
      if (found === undefined) throw notFound(`there is no collection ${collection_addr}`);
      return { collection: show.collection(found) };
    }),
    listCollections: unary(options, async ({ pagination }, call) => {
      const page = checkPage(pagination);
      return answerTo(options, call, async (reading) =>
        described(reading, page, (wanted) => listCollections(reading, wanted)),
      );
    }),
    listCollectionsByAccount: unary(options, async ({ account, pagination }, call) => {
      const [owner, page] = [checkAddress('account', account, account_prefix), checkPage(pagination)];
      return answerTo(options, call, async (reading) =>
        described(reading, page, (wanted) => listCollectionsOf(reading, owner, wanted)),
      );
    }),
    listCollectionsByName: unary(options, async ({ name, pagination }, call) => {
      const page = checkPage(pagination);
      return answerTo(options, call, async (reading) =>
        described(reading, page, (wanted) => listCollectionsNamed(reading, name, wanted)),
      );
    }),
  };
}

function tokenHandlers(
  options: NftRpcOptions,
): Pick<NftServiceServer, 'listTokensByAccount' | 'listTokensByCollection' | 'listTokenTxs'> {
  const { show, account_prefix } = options;
  return {
    listTokensByAccount: unary(options, async (request, call) => {
      const owner = checkAddress('account', request.account, account_prefix);
      const collection = checkOptionalAddress('collection_addr', request.collection_addr, account_prefix);
      const query = { token_id: request.token_id, order: checkOrder(request.order_by) };
      const asked = checkPage(request.pagination);
      const { items, pagination } = await answerTo(options, call, (reading) => {
        const read = (page: PageRequest) =>
          listTokensByAccount(reading, owner, collection, { ...query, page });
        return shownPage(reading, asked, read, show.token);
      });
      return { tokens: items, pagination };
    }),
    listTokensByCollection: unary(options, async (request, call) => {
      const collection = checkAddress('collection_addr', request.collection_addr, account_prefix);
      const query = { token_id: request.token_id, order: checkOrder(request.order_by) };
      const asked = checkPage(request.pagination);
      const { items, pagination } = await answerTo(options, call, (reading) => {
        const read = (page: PageRequest) => listTokensByCollection(reading, collection, { ...query, page });
        return shownPage(reading, asked, read, show.token);
      });
      return { tokens: items, pagination };
    }),
    listTokenTxs: unary(options, async ({ collection_addr, token_id, pagination }, call) => {
      const collection = checkAddress('collection_addr', collection_addr, account_prefix);
      const asked = checkPage(pagination);
      const page = await answerTo(options, call, (reading) =>
        listTokenTxs(reading, collection, token_id, asked),
      );
      const tx_hashes = page.hashes.map((hash) => hash.toUpperCase());
      return { tx_hashes, height: page.height, pagination: page.pagination };
    }),
  };
}

function pastHandlers(
  options: NftRpcOptions,
): Pick<
  NftServiceServer,
  'getTokenOwner' | 'streamAccountTokens' | 'streamCollectionTokens' | 'streamChanges'
> {
  const { reader, show, account_prefix } = options;

  /** Reads the chain as it was after a block; 0 stands for the last one. */
  const beginAt = async (height: number, call: CallContext): Promise<Reading> => {
    const reading = await whenWhole(() => begin(reader(), call));
    if (height > reading.head.position.height)
      throw new RpcError(status.OUT_OF_RANGE, `block ${height} is not indexed yet`);
    return height === 0 ? reading : { ...reading, end: endOf(height) };
  };

  /** Makes what throws once the chain has been rolled back since, or rows are missing. */
  const chainOf = ({ head, look }: Reading): (() => Promise<void>) => {
    const { rollbacks } = head;
    return async () => {
      await look?.();
      if (head.rollbacks !== rollbacks || isRepairing(head.repairs))
        throw new RpcError(status.ABORTED, 'the chain was rolled back meanwhile: ask again');
    };
  };

  /** Batches of a stream, as long as they are of one chain. */
  const guarded = async function* <T>(
    reading: Reading,
    batches: AsyncIterable<T[]>,
    { signal }: CallContext,
  ): AsyncGenerator<T[]> {
    const check = chainOf(reading);
    for await (const batch of batches) {
      if (signal.aborted) return;
      // Not a mere end: what was sent would be taken for everything.
      if (options.stopping.aborted) throw new RpcError(status.UNAVAILABLE, 'the service is stopping');
      await check();
      yield batch;
    }
    // A rollback may have taken what would have come.
    await check();
  };

  return {
    getTokenOwner: unary(options, async ({ collection_addr, token_id, height }, call) => {
      const collection = checkAddress('collection_addr', collection_addr, account_prefix);
      const reading = await beginAt(height, call);
      const check = chainOf(reading);
      const found = await readOwner(reading, collection, tokenKey(token_id));
      await check();
      if (found === undefined) throw notFound(`there was no token ${token_id} in ${collection_addr}`);
      return { owner: show.owner(found.owner), since_height: found.since };
    }),
    streamAccountTokens: streaming(options, async function* ({ account, height }, call) {
      const owner = checkAddress('account', account, account_prefix);
      const reading = await beginAt(height, call);
      for await (const batch of guarded(reading, streamAccountTokens(reading, owner), call)) {
        yield {
          tokens: batch.map((token) => ({
            collection_addr: show.address(token.collection),
            token_id: tokenIdOf(token.id_key),
            height: token.height,
          })),
        };
      }
    }),
    streamCollectionTokens: streaming(options, async function* ({ collection_addr, height }, call) {
      const collection = checkAddress('collection_addr', collection_addr, account_prefix);
      const reading = await beginAt(height, call);
      for await (const batch of guarded(reading, streamCollectionTokens(reading, collection), call)) {
        yield {
          tokens: batch.map(({ id_key, owner }) => ({
            token_id: tokenIdOf(id_key),
            owner: show.owner(owner),
          })),
        };
      }
    }),
    streamChanges: streaming(options, async function* ({ from_height, to_height, collection_addr }, call) {
      const collection = checkOptionalAddress('collection_addr', collection_addr, account_prefix);
      const reading = await beginAt(to_height, call);
      const batches = streamChanges(reading, from_height, collection);
      for await (const batch of guarded(reading, batches, call)) yield { changes: batch.map(show.change) };
    }),
  };
}
