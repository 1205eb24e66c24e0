import { type Signature, Transaction, type TransactionLike } from 'ethers';

/** Price of gas in wei: one number, or the two of EIP-1559. */
export type GasPrice =
  | { readonly gas_price: bigint }
  | { readonly max_fee: bigint; readonly max_priority_fee: bigint };

/** A tx as it is signed. No value is ever sent along. */
export interface TxFields {
  readonly chain_id: bigint;
  readonly from: string;
  /** Contract that is called; undefined deploys. */
  readonly to: string | undefined;
  readonly data: string;
  readonly nonce: number;
  readonly gas: bigint;
  readonly price: GasPrice;
}

/** What at most is paid for a unit of gas. */
export const highestPrice = (price: GasPrice): bigint =>
  'gas_price' in price ? price.gas_price : price.max_fee;

/** Whether two prices are the same offer. */
export const isSamePrice = (a: GasPrice, b: GasPrice): boolean =>
  'gas_price' in a
    ? 'gas_price' in b && a.gas_price === b.gas_price
    : 'max_fee' in b && a.max_fee === b.max_fee && a.max_priority_fee === b.max_priority_fee;

function toTransaction(tx: TxFields): Transaction {
  const price: TransactionLike =
    'gas_price' in tx.price
      ? { type: 0, gasPrice: tx.price.gas_price }
      : { type: 2, maxFeePerGas: tx.price.max_fee, maxPriorityFeePerGas: tx.price.max_priority_fee };
  return Transaction.from({
    chainId: tx.chain_id,
    to: tx.to ?? null,
    data: tx.data,
    nonce: tx.nonce,
    gasLimit: tx.gas,
    value: 0n,
    ...price,
  });
}

/** What is signed. */
export const unsignedHash = (tx: TxFields): string => toTransaction(tx).unsignedHash;

/** Raw bytes and hash of a signed tx. */
export function serializeSigned(tx: TxFields, signature: Signature): { raw: string; tx_hash: string } {
  const transaction = toTransaction(tx);
  transaction.signature = signature;
  return { raw: transaction.serialized, tx_hash: transaction.hash as string };
}

/** What a signed tx may cost at most. */
export interface Offer {
  readonly price: GasPrice;
  readonly gas: bigint;
}

/** Raw bytes that somebody else signed: hash, sender, what they offer for gas, and whether they are the tx that was asked for. */
export function readRaw(
  raw: string,
  asked: TxFields,
): { tx_hash: string; from: string; offer: Offer; is_as_asked: boolean } {
  const transaction = Transaction.from(raw);
  const { maxFeePerGas, maxPriorityFeePerGas, gasPrice, gasLimit } = transaction;
  const price: GasPrice =
    maxFeePerGas === null
      ? { gas_price: gasPrice ?? 0n }
      : { max_fee: maxFeePerGas, max_priority_fee: maxPriorityFeePerGas ?? 0n };
  const is_as_asked =
    // Later types carry more than a call: blobs that are paid for, or rights over the account.
    (transaction.type ?? 0) <= 2 &&
    transaction.nonce === asked.nonce &&
    transaction.chainId === asked.chain_id &&
    (transaction.to ?? '').toLowerCase() === (asked.to ?? '').toLowerCase() &&
    transaction.data === asked.data.toLowerCase() &&
    transaction.value === 0n;
  return {
    tx_hash: transaction.hash ?? '',
    from: transaction.from ?? '',
    offer: { price, gas: gasLimit },
    is_as_asked,
  };
}
