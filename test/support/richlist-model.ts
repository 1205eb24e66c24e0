import type { DecodedBlock } from '../../services/richlist/decode/block.js';
import { addLog, type Deltas, transferTopic } from '../../services/richlist/decode/transfers.js';
import type { BalanceQuestion } from '../../services/richlist/node/erc20.js';
import { largestAmount } from '../../services/richlist/store/balance.js';
import { type Random, randomFrom } from './random.js';

/** Balances by token and account; what is missing is 0. */
export type Ledger = Map<string, bigint>;

/** A block of a made-up chain: what its logs say, and what the node says after it. */
export interface ModelBlock extends DecodedBlock {
  /** The node's own balances after the block. */
  readonly truth: Ledger;
}

export const modelTokens = ['a', 'b', 'c', 'd'].map((letter) => letter.repeat(40));

/** Tokens that show up now and then. */
export const rareTokens = Array.from({ length: 12 }, (_, n) => `e${n.toString(16)}`.repeat(20));
export const modelAccounts = Array.from({ length: 14 }, (_, n) => (n + 1).toString(16).padStart(40, '0'));
const nobody = '0'.repeat(40);

export const ledgerKey = (token: string, account: string): string => token + account;

const word = (hex: string): string => `0x${hex.padStart(64, '0')}`;

/** A chain of transfers, mints, burns and, of the last two tokens, changes that no log tells. */
export function modelChain(seed: number, genesis: Ledger) {
  const random = randomFrom(seed);
  return {
    random,
    /** The block after another; undefined for the first. */
    next: (before: ModelBlock | undefined, fork = 'x'): ModelBlock =>
      nextBlock(random, before, genesis, fork),
  };
}

/** The first blocks of a model chain, or so many more after others. */
export function modelBlocks(seed: number, count: number, before: readonly ModelBlock[] = []): ModelBlock[] {
  const chain = modelChain(seed, modelGenesis());
  const blocks = [...before];
  while (blocks.length < before.length + count) blocks.push(chain.next(blocks.at(-1)));
  return blocks;
}

/** What the logs lead to from the state after a block. */
export function summed(blocks: readonly ModelBlock[], seed_height = 1): Ledger {
  const index: ModelIndex = { at: new Map(), height: 0 };
  for (const block of blocks.slice(seed_height - 1)) followBlock(index, block, seed_height);
  return index.at.get(blocks.length) as Ledger;
}

/** Balances before the first block of a model chain. */
export function modelGenesis(): Ledger {
  const ledger: Ledger = new Map();
  for (const token of modelTokens.slice(0, 2))
    for (const account of modelAccounts.slice(0, 5)) ledger.set(ledgerKey(token, account), 1_000n);
  return ledger;
}

function nextBlock(
  random: Random,
  before: ModelBlock | undefined,
  genesis: Ledger,
  fork: string,
): ModelBlock {
  const height = (before?.height ?? 0) + 1;
  const truth = new Map(before?.truth ?? genesis);
  const deltas: Deltas = new Map();
  const created = new Set<string>();
  const add = (token: string, account: string, amount: bigint): void => {
    const key = ledgerKey(token, account);
    if (account !== nobody) truth.set(key, (truth.get(key) ?? 0n) + amount);
  };
  for (let logs = random.integer(7); logs > 0; logs--) {
    const token = random.pick(random.oneIn(4) ? rareTokens : modelTokens);
    const drifts = modelTokens.indexOf(token) >= 2;
    const from = random.oneIn(4) ? nobody : random.pick(modelAccounts);
    const to = random.oneIn(6) ? nobody : random.pick(modelAccounts);
    const has =
      from === nobody
        ? random.oneIn(20)
          ? largestAmount / 64n
          : 50n
        : (truth.get(ledgerKey(token, from)) ?? 0n);
    // Whole balances and equal amounts are as common as any other.
    const amount = random.oneIn(3) ? has : (has * BigInt(random.integer(11))) / 10n;
    add(token, from, -amount);
    add(token, to, drifts && random.oneIn(2) ? (amount * 9n) / 10n : amount);
    addLog(deltas, {
      address: `0x${token}`,
      topics: [`0x${transferTopic}`, word(from), word(to)],
      data: word(amount.toString(16)),
    });
  }
  if (random.oneIn(4)) add(modelTokens[3] as string, random.pick(modelAccounts), BigInt(random.integer(100)));
  return {
    height,
    hash: `${fork}${height}/${random.integer(1_000_000)}`.toUpperCase(),
    parent_hash: before?.hash ?? '',
    deltas,
    created,
    problems: [],
    truth,
  };
}

/** What an index must say: the balances after each height, as far as it has come. */
export interface ModelIndex {
  readonly at: Map<number, Ledger>;
  height: number;
}

const clamp = (amount: bigint): bigint =>
  amount < 0n ? 0n : amount > largestAmount ? largestAmount : amount;

/** Follows a block: the first one's state is the node's, later ones are the sum of logs. */
export function followBlock(index: ModelIndex, block: ModelBlock, seed_height = 1): void {
  const before = index.at.get(block.height - 1);
  const now: Ledger = new Map(block.height === seed_height ? block.truth : before);
  if (block.height > seed_height)
    for (const [token, accounts] of block.deltas)
      for (const [account, delta] of accounts) {
        const key = ledgerKey(token, account);
        now.set(key, clamp((now.get(key) ?? 0n) + delta));
      }
  index.at.set(block.height, now);
  index.height = block.height;
}

/** Sets a balance right by the node's answer for a height, as the index must. */
export function followHeal(index: ModelIndex, question: BalanceQuestion, amount: bigint): void {
  const key = ledgerKey(question.token, question.account);
  const now = index.at.get(index.height) as Ledger;
  const then = index.at.get(question.height)?.get(key) ?? 0n;
  now.set(key, clamp((now.get(key) ?? 0n) + amount - then));
}

/** Goes back to a height. */
export function followUnwind(index: ModelIndex, height: number): void {
  for (const later of [...index.at.keys()]) if (later > height) index.at.delete(later);
  index.height = height;
}

/** Holders of a token in the order of the list. */
export function holdersOf(ledger: Ledger, token: string): { account: string; amount: string }[] {
  return [...ledger]
    .filter(([key, amount]) => key.startsWith(token) && amount > 0n)
    .map(([key, amount]) => ({ account: `0x${key.slice(40)}`, amount }))
    .sort((a, b) => (a.amount !== b.amount ? (a.amount > b.amount ? -1 : 1) : a.account < b.account ? -1 : 1))
    .map(({ account, amount }) => ({ account, amount: String(amount) }));
}
