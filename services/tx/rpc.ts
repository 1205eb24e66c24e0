import { status, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { ofOneChain } from '../common/consumer/look.js';
import {
  type ListEvmTxsByAccountRequest,
  type ListEvmTxsByHeightRequest,
  type ListEvmTxsRequest,
  type TxServiceServer,
  TxServiceService,
} from '../common/gen/indexer/tx/v1/tx.js';
import { checkAddress, checkPage, quoted } from '../common/page/fit.js';
import { forward } from '../common/rpc/context.js';
import {
  countLimits,
  type ReaderEnvironment,
  type ServedService,
  streaming,
  unary,
  watchHead,
} from '../common/rpc/server.js';
import { invalidArgument, notFound, RpcError, unimplemented } from '../common/runtime/errors.js';
import { decodeActivity } from './decode/activity.js';
import { nameScanner } from './decode/names.js';
import type { DecodeOptions } from './decode/types.js';
import { readWindow, type StoredTx } from './read/activity.js';
import { listByAccountAndMsgs, listByHeightAndMsgs, listByMsgs } from './read/filtered.js';
import {
  type BodyPage,
  getByHash,
  getByHashes,
  listAll,
  listByAccount,
  listByHeight,
  listInternalByHash,
} from './read/lists.js';
import { indexed, type Reader } from './read/reader.js';
import type { Head } from './store/cursor.js';

export interface TxRpcOptions extends ReaderEnvironment<Reader> {
  readonly vm_type: string;
}

/** The handlers of indexer.tx.v1.TxService. */
export function txService(options: TxRpcOptions): ServedService {
  const implementation: TxServiceServer = {
    ...headHandlers(options),
    ...txHandlers(options),
    ...evmHandlers(options),
    ...internalHandlers(options),
    ...activityHandlers(options),
    streamBody: streaming(options, async function* ({ body }, call) {
      if (body === undefined) throw invalidArgument('body is missing');
      for await (const part of options.reader().bodies.parts(body, forward(call))) yield { part };
    }),
  };
  return {
    definition: TxServiceService,
    implementation: implementation as UntypedServiceImplementation,
    onLimit: countLimits('tx', options),
  };
}

/** Reads for a call, from one chain. */
const answerTo = <T>({ reader }: TxRpcOptions, read: (reader: Reader) => Promise<T>): Promise<T> =>
  ofOneChain(reader, read);

function headHandlers(options: TxRpcOptions): Pick<TxServiceServer, 'getStatus' | 'watchHead'> {
  const heightsOf = ({ position }: Head) => ({
    height: position.height,
    internal_tx_height: position.internal_height,
  });
  return {
    getStatus: unary(options, async () => {
      const { head } = options.reader();
      return { ...heightsOf(head), hash: head.position.hash };
    }),
    watchHead: watchHead(options, (head) => ({ ...heightsOf(head), revision: head.revision })),
  };
}

function txHandlers(
  options: TxRpcOptions,
): Pick<TxServiceServer, 'getTx' | 'getTxsByHashes' | 'listTxs' | 'listTxsByAccount' | 'listTxsByHeight'> {
  const { account_prefix } = options;
  return {
    getTx: unary(options, async ({ tx_hash }, call) => {
      const hash = checkHash(tx_hash);
      const found = await answerTo(options, (reader) => getByHash(reader, 'tx', hash, forward(call)));
      if (found === undefined) throw notFound(`tx ${tx_hash} is not indexed`);
      return { tx: found.body, large: found.large };
    }),

    getTxsByHashes: unary(options, async ({ tx_hashes, height, from_end }, call) => {
      const hashes = checkHashes(tx_hashes);
      const { bodies, large } = await answerTo(options, async (reader) => {
        await indexed(reader.head, height, call);
        return getByHashes(reader, 'tx', hashes, from_end, forward(call));
      });
      return { txs: bodies, large };
    }),

    listTxs: unary(options, async ({ msgs, pagination }, call) => {
      const [types, page] = [cleanMsgs(msgs), checkPage(pagination)];
      const { bodies, ...rest } = await answerTo(options, (reader) =>
        types.length === 0
          ? listAll(reader, 'tx', page, forward(call))
          : listByMsgs(reader, types, page, forward(call)),
      );
      return { txs: bodies, ...rest };
    }),

    listTxsByAccount: unary(options, async ({ account, is_signer, msgs, pagination }, call) => {
      const [types, page] = [cleanMsgs(msgs), checkPage(pagination)];
      const key = checkAddress('account', account, account_prefix);
      const { bodies, ...rest } = await answerTo(options, (reader) =>
        types.length === 0
          ? listByAccount(reader, 'tx', key, is_signer, page, forward(call))
          : listByAccountAndMsgs(reader, key, is_signer, types, page, forward(call)),
      );
      return { txs: bodies, ...rest };
    }),

    listTxsByHeight: unary(options, async ({ height, msgs, pagination }, call) => {
      const [types, page] = [cleanMsgs(msgs), checkPage(pagination)];
      const { bodies, ...rest } = await answerTo(options, (reader) =>
        types.length === 0
          ? listByHeight(reader, 'tx', height, page, forward(call))
          : listByHeightAndMsgs(reader, height, types, page, forward(call)),
      );
      return { txs: bodies, ...rest };
    }),
  };
}

/** @throws RpcError UNIMPLEMENTED on rollups without EVM. */
function requireEvm({ vm_type }: TxRpcOptions): void {
  if (vm_type !== 'evm') throw unimplemented(`a ${vm_type} rollup has no EVM txs`);
}

/** The handlers of the lists of a kind that only EVM rollups have. @param shown a page as a message. */
function evmLists<Message>(
  options: TxRpcOptions,
  kind: 'evm_tx' | 'internal_tx',
  shown: (page: BodyPage) => Message,
) {
  const { account_prefix } = options;
  return {
    all: unary<ListEvmTxsRequest, Message>(options, async ({ pagination }, call) => {
      requireEvm(options);
      const page = checkPage(pagination);
      return shown(await answerTo(options, (reader) => listAll(reader, kind, page, forward(call))));
    }),
    byAccount: unary<ListEvmTxsByAccountRequest, Message>(
      options,
      async ({ account, is_signer, pagination }, call) => {
        requireEvm(options);
        const [page, key] = [checkPage(pagination), checkAddress('account', account, account_prefix)];
        return shown(
          await answerTo(options, (reader) =>
            listByAccount(reader, kind, key, is_signer, page, forward(call)),
          ),
        );
      },
    ),
    byHeight: unary<ListEvmTxsByHeightRequest, Message>(options, async ({ height, pagination }, call) => {
      requireEvm(options);
      const page = checkPage(pagination);
      return shown(
        await answerTo(options, (reader) => listByHeight(reader, kind, height, page, forward(call))),
      );
    }),
  };
}

function evmHandlers(
  options: TxRpcOptions,
): Pick<TxServiceServer, 'getEvmTx' | 'listEvmTxs' | 'listEvmTxsByAccount' | 'listEvmTxsByHeight'> {
  const lists = evmLists(options, 'evm_tx', ({ bodies, ...rest }) => ({ txs: bodies, ...rest }));
  return {
    getEvmTx: unary(options, async ({ tx_hash }, call) => {
      requireEvm(options);
      const hash = checkHash(tx_hash);
      const found = await answerTo(options, (reader) => getByHash(reader, 'evm_tx', hash, forward(call)));
      if (found === undefined) throw notFound(`EVM tx ${tx_hash} is not indexed`);
      return { tx: found.body, large: found.large };
    }),
    listEvmTxs: lists.all,
    listEvmTxsByAccount: lists.byAccount,
    listEvmTxsByHeight: lists.byHeight,
  };
}

function internalHandlers(
  options: TxRpcOptions,
): Pick<
  TxServiceServer,
  | 'listEvmInternalTxs'
  | 'listEvmInternalTxsByAccount'
  | 'listEvmInternalTxsByHeight'
  | 'listEvmInternalTxsByHash'
> {
  const shown = ({ bodies, ...rest }: BodyPage) => ({ internal_txs: bodies, ...rest });
  const lists = evmLists(options, 'internal_tx', shown);
  return {
    listEvmInternalTxs: lists.all,
    listEvmInternalTxsByAccount: lists.byAccount,
    listEvmInternalTxsByHeight: lists.byHeight,
    listEvmInternalTxsByHash: unary(options, async ({ tx_hash, pagination }, call) => {
      requireEvm(options);
      const [page, hash] = [checkPage(pagination), checkHash(tx_hash)];
      const found = await answerTo(options, (reader) =>
        listInternalByHash(reader, hash, page, forward(call)),
      );
      if (found === undefined) throw notFound(`EVM tx ${tx_hash} is not indexed`);
      return shown(found);
    }),
  };
}

/** The handler that tells what accounts did in a window of blocks. */
export function activityHandlers(options: TxRpcOptions): Pick<TxServiceServer, 'streamActivity'> {
  const { account_prefix, stopping } = options;
  const names = nameScanner({ vm: options.vm_type as DecodeOptions['vm'], account_prefix });
  return {
    streamActivity: streaming(options, async function* ({ from_height, to_height }, call) {
      const reader = options.reader();
      const { height } = reader.head.position;
      if (from_height < 1 || from_height > to_height)
        throw invalidArgument(`heights ${from_height} to ${to_height} are no window`);
      if (to_height > height)
        throw new RpcError(status.OUT_OF_RANGE, `block ${to_height} is not indexed: the last is ${height}`);
      const decode = ({ body, height: at, position }: StoredTx) => decodeActivity(body, at, position, names);
      for await (const part of readWindow(reader, from_height, to_height, decode, forward(call))) {
        if (call.signal.aborted) return;
        // Not a mere end: what was sent would be taken for everything.
        if (stopping.aborted) throw new RpcError(status.UNAVAILABLE, 'the service is stopping');
        yield part;
      }
    }),
  };
}

/** A hash as 64 lower-case hex digits. @throws RpcError INVALID_ARGUMENT when it is none. */
export function checkHash(tx_hash: string): string {
  const digits = /^(?:0x)?([0-9a-f]{64})$/.exec(tx_hash.toLowerCase())?.[1];
  if (digits === undefined)
    throw invalidArgument(`tx_hash ${quoted(tx_hash)} is not 64 hex digits, with or without 0x`);
  return digits;
}

/** Most hashes that a call may ask for. */
const mostHashes = 1_000;

/** Several hashes. @throws RpcError INVALID_ARGUMENT when one is none, or when there are too many. */
export function checkHashes(tx_hashes: readonly string[]): string[] {
  if (tx_hashes.length > mostHashes)
    throw invalidArgument(`at most ${mostHashes} hashes can be asked for at once`);
  return tx_hashes.map(checkHash);
}

/** Distinct message types without the leading slash, sorted; empty means no filter. */
export function cleanMsgs(msgs: readonly string[]): string[] {
  const types = msgs.map((msg) => msg.replace(/^\//, '')).filter((msg) => msg !== '');
  return [...new Set(types)].sort();
}
