import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ServiceDefinition } from '@grpc/grpc-js';
import {
  type Block,
  type WatchHeadResponse as BlockHead,
  BlockServiceService,
} from '../../services/common/gen/indexer/block/v1/block.js';
import type { PageRequest, PageResponse } from '../../services/common/gen/indexer/common/v1/common.js';
import {
  type WatchHeadResponse as NftHead,
  NftServiceService,
} from '../../services/common/gen/indexer/nft/v1/nft.js';
import {
  type Holder,
  type WatchHeadResponse as RichlistHead,
  RichlistServiceService,
} from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import {
  type WatchHeadResponse as TxHead,
  TxServiceService,
} from '../../services/common/gen/indexer/tx/v1/tx.js';
import type { CallContext } from '../../services/common/rpc/context.js';
import { type RpcServer, serveRpc, streaming, unary } from '../../services/common/rpc/server.js';
import { notFound } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { type FakeNfts, fakeNftHandlers, fakeNfts } from './fake-nft.js';

/** A call that a fake service received. */
export interface FakeCall {
  readonly method: string;
  readonly request: Readonly<Record<string, unknown>>;
  readonly context: CallContext;
}

type Handler = (request: never, context: CallContext) => Promise<unknown>;

/** A block, a tx, an nft and a richlist service over real gRPC that answer from memory. */
export interface FakeServices {
  readonly block_address: string;
  readonly tx_address: string;
  readonly nft_address: string;
  readonly richlist_address: string;
  /** Every unary call so far. */
  readonly calls: FakeCall[];
  /** What to answer instead, by method name (`listTxs`). */
  readonly instead: Map<string, Handler>;
  /** The chain: newest block and tx last. */
  readonly chain: FakeChain;
  /** Says a head to those who watch; what is left out stays. */
  sayBlockHead(head: Partial<BlockHead>): void;
  sayTxHead(head: Partial<TxHead>): void;
  sayNftHead(head: Partial<NftHead>): void;
  sayRichlistHead(head: Partial<RichlistHead>): void;
  stopBlock(): Promise<void>;
  stopTx(): Promise<void>;
  stopNft(): Promise<void>;
  stopRichlist(): Promise<void>;
  stop(): Promise<void>;
}

export interface FakeChain {
  chain_id: string;
  height: number;
  tx_height: number;
  internal_tx_height: number;
  readonly blocks: Block[];
  readonly txs: Buffer[];
  readonly receipts: Buffer[];
  readonly frames: Buffer[];
  readonly nfts: FakeNfts;
  rich_list_height: number;
  readonly holders: Holder[];
}

const example = (name: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(packageRoot, 'services/gateway/openapi/examples', `${name}.json`), 'utf8'));

/** A block of the fake chain. */
export function fakeBlock(height: number, more: Partial<Block> = {}): Block {
  return { ...(example('block') as unknown as Block), height: String(height), ...more };
}

/** A tx body with a hash that is its number in hex. */
export function fakeTx(number: number, more: object = {}): Buffer {
  const txhash = number.toString(16).toUpperCase().padStart(64, '0');
  return Buffer.from(JSON.stringify({ ...example('tx'), txhash, height: String(number), ...more }));
}

function fakeChain(): FakeChain {
  const numbers = [1, 2, 3, 4, 5];
  return {
    chain_id: 'fake-1',
    height: 5,
    tx_height: 5,
    internal_tx_height: 4,
    blocks: numbers.map((height) => fakeBlock(height)),
    txs: numbers.map((number) => fakeTx(number)),
    receipts: numbers.map(() => Buffer.from(JSON.stringify(example('evm-tx')))),
    frames: numbers.map((index) => Buffer.from(JSON.stringify({ ...example('evm-internal-tx'), index }))),
    nfts: fakeNfts(example),
    rich_list_height: 5,
    holders: numbers.map((n) => ({ account: `0x${String(n).padStart(40, '0')}`, amount: String(n * 10) })),
  };
}

/** A page of a list in memory; a key is `at-` and the position it begins at. */
function pageOf<T>(
  all: readonly T[],
  request: PageRequest | undefined,
): { items: T[]; pagination: PageResponse } {
  const { key = '', offset = 0, limit = 100, count_total = true, reverse = true } = request ?? {};
  const ordered = reverse ? [...all].reverse() : all;
  const start = key === '' ? offset : Number(key.slice('at-'.length));
  const end = start + limit;
  return {
    items: ordered.slice(start, end),
    pagination: {
      next_key: end < ordered.length ? `at-${end}` : '',
      previous_key: start > 0 ? `at-${Math.max(0, start - limit)}` : '',
      total: count_total ? String(ordered.length) : '0',
    },
  };
}

/** Values that are said to everybody who listens, the last one to newcomers. */
class Said<T> {
  private readonly listeners = new Set<() => void>();

  constructor(public value: T) {}

  say(value: T): void {
    this.value = value;
    for (const listener of this.listeners) listener();
  }

  async *listen(signal: AbortSignal): AsyncGenerator<T> {
    for (let last: T | undefined; !signal.aborted; ) {
      if (last !== this.value) {
        last = this.value;
        yield last;
      } else {
        await new Promise<void>((resolve) => {
          const done = (): void => {
            this.listeners.delete(done);
            signal.removeEventListener('abort', done);
            resolve();
          };
          this.listeners.add(done);
          signal.addEventListener('abort', done);
        });
      }
    }
  }
}

/**
 * Starts the fakes.
 *
 * @param addresses where to listen: any free local ports by default.
 */
export async function startFakeServices(
  addresses: { block?: string; tx?: string; nft?: string; richlist?: string } = {},
): Promise<FakeServices> {
  const environment = { log: createLog('silent'), metrics: createMetrics() };
  const calls: FakeCall[] = [];
  const instead = new Map<string, Handler>();
  const chain = fakeChain();
  const blockHead = new Said<BlockHead>({ height: 5, trace_height: 0, revision: 0 });
  const txHead = new Said<TxHead>({ height: 5, internal_tx_height: 4, revision: 0 });

  const nftHead = new Said<NftHead>({ height: 5, revision: 0 });
  const richlistHead = new Said<RichlistHead>({ height: 5, revision: 0 });

  const answer = (method: string, handler: Handler) =>
    unary(environment, async (request: never, context) => {
      calls.push({ method, request, context });
      return (instead.get(method) ?? handler)(request, context);
    });
  const handlers = (all: Record<string, Handler>) =>
    Object.fromEntries(Object.entries(all).map(([method, handler]) => [method, answer(method, handler)]));

  type Paged = { pagination: PageRequest | undefined };
  const list = (name: string, all: () => readonly unknown[]) => async (request: Paged) => {
    const { items, pagination } = pageOf(all(), request.pagination);
    return { [name]: items, pagination };
  };
  const one = (all: () => readonly Buffer[], field: string) => async (request: { tx_hash: string }) => {
    const wanted = request.tx_hash.toLowerCase();
    const tx = all().find((body) => String(JSON.parse(body.toString())[field]).toLowerCase() === wanted);
    if (tx === undefined) throw notFound(`tx ${request.tx_hash} is not indexed`);
    return { tx };
  };

  /** Serves a service whose head is said by the test. */
  const serve = <T>(
    definition: ServiceDefinition,
    implementation: Record<string, Handler>,
    head: Said<T>,
    address = '127.0.0.1:0',
  ): Promise<RpcServer> => {
    const watchHead = streaming(environment, (_: object, { signal }) => head.listen(signal));
    return serveRpc([{ definition, implementation: { ...handlers(implementation), watchHead } }], [address]);
  };

  const block = await serve(
    BlockServiceService,
    {
      getStatus: async () => ({
        chain_id: chain.chain_id,
        vm_type: 'evm',
        first_height: 1,
        height: chain.height,
        trace_height: 0,
        node_height: chain.height,
        timestamp: '',
      }),
      getBlock: async (request: { height: number }) => {
        const found = chain.blocks.find((candidate) => candidate.height === String(request.height));
        if (found === undefined) throw notFound(`block ${request.height} is not indexed`);
        return { block: found };
      },
      listBlocks: list('blocks', () => chain.blocks),
      getAverageBlockTime: async () => ({ avg_block_time: 1.234 }),
    },
    blockHead,
    addresses.block,
  );
  const [txs, receipts] = [list('txs', () => chain.txs), list('txs', () => chain.receipts)];
  const frames = list('internal_txs', () => chain.frames);
  const tx = await serve(
    TxServiceService,
    {
      getStatus: async () => ({
        height: chain.tx_height,
        internal_tx_height: chain.internal_tx_height,
        hash: '',
      }),
      getTx: one(() => chain.txs, 'txhash'),
      getTxsByHashes: async (request: { tx_hashes: readonly string[] }) => {
        const found = one(() => chain.txs, 'txhash');
        const all = request.tx_hashes.map(async (tx_hash) => (await found({ tx_hash })).tx);
        return { txs: await Promise.all(all) };
      },
      ...{ listTxs: txs, listTxsByAccount: txs, listTxsByHeight: txs },
      getEvmTx: one(() => chain.receipts, 'transactionHash'),
      ...{ listEvmTxs: receipts, listEvmTxsByAccount: receipts, listEvmTxsByHeight: receipts },
      listEvmInternalTxsByHash: frames,
      ...{ listEvmInternalTxs: frames, listEvmInternalTxsByAccount: frames },
      listEvmInternalTxsByHeight: frames,
    },
    txHead,
    addresses.tx,
  );

  const hashOf = (body: Buffer): string => JSON.parse(body.toString()).txhash;
  const nftHandlers = fakeNftHandlers(chain.nfts, () => chain.txs.map(hashOf), pageOf);
  const nft = await serve(NftServiceService, nftHandlers as never, nftHead, addresses.nft);

  const richlist = await serve(
    RichlistServiceService,
    {
      getStatus: async () => ({ rich_list_height: chain.rich_list_height, first_height: 1 }),
      listHolders: list('holders', () => chain.holders),
    },
    richlistHead,
    addresses.richlist,
  );

  const stopped = new Set<RpcServer>();
  const stop = async (server: RpcServer): Promise<void> => {
    if (stopped.has(server)) return;
    stopped.add(server);
    await server.close(0);
  };
  return {
    block_address: block.address,
    tx_address: tx.address,
    nft_address: nft.address,
    richlist_address: richlist.address,
    calls,
    instead,
    chain,
    sayBlockHead: (head) => blockHead.say({ ...blockHead.value, ...head }),
    sayTxHead: (head) => txHead.say({ ...txHead.value, ...head }),
    sayNftHead: (head) => nftHead.say({ ...nftHead.value, ...head }),
    sayRichlistHead: (head) => richlistHead.say({ ...richlistHead.value, ...head }),
    stopBlock: () => stop(block),
    stopTx: () => stop(tx),
    stopNft: () => stop(nft),
    stopRichlist: () => stop(richlist),
    stop: async () => {
      await Promise.all([stop(block), stop(tx), stop(nft), stop(richlist)]);
    },
  };
}
