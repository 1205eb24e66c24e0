import type { AccountKey } from '../../common/chain/address.js';

/** Topic of the ERC-20 (and ERC-721) event Transfer(address,address,uint256): keccak of its signature. */
export const transferTopic = 'ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

/** The zero address: what is minted comes from it, what is burnt goes to it; it is nobody's account. */
const nobody = '0'.repeat(40);

/** Amounts by which balances changed: by token, then by account. Both are lower-case hex without 0x. */
export type Deltas = Map<string, Map<AccountKey, bigint>>;

/** A log as it stands in the attribute `log` of an `evm` event. */
export interface Log {
  readonly address?: unknown;
  readonly topics?: unknown;
  readonly data?: unknown;
}

/**
 * Adds what a log moves. A log that is no ERC-20 transfer moves nothing: an ERC-721 transfer
 * has the same first topic, but four topics.
 *
 * @returns what is wrong with it, when it claims to be an ERC-20 transfer and cannot be read.
 */
export function addLog(deltas: Deltas, log: Log | null): string | undefined {
  const topics = log?.topics;
  if (!Array.isArray(topics) || topics.length !== 3) return undefined;
  if (String(topics[0]).toLowerCase() !== `0x${transferTopic}`) return undefined;
  const token = /^0x([0-9a-f]{40})$/.exec(String(log?.address).toLowerCase())?.[1];
  if (token === undefined) return 'its address is none';
  const [from, to] = [addressIn(topics[1]), addressIn(topics[2])];
  if (from === undefined || to === undefined) return 'a topic is no address';
  const word = /^0x([0-9a-f]{64})/i.exec(String(log?.data))?.[1];
  if (word === undefined) return 'its data hold no amount';
  const amount = BigInt(`0x${word}`);
  const accounts = deltas.get(token) ?? new Map<AccountKey, bigint>();
  deltas.set(token, accounts);
  if (from !== nobody) accounts.set(from, (accounts.get(from) ?? 0n) - amount);
  if (to !== nobody) accounts.set(to, (accounts.get(to) ?? 0n) + amount);
  return undefined;
}

/** The address in a topic: 12 zero bytes, then the address. */
const addressIn = (topic: unknown): AccountKey | undefined =>
  /^0x0{24}([0-9a-f]{40})$/.exec(String(topic).toLowerCase())?.[1];
