import { NodeError } from '../../common/chain/endpoints.js';
import { sleep } from '../../common/runtime/lifecycle.js';
import type { Log } from '../../common/runtime/log.js';
import type { BlockPin } from './at-block.js';
import type { ContractError } from './errors.js';
import { fetchNonces, findByHash, findByNonce, isSameCall } from './nonce.js';
import { askReceipt, type RawReceipt } from './receipts.js';
import { type EvmRpc, RpcAnswerError } from './rpc.js';
import type { TxFields } from './tx.js';

/** One tx to send. */
export interface TxRequest {
  /** undefined deploys. */
  readonly to: string | undefined;
  readonly data: string;
  /** In words, for errors: `update of 300 scores of stage 5`. */
  readonly what: string;
  /** Block that a node must have reached to be believed; default 0, any. */
  readonly leastHeight?: (() => Promise<number>) | undefined;
  /**
   * Looked at once the nonce is chosen and before anything is signed; what it throws ends the sending.
   *
   * @param block that the nonce was counted at: what is looked at has to be looked at there.
   */
  readonly check?: ((block: BlockPin) => Promise<void>) | undefined;
  /** Gas it would take. @throws ContractError when it would fail */
  readonly estimate: () => Promise<bigint>;
  /** Awaited before bytes leave the process; `tx_hash` is '' where a remote signer sends by itself. */
  readonly onSigned?:
    | ((tx: { readonly tx_hash: string; readonly nonce: number }) => Promise<void>)
    | undefined;
  /** A tx that was told of can never be mined: another with its nonce was. */
  readonly onReplaced?: ((tx_hash: string) => Promise<void>) | undefined;
  /** Finds the reason of a failure that the node kept to itself. */
  readonly explain?: ((failure: ContractError) => Promise<ContractError>) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One signed version of a tx: all versions have the same nonce, so at most one can be mined. */
export interface Version {
  /** '' while it is not known. */
  tx_hash: string;
  /** undefined where a remote signer keeps it. */
  readonly raw: string | undefined;
  /** Whether the node has shown that a hash which a remote signer gave is that of this tx. */
  is_checked?: boolean;
}

/** A tx on its way. */
export interface Flight {
  readonly request: TxRequest;
  readonly fields: TxFields;
  readonly versions: Version[];
  /** Head of the rollup before the first version was sent. */
  readonly after_height: number;
  /** Whether a version, or another tx with the same nonce, may be in somebody's pool. */
  is_out: boolean;
  /** What the node said last against the newest version; '' when it took it. */
  refusal: string;
}

/** Hashes of the versions, as far as they are known. */
export const hashesOf = ({ versions }: Flight): string[] =>
  versions.map(({ tx_hash }) => tx_hash).filter((hash) => hash !== '');

/** What waiting for a flight came to. */
export type Outcome =
  | { readonly kind: 'mined'; readonly receipt: RawReceipt }
  /** Its nonce is used, and not by us. */
  | { readonly kind: 'taken' }
  /** The signer has named a tx that is not this one. */
  | { readonly kind: 'wrong'; readonly tx_hash: string }
  /** Not mined for too long. */
  | { readonly kind: 'stuck' };

/** What a flight is watched with. */
export interface Watch {
  readonly rpc: EvmRpc;
  readonly account: string;
  readonly poll_ms: number;
  /** How long the EVM's index may lag behind the count of mined txs. */
  readonly index_lag_ms: number;
  readonly log: Log;
}

/** Every how many looks the node is asked whether it still holds a tx. */
const looksBetweenAsking = 5;

/** When waiting ends, in milliseconds since the epoch. */
export interface Patience {
  /** Then the newest version counts as stuck, unless its nonce is used: that leaves nothing to replace. */
  readonly stuck_at: number;
  /** Then waiting ends in any case. */
  readonly deadline: number;
}

/**
 * Looks by hash and by nonce until a version is in a block, the nonce is used by another, or time is
 * up; sends the newest bytes again while the node does not hold them. Never throws: something was
 * sent, and only its fate ends the waiting, not a node that fails meanwhile.
 *
 * @param is_held whether the node is known to hold the newest version.
 */
export async function waitFor(
  watch: Watch,
  flight: Flight,
  { stuck_at, deadline }: Patience,
  is_held: boolean,
): Promise<Outcome> {
  const { request, fields } = flight;
  const { log, index_lag_ms } = watch;
  let used_since: number | undefined;
  let held = is_held;
  for (let looks = 1; ; looks++) {
    try {
      const wrong = await findWrong(watch, flight);
      if (wrong !== undefined) return { kind: 'wrong', tx_hash: wrong };
      const receipt = await findReceipt(watch, flight);
      if (receipt !== undefined) return { kind: 'mined', receipt };
      const { mined, height } = await fetchNonces(watch.rpc, watch.account);
      if (mined > fields.nonce) {
        used_since ??= Date.now();
        const whose = await whoseNonce(watch, flight, height);
        if (whose === 'theirs') return { kind: 'taken' };
        if (whose === 'nobody' && Date.now() - used_since > index_lag_ms) return { kind: 'taken' };
      } else if (!held || looks % looksBetweenAsking === 0) {
        held = await isHeldOrSend(watch, flight);
      }
    } catch (error) {
      log.debug({ nonce: fields.nonce }, `${request.what}: ${(error as Error).message}`);
    }
    const end = used_since === undefined ? stuck_at : deadline;
    if (Date.now() >= Math.min(end, deadline) || request.signal?.aborted) return { kind: 'stuck' };
    await sleep(watch.poll_ms, request.signal);
  }
}

async function findReceipt({ rpc }: Watch, { versions }: Flight): Promise<RawReceipt | undefined> {
  for (const { tx_hash, raw, is_checked } of [...versions].reverse()) {
    const isKnown = tx_hash !== '' && (raw !== undefined || is_checked);
    const receipt = isKnown ? await askReceipt(rpc, tx_hash) : undefined;
    if (receipt !== undefined) return receipt;
  }
  return undefined;
}

/** The hash that a signer gave which sends by itself, where the tx of that hash is not the one that it was asked for. */
async function findWrong({ rpc, account }: Watch, { versions, fields }: Flight): Promise<string | undefined> {
  for (const version of versions) {
    const { tx_hash, raw, is_checked } = version;
    if (raw !== undefined || tx_hash === '' || is_checked) continue;
    const found = await findByHash(rpc, tx_hash);
    if (found === undefined) continue;
    const isOurs = found.from === account.toLowerCase() && found.nonce === BigInt(fields.nonce);
    if (!isOurs || !isSameCall(found, fields)) return tx_hash;
    version.is_checked = true;
  }
  return undefined;
}

/** Who used the nonce; a version of ours whose hash was unknown learns it here. */
async function whoseNonce(
  { rpc, account }: Watch,
  { versions, fields, after_height, request }: Flight,
  at_least: number,
): Promise<'ours' | 'theirs' | 'nobody'> {
  const found = await findByNonce(rpc, account, fields.nonce, after_height, at_least);
  if (found === undefined) return 'nobody';
  const named = versions.find(({ tx_hash }) => tx_hash === found.tx_hash);
  if (named !== undefined) {
    // A node may show a tx in its block before it knows the hash of it.
    named.is_checked ||= isSameCall(found, fields);
    return 'ours';
  }
  // Also where no node knows the hash that a signer gave.
  const unknown = versions.find(({ raw, is_checked }) => raw === undefined && !is_checked);
  if (unknown === undefined || !isSameCall(found, fields)) return 'theirs';
  const before = unknown.tx_hash;
  unknown.tx_hash = found.tx_hash;
  unknown.is_checked = true;
  await request.onSigned?.({ tx_hash: found.tx_hash, nonce: fields.nonce });
  await request.onReplaced?.(before);
  return 'ours';
}

async function isHeldOrSend({ rpc }: Watch, { versions, request }: Flight): Promise<boolean> {
  const newest = versions.at(-1);
  if (newest?.raw === undefined) return true;
  if ((await rpc.call('eth_getTransactionByHash', [newest.tx_hash])) !== null) return true;
  return (await broadcast(rpc, newest.raw, request.what)).kind === 'sent';
}

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
