import { NodeError } from '../common/chain/endpoints.js';
import { splitArray } from '../common/chain/json.js';
import type { TxMaterial } from '../common/gen/indexer/block/v1/block.js';

/** Events that only an EVM execution leaves. */
const evmEvents = new Set(['call', 'create', 'evm']);

/** Sign mode of txs that were signed as Ethereum ones, as the node's REST API writes it. */
const ethereumSignMode = 9999;

/**
 * How many receipts a list lacks, by what the block itself says: every successful tx that
 * ran in the EVM, or was signed as an Ethereum tx, has one. Failed ones may or may not.
 *
 * @param receipts JSON array of receipts.
 * @throws NodeError not_json when that is no array.
 */
export function missingReceipts(receipts: string, txs: readonly TxMaterial[]): number {
  let count: number;
  try {
    count = splitArray(receipts).length;
  } catch (cause) {
    throw new NodeError('not_json', 'the receipts are no JSON array', undefined, { cause });
  }
  return Math.max(0, txs.filter(mustHaveReceipt).length - count);
}

interface TxResult {
  code: number;
  events?: { type: string; attributes?: { key: string }[] | null }[] | null;
}

function mustHaveReceipt(tx: TxMaterial): boolean {
  const result = JSON.parse(Buffer.from(tx.result).toString()) as TxResult;
  if (result.code !== 0) return false;
  const ran = (result.events ?? []).some(
    (event) =>
      evmEvents.has(event.type) &&
      (event.attributes ?? []).some((attribute) => attribute.key === 'msg_index'),
  );
  return ran || signedAsEthereum(tx);
}

function signedAsEthereum(tx: TxMaterial): boolean {
  const { auth_info } = JSON.parse(Buffer.from(tx.decoded).toString()) as {
    auth_info?: { signer_infos?: { mode_info?: { single?: { mode?: unknown } } }[] };
  };
  return (auth_info?.signer_infos ?? []).some(
    (signer) => signer.mode_info?.single?.mode === ethereumSignMode,
  );
}
