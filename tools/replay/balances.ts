import { accountHex } from './meaning.js';
import type { BlockBodies, CallResult, StateAnswer } from './types.js';

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const balanceOf = '0x70a08231';

interface Change {
  height: number;
  delta: bigint;
}

/** Balances at any height, worked back from a recorded later one. */
export interface BalanceHistory {
  /** `balanceOf` at a height; undefined when the call is none, or there is nothing to work from */
  call(
    key: string,
    at: { height: number; value: CallResult } | undefined,
    height: number,
  ): CallResult | undefined;
  /**
   * Body of a bank balances answer moved from its recorded height to `height`; `contracts` names the ERC-20 of
   * each bank denom. Undefined when the path is another one.
   */
  bank(
    path: string,
    at: { height: number; value: StateAnswer },
    height: number,
    contracts: Map<string, string>,
  ): string | undefined;
}

/**
 * Reads the ERC-20 Transfer logs out of the `evm` events of every tx, failed ones too: the fee of a failed tx
 * moves tokens, and shows in events only, not in any receipt. A balance at a height is then a recorded balance
 * plus the changes between the two heights. True for tokens whose logs tell the truth.
 */
export function balanceHistory(blocks: BlockBodies[]): BalanceHistory {
  const changes = new Map<string, Change[]>();
  const tokens = new Set<string>();
  for (const b of blocks) {
    if (!b.results.includes(transferTopic)) continue;
    for (const log of transferLogs(b.results)) {
      const [, from, to] = log.topics as [string, string, string];
      const delta = BigInt(log.data);
      tokens.add(log.address);
      push(changes, `${log.address}|${from.slice(26)}`, { height: b.height, delta: -delta });
      push(changes, `${log.address}|${to.slice(26)}`, { height: b.height, delta });
    }
  }
  const between = (token: string, account: string, from: number, to: number): bigint => {
    let sum = 0n;
    for (const c of changes.get(`${token}|${account}`) ?? []) {
      if (c.height > from && c.height <= to) sum += c.delta;
      if (c.height > to && c.height <= from) sum -= c.delta;
    }
    return sum;
  };

  return {
    call(key, at, height) {
      const [token = '', input = ''] = key.split('|');
      if (!input.startsWith(balanceOf) || input.length !== 74 || !tokens.has(token)) return undefined;
      const account = input.slice(34);
      if (/^0+$/.test(account)) return undefined;
      if (at?.value.error) return undefined;
      // an account nobody asked about while recording: taken as having had nothing before the first block
      const known = at ? BigInt(at.value.response) : 0n;
      const amount = known + between(token, account, at?.height ?? 0, height);
      const response = `0x${(amount < 0n ? 0n : amount).toString(16).padStart(64, '0')}`;
      return { response, error: '', usedGas: at?.value.usedGas ?? '0' };
    },
    bank(path, at, height, contracts) {
      if (!path.startsWith('/cosmos/bank/v1beta1/balances/') || tokens.size === 0) return undefined;
      if (at.value.status !== 200 || at.height === height) return undefined;
      const account = accountHex(path.split('/')[5] ?? '');
      const body = JSON.parse(at.value.body) as { balances?: { denom: string; amount: string }[] };
      if (!body.balances || !account) return undefined;
      const held = new Map(body.balances.map((b) => [b.denom, BigInt(b.amount)]));
      for (const [denom, token] of contracts) {
        held.set(denom, (held.get(denom) ?? 0n) + between(token, account, at.height, height));
      }
      const balances = [...held]
        .filter(([, amount]) => amount > 0n)
        .map(([denom, amount]) => ({ denom, amount: String(amount) }));
      return JSON.stringify({ ...body, balances });
    },
  };
}

interface Log {
  address: string;
  topics: string[];
  data: string;
}

function transferLogs(results: string): Log[] {
  const parsed = JSON.parse(results) as {
    txs_results: { events: { type: string; attributes: { key: string; value: string }[] }[] }[] | null;
  };
  const logs: Log[] = [];
  for (const tx of parsed.txs_results ?? []) {
    for (const event of tx.events.filter((e) => e.type === 'evm')) {
      for (const attribute of event.attributes.filter((a) => a.key === 'log')) {
        const log = JSON.parse(attribute.value) as Log;
        if (log.topics?.length !== 3 || log.topics[0] !== transferTopic) continue;
        logs.push({ ...log, address: log.address.toLowerCase() });
      }
    }
  }
  return logs;
}

function push(map: Map<string, Change[]>, key: string, change: Change): void {
  const list = map.get(key);
  if (list) list.push(change);
  else map.set(key, [change]);
}
