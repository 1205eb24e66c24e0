import { NodeError } from '../../common/chain/endpoints.js';
import type { ContractError } from './errors.js';
import { type EvmRpc, RpcAnswerError } from './rpc.js';

/**
 * What became of sending raw bytes to a node:
 * - `sent`: it has them now, or had them before;
 * - `lost`: no usable answer: it may have them or not;
 * - `nonce_used`: a tx with this nonce is in a block already;
 * - `not_yet`: the node is behind, or full: the same bytes may go through later;
 * - `underpriced`: the price is too low, or not enough above that of the tx it would replace;
 * - `not_replaced`: another tx waits with this nonce, and the node does not take this one in its place;
 * - `unclear`: the node said no, in words that tell nothing: it may have the tx all the same;
 * - `refused`: for another reason, which will not pass by waiting.
 */
export type Broadcast =
  | {
      readonly kind: 'sent' | 'nonce_used' | 'not_yet' | 'underpriced' | 'not_replaced' | 'lost';
      readonly message: string;
    }
  | { readonly kind: 'refused' | 'unclear'; readonly message: string; readonly failure: ContractError };

/** Sends raw bytes, once. Sending the same bytes again can never make a second tx. */
export async function broadcast(rpc: EvmRpc, raw: string, what: string): Promise<Broadcast> {
  try {
    await rpc.call('eth_sendRawTransaction', [raw], { attempts: 1 });
    return { kind: 'sent', message: '' };
  } catch (error) {
    if (error instanceof NodeError) return { kind: 'lost', message: error.message };
    if (!(error instanceof RpcAnswerError)) throw error;
    return readRefusal(error, what);
  }
}

const known =
  /already known|already imported|known transaction|already exists|already in (the )?(cache|mempool|pool)|tx already/i;
const nonceUsed =
  /nonce (is )?too low|nonce has already been used|nonce already used|old nonce|nonce \d+ is stale|invalid nonce; got (\d+), expected/i;
const notReplaced = /has priority \d+ >= replacement priority/i;
const notYet =
  /nonce (is )?too high|nonce gap|mempool is full|txpool is full|pool is full|too many pending|timed? ?out waiting/i;
const underpriced =
  /underpriced|fee too low|insufficient fees?\b|less than (the )?block base fee|gas price (is )?too low|max ?fee ?per ?gas (is )?(too low|less)|below (the )?minimum|tip (is )?too low/i;
/** How chains of this family say that a nonce is not the next one. */
const sequence = /account sequence mismatch[^\d]*expected (\d+)[^\d]*got (\d+)/i;

function readRefusal(error: RpcAnswerError, what: string): Broadcast {
  const { message } = error.failure;
  const mismatch = sequence.exec(message);
  if (mismatch !== null) {
    return { kind: Number(mismatch[1]) > Number(mismatch[2]) ? 'nonce_used' : 'not_yet', message };
  }
  const kinds = [
    ['not_replaced', notReplaced],
    ['sent', known],
    ['nonce_used', nonceUsed],
    ['not_yet', notYet],
    ['underpriced', underpriced],
  ] as const;
  const kind = kinds.find(([, pattern]) => pattern.test(message))?.[0];
  if (kind !== undefined) return { kind, message };
  const failure = error.explain(what);
  return { kind: failure.kind === 'refused' ? 'unclear' : 'refused', message, failure };
}
