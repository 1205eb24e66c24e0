import { checkFollows } from '../../common/consumer/consume.js';
import { withLittleGarbage } from '../../common/runtime/heap.js';
import { atMost, chunks } from '../../common/util/chunk.js';
import { createSlices } from '../../common/util/concurrency.js';
import { type CompactorOptions, createCompactor } from '../../common/writer/compact.js';
import {
  createTableWriter,
  type StoreEnvironment,
  type TableStore,
} from '../../common/writer/table-writer.js';
import type { DecodedBlock } from '../decode/block.js';
import type { BalanceAnswer, BalanceQuestion } from '../node/erc20.js';
import type { Seed } from '../node/seed.js';
import { clampAmount, type Holding, type HoldingKey, holdingKey, holdingOf } from './balance.js';
import { nothing, type Position } from './cursor.js';
import { changesOfBlocks, type FoldStart, firstQuestions } from './fold.js';
import { type Compared, healsOf } from './heal.js';
import { createHolderCounts } from './holder-counts.js';
import { createKnown } from './known.js';
import { addChange, type Batch, balanceRows, changeRows, countRows, holderRows, startBatch } from './rows.js';
import { factsAbove, headOf, richlistViews, type TableName, tablesOf, type ViewName } from './tables.js';
import { createTokenList } from './token-list.js';

export interface StoreOptions extends StoreEnvironment<Position> {
  /** The state to begin with, for empty tables and the first block's height. */
  readonly openSeed: (first_height: number) => Promise<Seed>;
  /** Told when the state to begin with is written; it counts from the first block on. */
  readonly onSeeded?: (() => void) | undefined;
  /** Balances that no log tells: of holdings of tokens that are older than the index. May fail. */
  readonly askBalances: (questions: readonly BalanceQuestion[]) => Promise<readonly BalanceAnswer[]>;
  /** What the bank module calls tokens, of those that it can tell now. Must not fail. */
  readonly nameTokens: (tokens: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** While tables are rebuilt: what those in use had set right after these blocks. */
  readonly earlierHeals?: ((blocks: readonly DecodedBlock[]) => Promise<EarlierHeals>) | undefined;
  /** Told of a balance that its logs lead below zero or beyond uint256. */
  readonly onMisfit?: ((holding: Holding, height: number) => void) | undefined;
  /** When deleted rows are dropped from views. */
  readonly compaction?: Pick<CompactorOptions<ViewName>, 'batches' | 'fewest'> | undefined;
  /** How many balances to keep in memory. */
  readonly knownCapacity?: number | undefined;
  /** Rows of a view that one statement writes at most. Default: 100,000. */
  readonly viewRows?: number | undefined;
}

/** What earlier tables had set right after blocks. */
export interface EarlierHeals {
  readonly heals: FoldStart['heals'];
  /** How many of the blocks that is for, from the first on: there may be too many corrections for one batch. */
  readonly count: number;
}

/** The tables as their one writer sees them. */
export interface RichlistStore extends TableStore<Position> {
  /** Recovers, if a write has failed and nobody has done so yet: a heal has no stream behind it. */
  mend(): Promise<void>;
  /** Writes the blocks right after the position, on empty tables the seed first. */
  writeBlocks(blocks: readonly DecodedBlock[]): Promise<void>;
  /** Those of the node's answers that differ from the balances here; nothing is written. */
  differing(compared: readonly Compared[], revision: number): Promise<Compared[]>;
  /**
   * Sets balances right that differ from the node's.
   *
   * @param revision that of the store when the node was asked: after a rollback nothing is healed.
   * @returns what was healed.
   */
  heal(compared: readonly Compared[], revision: number): Promise<Holding[]>;
  /** Keeps the denoms of tokens that are in the list. */
  name(denoms: ReadonlyMap<string, string>): Promise<void>;
  /** Remembers up to which change balances were compared. */
  check(ord: number, revision: number): Promise<void>;
  /** Remembers when every holder of the tokens that drift was compared, in milliseconds since the epoch. */
  noteDrifting(compared_at: number): Promise<void>;
}

/** Changes and blocks that are written at once; the cursor rows must fit into one insert. */
const [changesAtOnce, blocksAtOnce] = [20_000, 1_000];

/** How many changes a block makes. */
const countChanges = ({ deltas }: DecodedBlock): number =>
  [...deltas.values()].reduce((sum, accounts) => sum + accounts.size, 0);

/** Memory for 300,000 balances is about 90 MB. */
const [defaultCapacity, defaultViewRows] = [300_000, 100_000];

/** Opens the tables for writing; they must have been migrated. */
export function createRichlistStore(options: StoreOptions): RichlistStore {
  const { database, log } = options;
  const tables = tablesOf(options.target);
  const fault = options.fault ?? (() => {});
  const known = createKnown(database, tables, options.knownCapacity ?? defaultCapacity);
  const counts = createHolderCounts(database, tables);
  const compact = createCompactor({
    ...{ database, tables, log, views: ['holder_list'], name: 'richlist' },
    ...options.compaction,
  });
  const tokenList = createTokenList(database, tables, options.nameTokens);
  const writer = createTableWriter<Position, TableName>({
    ...{ database, tables, fault, log, onRebuild: options.onRebuild },
    viewRows: options.viewRows ?? defaultViewRows,
    ...{ head: headOf(tables), views: [richlistViews], above: factsAbove, shown: options.head, nothing },
    what: 'the holders of the rich list are',
    forget: () => tokenList.reset(),
    async load() {
      counts.reset();
      await known.reset();
    },
    // Below the state that was begun with there is nothing.
    lowestFor: (to, height) => (Math.min(to.height, height) < to.seed_height ? nothing : to),
  });
  const { store, exclusive, insert } = writer;
  const onMisfit = options.onMisfit ?? (() => {});
  const writing = (work: () => Promise<void>) => exclusive(() => writer.writing(work));

  /** Writes the views of a batch. */
  const writeViews = async (batch: Batch): Promise<void> => {
    const version = database.nextVersion();
    const changed = await counts.after(batch);
    await writer.writeViews([
      ['account_balances', balanceRows(batch, version)],
      ['holder_list', holderRows(batch, version)],
      ['holder_counts', countRows(changed, version)],
    ]);
    counts.put(changed);
  };

  /** Writes the changes of a batch and what follows from them; the cursor is the caller's. */
  const writeBatch = async (
    batch: Batch,
    about: (token: string) => { readonly complete: boolean; readonly denom?: string | undefined },
  ): Promise<void> => {
    await insert('changes', changeRows(batch));
    const touched = new Map(
      [...batch.tokens].map(([token, { height, ord }]) => [token, { height, ord, ...about(token) }]),
    );
    const { tokens, denoms } = await tokenList.rowsOf(touched);
    await insert('denoms', denoms);
    await insert('tokens', tokens);
    await writeViews(batch);
    const turn = createSlices();
    tokenList.put(touched);
    for (const [key, { balance }] of batch.ends) {
      await turn();
      known.put(key, balance);
    }
  };

  const writeCursor = async (
    next: Position,
    hashes: readonly { height: number; hash: string; last_ord: number }[],
  ) => {
    await insert(
      'blocks',
      hashes.map((row) => JSON.stringify({ ...row, seed_height: next.seed_height })),
    );
    await writer.advance(next);
    await fault('written');
    options.head.advance(next);
    await compact();
  };

  /** Writes the state to begin with, without a cursor: that comes with the first block. */
  const writeSeed = async (first_height: number): Promise<Position> => {
    const seed = await options.openSeed(first_height);
    let last_ord = 0;
    // An account without an entry in the auth module is not in the seed, except in genesis.
    const complete = seed.height === 1;
    for await (const balances of seed.balances())
      for (const some of chunks(balances, atMost(changesAtOnce))) {
        const batch = startBatch(last_ord);
        for (const { token, account, amount } of some)
          addChange(batch, { token, account }, undefined, seed.height, amount, 'seed');
        const denoms = new Map(some.map(({ token, denom }) => [token, denom]));
        await writeBatch(batch, (token) => ({ complete, denom: denoms.get(token) }));
        last_ord = batch.last_ord;
      }
    options.onSeeded?.();
    return { ...nothing, last_ord, seed_height: seed.height };
  };

  /** Writes as many of the blocks, from the first on, as go into one batch. @returns how many. */
  const writeSomeBlocks = async (left: readonly DecodedBlock[], from: Position): Promise<number> => {
    const all: EarlierHeals = { heals: new Map(), count: left.length };
    const { heals, count } = (await options.earlierHeals?.(left)) ?? all;
    const blocks = left.slice(0, count);
    // One block may touch so many holdings that a single pass over them takes a good part of a second.
    const turn = createSlices();
    const keys = new Set<HoldingKey>();
    const complete = new Map<string, boolean>();
    for (const { deltas, created } of blocks)
      for (const [token, accounts] of deltas) {
        complete.set(token, from.seed_height === 1 || created.has(token) || complete.get(token) === true);
        for (const account of accounts.keys()) keys.add(holdingKey(token, account));
      }
    for (const { token, account } of [...heals.values()].flat()) keys.add(holdingKey(token, account));
    await turn();
    const current = await known.get(keys);
    await turn();
    for (const [token, isComplete] of await tokenList.get(new Set(complete.keys())))
      complete.set(token, isComplete);
    const questions = firstQuestions(
      blocks,
      from.seed_height,
      (key, isSeeded) => current.has(key) || (!isSeeded && complete.get(holdingOf(key).token) === true),
    );
    await turn();
    const bases = questions.length === 0 ? [] : await options.askBalances(questions);
    const first = new Map(
      questions.map(({ token, account, height }, index) => [
        holdingKey(token, account),
        { height, answer: bases[index] },
      ]),
    );
    const batch = startBatch(from.last_ord);
    const start = { current, first, heals, seed_height: from.seed_height, onMisfit };
    const cursors = await changesOfBlocks(batch, blocks, start, turn);
    const end = blocks.at(-1) as DecodedBlock;
    if (batch.changes.length > 0)
      await writeBatch(batch, (token) => ({ complete: complete.get(token) === true }));
    await writeCursor({ ...from, height: end.height, hash: end.hash, last_ord: batch.last_ord }, cursors);
    return count;
  };

  /** What has to be set right, by the node's answers. */
  const compare = async (compared: readonly Compared[]) => {
    const keys = new Set(compared.map(({ token, account }) => holdingKey(token, account)));
    return healsOf(database, tables, compared, await known.get(keys), store.position);
  };

  return Object.assign(store, {
    // Looked at in its turn: a write that is under way has not failed.
    mend: () => exclusive(writer.mend),
    writeBlocks: (blocks: readonly DecodedBlock[]) =>
      writing(async () => {
        const changes = { most: changesAtOnce, of: countChanges };
        for (const some of chunks(blocks, atMost(blocksAtOnce), changes)) {
          checkFollows(store.position, some);
          for (let left = some; left.length > 0; ) {
            const first = left[0] as DecodedBlock;
            const isEmpty = store.position.height === 0;
            const write = async () =>
              writeSomeBlocks(left, isEmpty ? await writeSeed(first.height) : store.position);
            // A block is never cut, and the state to begin with has millions of balances.
            const isLarge = isEmpty || countChanges(first) > changesAtOnce;
            left = left.slice(await (isLarge ? withLittleGarbage(write) : write()));
          }
        }
      }),
    differing: (compared: readonly Compared[], asked_at: number) =>
      exclusive(async () => {
        if (!writer.isClean || asked_at !== store.revision) return [];
        const heals = await compare(compared);
        const keys = new Set(heals.map(({ token, account }) => holdingKey(token, account)));
        return compared.filter(({ token, account }) => keys.has(holdingKey(token, account)));
      }),
    async heal(compared: readonly Compared[], asked_at: number) {
      let healed: Holding[] = [];
      await writing(async () => {
        const { position, revision } = store;
        if (asked_at !== revision || compared.length === 0) return;
        const heals = await compare(compared);
        if (heals.length === 0) return;
        const batch = startBatch(position.last_ord);
        for (const { token, account, amount, before } of heals) {
          addChange(batch, { token, account }, before, position.height, clampAmount(amount).amount, 'heal');
        }
        await writeBatch(batch, () => ({ complete: position.seed_height === 1 }));
        const { height, hash } = position;
        const cursor = { height, hash, last_ord: batch.last_ord };
        await writeCursor({ ...position, last_ord: batch.last_ord }, [cursor]);
        healed = heals.map(({ token, account }) => ({ token, account }));
      });
      return healed;
    },
    name: (denoms: ReadonlyMap<string, string>) =>
      writing(async () => {
        const lines = await tokenList.denomRows(denoms);
        await insert('denoms', lines);
        await database.confirm();
        if (lines.length > 0) options.head.advance(store.position);
      }),
    check: (ord: number, asked_at: number) =>
      writing(async () => {
        if (asked_at === store.revision) await insert('checks', [JSON.stringify({ ord })]);
      }),
    noteDrifting: (compared_at: number) =>
      writing(() => insert('drifting', [JSON.stringify({ compared_at })])),
  });
}
