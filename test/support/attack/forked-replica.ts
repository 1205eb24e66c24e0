import type { Anvil } from '../../../tools/dev/anvil.js';
import type { Meddling, PassingRequest } from '../rpc-proxy.js';

/** A replica of a node that is on a fork: as high as the other one, with blocks of its own that have no txs. */
export interface ForkedReplica {
  /** Last block that it has in common with the node; undefined while there is no fork. */
  forked_at: bigint | undefined;
  /** Answers a request as the replica does. */
  answer(request: PassingRequest): Promise<Meddling>;
  /** Whether a request names a block that only the replica has. */
  isOnlyHere(request: PassingRequest): boolean;
}

/** How a block is named by its hash, as the last parameter of a call. */
interface ByHash {
  readonly blockHash?: string;
}

const ownHash = (height: bigint): string => `0x${'f0'.repeat(26)}${height.toString(16).padStart(12, '0')}`;

/** How nodes say that they do not have a block. */
export const blockMissing = { error: { code: -32_000, message: 'header not found' } };

/** Makes one that is not on a fork yet. */
export function createForkedReplica(anvil: Anvil): ForkedReplica {
  const hashOf = ({ params }: PassingRequest): string | undefined =>
    (params.at(-1) as ByHash | undefined)?.blockHash;

  const replica: ForkedReplica = {
    forked_at: undefined,
    isOnlyHere: (request) => hashOf(request)?.startsWith(ownHash(0n).slice(0, 50)) === true,
    async answer(request) {
      const { method, params } = request;
      const at = replica.forked_at;
      if (at === undefined) return undefined;
      if (/^eth_getTransaction(Receipt|ByHash)$/.test(method)) {
        const found = (await anvil.call(method, ...params)) as { blockNumber?: string | null } | null;
        const isCommon = typeof found?.blockNumber === 'string' && BigInt(found.blockNumber) <= at;
        return { result: isCommon ? found : null };
      }
      if (method === 'eth_getBlockByNumber') {
        const block = (await anvil.call(method, ...params)) as { number: string } | null;
        const height = BigInt(block?.number ?? 0);
        return { result: height > at ? { ...block, hash: ownHash(height), transactions: [] } : block };
      }
      if (!/^eth_(call|getTransactionCount)$/.test(method)) return undefined;
      const hash = hashOf(request);
      const isOwn = replica.isOnlyHere(request);
      if (hash !== undefined && !isOwn) {
        const block = (await anvil.call('eth_getBlockByHash', hash, false)) as { number: string } | null;
        if (block === null || BigInt(block.number) > at) return blockMissing;
        return undefined;
      }
      const last = params.at(-1);
      const isLater = isOwn || last === 'latest' || last === 'pending' || BigInt(String(last)) > at;
      const common = isLater ? [...params.slice(0, -1), `0x${at.toString(16)}`] : params;
      return { result: await anvil.call(method, ...common) };
    },
  };
  return replica;
}
