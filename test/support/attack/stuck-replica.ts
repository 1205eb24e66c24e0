import type { Anvil } from '../../../tools/dev/anvil.js';
import type { Meddling, PassingRequest, RpcReply } from '../rpc-proxy.js';

/** A replica of a node that got stuck at a block, for a proxy that stands for a load balancer. */
export interface StuckReplica {
  /** Block at which it got stuck; undefined while it follows. */
  stuck_at: bigint | undefined;
  /** Answers a request as the replica does. */
  answer(request: PassingRequest): Promise<Meddling>;
}

/** Makes one that still follows the node. */
export function createStuckReplica(anvil: Anvil): StuckReplica {
  const ask = async (method: string, params: readonly unknown[]): Promise<RpcReply> => {
    try {
      return { result: await anvil.call(method, ...params) };
    } catch (error) {
      return { error: { code: -32_000, message: (error as Error).message } };
    }
  };
  const replica: StuckReplica = {
    stuck_at: undefined,
    async answer({ method, params }) {
      const at = replica.stuck_at;
      if (at === undefined) return undefined;
      const tag = `0x${at.toString(16)}`;
      if (method === 'eth_blockNumber') return { result: tag };
      if (/^eth_getTransaction(Receipt|ByHash)$/.test(method)) {
        const found = (await ask(method, params)).result as { blockNumber?: string | null } | null;
        const isThere = typeof found?.blockNumber === 'string' && BigInt(found.blockNumber) <= at;
        return { result: isThere ? found : null };
      }
      const own = params.map((param) => (param === 'latest' || param === 'pending' ? tag : param));
      const height = method === 'eth_getBlockByNumber' ? own[0] : own.at(-1);
      const isLater = typeof height === 'string' && /^0x[0-9a-f]{1,12}$/.test(height) && BigInt(height) > at;
      if (isLater && method !== 'eth_sendRawTransaction')
        return method === 'eth_getBlockByNumber'
          ? { result: null }
          : { error: { code: -32_000, message: 'header not found' } };
      return ask(method, own);
    },
  };
  return replica;
}
