import { sleep } from '../../common/lifecycle.js';
import type { Log } from '../../common/log.js';
import type { BlockPin } from './at-block.js';
import { broadcast } from './broadcast.js';
import type { ContractError } from './errors.js';
import { fetchNonces, findByHash, findByNonce, isSameCall } from './nonce.js';
import { askReceipt, type RawReceipt } from './receipts.js';
import type { EvmRpc } from './rpc.js';
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
