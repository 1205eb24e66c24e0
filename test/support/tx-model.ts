import type { DecodedBlock, DecodedEvmTx, DecodedFrame, DecodedTx } from '../../services/tx/decode/types.js';
import type { DecodedTrace } from '../../services/tx/store/rows.js';
import { type Random, randomFrom } from './random.js';

/** Accounts of random blocks: short and long ones, one busy. */
export const accounts = [
  ...Array.from({ length: 5 }, (_, index) => `${index + 1}`.padStart(40, '0')),
  ...Array.from({ length: 2 }, (_, index) => `ab${index}`.padEnd(64, 'c')),
];
export const busy = 'b'.repeat(40);
export const stranger = 'd'.repeat(40);
/** Stores, and who owns the ones whose owner can be known. */
export const stores = Array.from({ length: 4 }, (_, index) => `5${index}`.padEnd(64, '5'));
export const storeOwner = new Map(
  stores.slice(0, 3).map((store, index) => [store, `0${index}`.padEnd(40, '7')]),
);
export const msgTypes = ['a.v1.MsgA', 'b.v1.MsgB', 'c.v1.MsgC', 'd.v1.MsgRare'];

/** A block and its call frames, as decoding gives them. */
export interface ModelBlock extends DecodedBlock {
  readonly frames: readonly DecodedFrame[];
}

/** Makes a random chain, block by block. `fork` tells chains apart that share heights. */
export function randomChain(seed: number): {
  next(parent: ModelBlock | undefined): ModelBlock;
} {
  const random = randomFrom(seed);
  let made = 0;
  return {
    next(parent) {
      made += 1;
      const height = (parent?.height ?? 0) + 1;
      const id = `${seed}.${made}`;
      const evm_txs = manyOf(random, 4, (index) => randomEvmTx(random, `${id}.e${index}`));
      return {
        height,
        hash: hashOf(id).toUpperCase(),
        parent_hash: parent?.hash ?? '',
        timestamp: `2026-11-21T09:20:10.${String(made).padStart(9, '0')}Z`,
        txs: manyOf(random, 6, (index) => randomTx(random, `${id}.t${index}`)),
        evm_txs,
        stores: random.oneIn(6)
          ? [{ store: stores[0] as string, owner: storeOwner.get(stores[0] as string) as string }]
          : [],
        problems: [],
        frames: evm_txs.flatMap((tx) => randomFrames(random, tx.hash, height)),
      };
    },
  };
}

/** The traces of a block. */
export const traceOf = ({ height, hash, frames }: ModelBlock): DecodedTrace => ({
  ...{ height, hash, frames },
  length: frames.reduce((sum, { body }) => sum + body.length, 0),
});

/** What a tx names, as decoding gives it. */
export const naming =
  (accounts: ReadonlyMap<string, boolean>, stores: readonly string[] = []): DecodedTx['named'] =>
  () => ({ accounts, stores, is_cut: false });

/** A tx and all accounts that it is listed under. */
export interface ListedTx extends DecodedTx {
  readonly accounts: ReadonlyMap<string, boolean>;
}

/** What lists must hold, oldest first, as bodies. */
export interface ModelLists {
  readonly txs: readonly ListedTx[];
  readonly evm_txs: readonly DecodedEvmTx[];
  readonly frames: readonly DecodedFrame[];
}

/** The lists of a chain, with the frames up to a height. */
export function listsOf(blocks: readonly ModelBlock[], internal_height: number): ModelLists {
  return {
    txs: blocks.flatMap((block) => block.txs.map(withOwners)),
    evm_txs: blocks.flatMap((block) => block.evm_txs),
    frames: blocks.filter(({ height }) => height <= internal_height).flatMap((block) => block.frames),
  };
}

/** The owner of a store counts as named where only the store is. */
function withOwners(tx: DecodedTx): ListedTx {
  const { accounts, stores: named_stores } = tx.named();
  const named = new Map(accounts);
  for (const store of named_stores) {
    const owner = storeOwner.get(store);
    if (owner !== undefined && !named.has(owner)) named.set(owner, false);
  }
  return { ...tx, accounts: named };
}

const hashOf = (id: string): string => Buffer.from(id).toString('hex').padEnd(64, '0').slice(0, 64);

function manyOf<T>(random: Random, below: number, make: (index: number) => T): T[] {
  return Array.from({ length: random.integer(below) }, (_, index) => make(index));
}

function randomAccounts(random: Random): Map<string, boolean> {
  const named = new Map<string, boolean>();
  for (const account of accounts) if (random.oneIn(4)) named.set(account, random.oneIn(3));
  if (!random.oneIn(3)) named.set(busy, random.oneIn(20));
  return named;
}

function randomTx(random: Random, id: string): DecodedTx {
  const msgs = msgTypes.filter((_, index) => random.oneIn(index === 3 ? 15 : 3));
  return {
    hash: hashOf(id),
    body: JSON.stringify({ id, memo: `\t\n\u0000"\\é🧵${'x'.repeat(random.integer(300))}` }),
    msgs: random.oneIn(2) ? msgs.reverse() : msgs,
    named: naming(
      randomAccounts(random),
      stores.filter(() => random.oneIn(6)),
    ),
  };
}

function randomEvmTx(random: Random, id: string): DecodedEvmTx {
  return { hash: hashOf(id), body: JSON.stringify({ id }), accounts: randomAccounts(random) };
}

function randomFrames(random: Random, hash: string, height: number): DecodedFrame[] {
  return Array.from({ length: random.integer(4) }, (_, index) => ({
    hash,
    parent_index: index - 1,
    index,
    body: JSON.stringify({ hash, index, height }),
    accounts: randomAccounts(random),
  }));
}
