import { type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';
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

/** How much gas a tx of one sender may have; 0n: no limit known. */
export interface GasLimits {
  /** The rollup's own: more is cut to it without a word, and the tx then fails half way. */
  readonly rollup: bigint;
  /** Of a block. */
  readonly block: bigint;
}

/**
 * The rollup's own limit, from `GET {rest}/minievm/evm/v1/params` `gas_enforcement`; 0n when there
 * is none, when this sender is exempt, or where the rollup has no such parameters.
 *
 * @throws NodeError when the node gives no usable answer.
 */
export function fetchRollupGasLimit(rest: Endpoints, sender: string, signal?: AbortSignal): Promise<bigint> {
  return rest.ask({ path: '/minievm/evm/v1/params', signal }, (status, body) =>
    readRollupGasLimit(status, body, sender),
  );
}

/** Reads the answer. @throws NodeError */
export function readRollupGasLimit(status: number, body: string, sender: string): bigint {
  // An EVM rollup of another make has no such route.
  if (status === 404 || status === 501) return 0n;
  const answer = parseNodeJson(status, body, 'params of the EVM') as {
    params?: {
      gas_enforcement?: { max_gas_limit?: unknown; unlimited_gas_senders?: unknown } | null;
    };
  } | null;
  if (status !== 200 || typeof answer?.params !== 'object') {
    throw new NodeError('error_answer', `params of the EVM: HTTP ${status}`);
  }
  const { max_gas_limit, unlimited_gas_senders } = answer.params.gas_enforcement ?? {};
  const exempt = Array.isArray(unlimited_gas_senders)
    ? unlimited_gas_senders.some((one) => String(one).toLowerCase() === sender.toLowerCase())
    : false;
  return exempt || !/^\d{1,20}$/.test(String(max_gas_limit ?? '')) ? 0n : BigInt(String(max_gas_limit));
}

/** The least of those that are known; undefined when none is. */
export function leastLimit({ rollup, block }: GasLimits): bigint | undefined {
  const known = [rollup, block].filter((limit) => limit > 0n);
  return known.reduce<bigint | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined);
}

/**
 * Gas for a tx: the estimate and a margin, but never more than may be asked for.
 *
 * @returns undefined when not even the estimate may be.
 */
export function gasFor(estimate: bigint, margin_percent: number, limits: GasLimits): bigint | undefined {
  const wanted = estimate + (estimate * BigInt(margin_percent)) / 100n;
  const limit = leastLimit(limits);
  if (limit === undefined || wanted <= limit) return wanted;
  return estimate <= limit ? limit : undefined;
}
