import type { Fraction } from './scoring-model.js';

/*
 * What rules measure, worked out on paper: from what a node said, without any code of the
 * services, instant by instant where the policy measures over time.
 */

/** A tx as a node has it. */
export interface TrueTx {
  readonly height: number;
  readonly code: number;
  readonly gas_used: number;
  readonly msgs: readonly string[];
  /** 0x hex, lower case. */
  readonly signers: readonly string[];
  /** The tx's messages as the REST API has them. */
  readonly messages: readonly Readonly<Record<string, unknown>>[];
}

/** A log of a receipt, with the block that it is in. */
export interface TrueLog {
  readonly height: number;
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const zero = `0x${'0'.repeat(40)}`;
const wordToAddress = (word: string | undefined): string => `0x${(word ?? '').slice(26).toLowerCase()}`;

/** Adds up by key. */
export function sumBy<T>(
  items: readonly T[],
  entries: (item: T) => readonly (readonly [string, bigint])[],
): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const item of items)
    for (const [key, value] of entries(item)) sums.set(key, (sums.get(key) ?? 0n) + value);
  return sums;
}

/** Transfers of an ERC-20 (3 topics), or of an ERC-721 (4 topics, amount 1), in order. */
export function transfersOf(logs: readonly TrueLog[], contract: string, topics: 3 | 4) {
  return logs
    .filter(
      (log) =>
        log.address.toLowerCase() === contract.toLowerCase() &&
        log.topics[0] === transferTopic &&
        log.topics.length === topics,
    )
    .map((log) => ({
      height: log.height,
      from: wordToAddress(log.topics[1]),
      to: wordToAddress(log.topics[2]),
      amount: topics === 4 ? 1n : BigInt(log.data),
    }));
}

type Transfers = ReturnType<typeof transfersOf>;

/** Balances after a block, zero balances and the zero address left out. */
export function balancesAt(transfers: Transfers, height: number): Map<string, bigint> {
  const until = transfers.filter((transfer) => transfer.height <= height);
  const sums = sumBy(until, ({ from, to, amount }) => [
    [from, -amount],
    [to, amount],
  ]);
  sums.delete(zero);
  return new Map([...sums].filter(([, amount]) => amount > 0n));
}

/** What balances change by in every block of a window, added up. */
export function volumesIn(
  transfers: Transfers,
  from_height: number,
  to_height: number,
  direction: 'sent' | 'received' | 'both',
): Map<string, bigint> {
  const volumes = new Map<string, bigint>();
  for (let height = from_height; height <= to_height; height++) {
    const before = balancesAt(transfers, height - 1);
    const after = balancesAt(transfers, height);
    for (const account of new Set([...before.keys(), ...after.keys()])) {
      const change = (after.get(account) ?? 0n) - (before.get(account) ?? 0n);
      const counts = change > 0n ? direction !== 'sent' : direction !== 'received';
      if (change !== 0n && counts)
        volumes.set(account, (volumes.get(account) ?? 0n) + (change > 0n ? change : -change));
    }
  }
  return volumes;
}

/** Averages over a stage: between two blocks everybody holds what the first one left. */
export function averagesIn(
  transfers: Transfers,
  times: ReadonlyMap<number, bigint>,
  start: bigint,
  end: bigint,
): Map<string, Fraction> {
  const heights = [...times.keys()].sort((a, b) => a - b);
  const sums = new Map<string, bigint>();
  for (const [index, height] of heights.entries()) {
    const clip = (time: bigint): bigint => (time < start ? start : time > end ? end : time);
    const since = clip(times.get(height) as bigint);
    const until = clip(times.get(heights[index + 1] ?? -1) ?? end);
    if (until <= since) continue;
    for (const [account, amount] of balancesAt(transfers, height))
      sums.set(account, (sums.get(account) ?? 0n) + amount * (until - since));
  }
  return new Map([...sums].map(([account, sum]) => [account, [sum, end - start]]));
}

/** Calls of contracts by message, those within authorised executions included. */
export function callsIn(messages: readonly Readonly<Record<string, unknown>>[]): Record<string, string>[] {
  return messages.flatMap((message) => {
    if (message['@type'] === '/cosmos.authz.v1beta1.MsgExec')
      return callsIn((message['msgs'] ?? []) as Record<string, unknown>[]);
    return message['@type'] === '/minievm.evm.v1.MsgCall' ? [message as Record<string, string>] : [];
  });
}
