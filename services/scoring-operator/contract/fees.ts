import { NodeError } from '../../common/chain/endpoints.js';
import { type EvmRpc, fromQuantity, RpcAnswerError } from './rpc.js';
import { type GasPrice, highestPrice } from './tx.js';

/** What the node says of prices, in wei. */
export interface PriceFacts {
  /** eth_gasPrice. */
  readonly gas_price: bigint;
  /** baseFeePerGas of the newest block; undefined where blocks have none. */
  readonly base_fee: bigint | undefined;
  /** eth_maxPriorityFeePerGas; 0 where the node does not know it. */
  readonly priority_fee: bigint;
  /** Gas limit of the newest block; 0 where it says none. */
  readonly block_gas_limit: bigint;
}

/** Asks the node for prices and for the gas of a block. @throws NodeError, RpcAnswerError */
export async function fetchPrices(rpc: EvmRpc): Promise<PriceFacts> {
  const [price, block, priority] = await Promise.all([
    rpc.call('eth_gasPrice', []),
    rpc.call('eth_getBlockByNumber', ['latest', false]),
    rpc.call('eth_maxPriorityFeePerGas', []).catch((error: unknown) => {
      if (error instanceof RpcAnswerError || error instanceof NodeError) return '0x0';
      throw error;
    }),
  ]);
  const { baseFeePerGas, gasLimit } = (block ?? {}) as Record<string, unknown>;
  return {
    gas_price: fromQuantity(price, 'eth_gasPrice'),
    base_fee: typeof baseFeePerGas === 'string' ? fromQuantity(baseFeePerGas, 'baseFeePerGas') : undefined,
    priority_fee: fromQuantity(priority, 'eth_maxPriorityFeePerGas'),
    block_gas_limit: typeof gasLimit === 'string' ? fromQuantity(gasLimit, 'gasLimit') : 0n,
  };
}

/**
 * What to offer for gas. With a base fee: two blocks' rise of it and the priority fee, and never
 * less than eth_gasPrice. No more than that, because rollups take the whole offer as the fee. The
 * priority fee counts as far as eth_gasPrice has it: where that is 0, gas is free, whatever a node's
 * default for tips.
 */
export function offerPrice({ gas_price, base_fee, priority_fee }: PriceFacts): GasPrice {
  if (base_fee === undefined) return { gas_price };
  const tip = least(priority_fee, most(gas_price - base_fee, 0n));
  return { max_fee: most(base_fee + base_fee / 4n + tip, gas_price), max_priority_fee: tip };
}

/** A price that is nowhere below another one. */
export function atLeast(price: GasPrice, least_price: bigint): GasPrice {
  if ('gas_price' in price) return { gas_price: most(price.gas_price, least_price) };
  return { ...price, max_fee: most(price.max_fee, least_price) };
}

/** How nodes of this family refuse a fee that is below their own minimum, which no query shows. */
const feeRefused = /insufficient fees?; got: *(\d*)(\w*)\S* required: *(\d+)(\w*)/i;

/**
 * The gas price that a refusal asks for, in wei, rounded up; undefined when it names none.
 *
 * @param price what was offered.
 * @param gas gas limit of the tx that was refused.
 */
export function requiredPrice(message: string, price: bigint, gas: bigint): bigint | undefined {
  const [, got = '', , required = ''] = feeRefused.exec(message) ?? [];
  // No fee has more digits than 256 bits, and numbers of millions of digits take seconds.
  if (required === '' || gas === 0n || Math.max(got.length, required.length) > 78) return undefined;
  // What was offered and what was got are the same in two units: so the unit of the fee does not matter.
  const offered = BigInt(got || '0');
  const [numerator, denominator] =
    offered > 0n && price > 0n ? [BigInt(required) * price, offered] : [BigInt(required), gas];
  return (numerator + denominator - 1n) / denominator;
}

/**
 * A price that a node takes in place of an older tx with the same nonce: an eighth more, and not
 * less than what is asked now. Free stays free when `may_pay` is false: then a replacement could
 * not be paid for.
 */
export function raisePrice(old: GasPrice, now: GasPrice, may_pay: boolean): GasPrice {
  const more = (value: bigint): bigint => (value === 0n && !may_pay ? 0n : value + value / 8n + 1n);
  if ('gas_price' in now) return { gas_price: most(more(highestPrice(old)), now.gas_price) };
  const oldTip = 'gas_price' in old ? old.gas_price : old.max_priority_fee;
  const max_fee = most(more(highestPrice(old)), now.max_fee);
  const tip = most(more(oldTip), now.max_priority_fee);
  return { max_fee, max_priority_fee: least(tip, max_fee) };
}

// Math.min and Math.max take no bigint.
function least(a: bigint, b: bigint): bigint {
  return [a, b].sort(ascending)[0] as bigint;
}

function most(a: bigint, b: bigint): bigint {
  return [a, b].sort(ascending)[1] as bigint;
}

const ascending = (a: bigint, b: bigint): number => (a < b ? -1 : 1);
