import { type Plan, planOf, type World } from './plan.js';

/** The native token's contract on the recorded chain, and who gets the fees, hex without 0x. */
export const native = '042add9e80f7a23ab71d5e1d392af1d3928b7d05';
const feeCollector = 'f1829676db577682e944fc3493d451b67ff3e29f';
/** What the recorded txs that are signed the Cosmos way pay. */
const fee = 1_500_000n;

/** Changes of one balance: heights ascending, and the sum of the changes up to each of them. */
interface History {
  heights: number[];
  sums: bigint[];
}

/** What only the sum of all txs of a generated chain tells. Addresses are hex without 0x. */
export interface Ledger {
  /** how much a balance has changed since before the first block */
  change(token: string, account: string, height: number): bigint;
  /** who owns a token of a collection; undefined before it is minted */
  owner(collection: string, id: bigint, height: number): string | undefined;
}

/** A movement of an ERC-20 token. */
export interface Transfer {
  token: string;
  from: string;
  to: string;
  amount: bigint;
}

/** The ERC-20 transfers of a tx, worked out from its plan; fees included, those of a failed tx too. */
export function transfersOf({ kind, signer, other, contract, value }: Plan): Transfer[] {
  const out: Transfer[] = [];
  if (kind === 'send' || kind === 'send_failed' || kind === 'cosmos_call') {
    out.push({ token: native, from: signer.hex, to: feeCollector, amount: fee });
  }
  if (kind === 'send' || kind === 'native') {
    out.push({ token: native, from: signer.hex, to: other.hex, amount: value });
  }
  if (kind === 'erc20' || kind === 'cosmos_call') {
    out.push({ token: contract.hex, from: signer.hex, to: other.hex, amount: value });
  }
  return out;
}

/** Goes through the plans of the whole chain, about ten microseconds a tx. */
export function makeLedger(world: World): Ledger {
  const balances = new Map<string, History>();
  const owners = new Map<string, { height: number; owner: string }[]>();
  const add = (key: string, height: number, delta: bigint): void => {
    const history = balances.get(key) ?? { heights: [], sums: [] };
    balances.set(key, history);
    const sum = (history.sums.at(-1) ?? 0n) + delta;
    if (history.heights.at(-1) === height) history.sums[history.sums.length - 1] = sum;
    else {
      history.heights.push(height);
      history.sums.push(sum);
    }
  };
  const { blocks, txs_per_block } = world.options;
  for (let index = 0; index < blocks * txs_per_block; index++) {
    const plan = planOf(world, index);
    const height = Math.floor(index / txs_per_block) + 1;
    for (const { token, from, to, amount } of transfersOf(plan)) {
      add(`${token}|${from}`, height, -amount);
      add(`${token}|${to}`, height, amount);
    }
    if (plan.kind !== 'mint' && plan.kind !== 'nft_transfer') continue;
    const key = `${plan.contract.hex}|${plan.value}`;
    owners.set(key, [...(owners.get(key) ?? []), { height, owner: plan.other.hex }]);
  }
  return {
    change(token, account, height) {
      const history = balances.get(`${token}|${account}`);
      const at = history?.heights.findLastIndex((h) => h <= height) ?? -1;
      return history?.sums[at] ?? 0n;
    },
    owner: (collection, id, height) =>
      owners.get(`${collection}|${id}`)?.findLast((o) => o.height <= height)?.owner,
  };
}
