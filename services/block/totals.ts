import type { BlockMaterial } from '../common/gen/indexer/block/v1/block.js';

/** Sums over the txs of a block, failed ones included. */
export interface BlockTotals {
  gas_used: bigint;
  gas_wanted: bigint;
  /** Fees offered (`auth_info.fee.amount`) by denom, sorted by denom: the JSON of Coins. */
  total_fee: string;
}

/** Adds up a block's txs. Of a tx that cannot be read only what can counts; never throws. */
export function blockTotals(material: BlockMaterial): BlockTotals {
  let gasUsed = 0n;
  let gasWanted = 0n;
  const fees = new Map<string, bigint>();
  for (const tx of material.txs) {
    const gas = gasOf(tx.result);
    gasUsed += gas.used;
    gasWanted += gas.wanted;
    for (const coin of feeCoins(parseObject(tx.decoded))) {
      if (typeof coin.denom !== 'string') continue;
      fees.set(coin.denom, (fees.get(coin.denom) ?? 0n) + integer(coin.amount));
    }
  }
  const denoms = [...fees.keys()].sort();
  const total_fee = denoms.map((denom) => ({ denom, amount: String(fees.get(denom)) }));
  return { gas_used: gasUsed, gas_wanted: gasWanted, total_fee: JSON.stringify(total_fee) };
}

/**
 * The gas of a tx result. Looked up in the text, since parsing all its events costs ten
 * times as much; within a string the quotes would be escaped, so only members are found.
 */
function gasOf(result: Buffer): { used: bigint; wanted: bigint } {
  const text = result.toString('utf8');
  const used = /"gas_used":"(\d{1,20})"/.exec(text)?.[1];
  const wanted = /"gas_wanted":"(\d{1,20})"/.exec(text)?.[1];
  if (used !== undefined && wanted !== undefined) return { used: BigInt(used), wanted: BigInt(wanted) };
  const parsed = parseObject(result);
  return { used: integer(parsed['gas_used']), wanted: integer(parsed['gas_wanted']) };
}

function feeCoins(decoded: Record<string, unknown>): { denom?: unknown; amount?: unknown }[] {
  const fee = member(member(decoded, 'auth_info'), 'fee');
  const amount = fee['amount'];
  return Array.isArray(amount) ? amount.filter((coin) => typeof coin === 'object' && coin !== null) : [];
}

function member(object: Record<string, unknown>, key: string): Record<string, unknown> {
  const value = object[key];
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

function parseObject(text: Buffer): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text.toString('utf8'));
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** A number of gas or of coins, decimal digits of 256 bits at most; anything else counts as nothing. */
function integer(value: unknown): bigint {
  const text = typeof value === 'number' ? String(value) : value;
  return typeof text === 'string' && /^\d{1,78}$/.test(text) ? BigInt(text) : 0n;
}
