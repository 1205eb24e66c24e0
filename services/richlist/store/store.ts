import { claimChain } from '../../common/claim.js';
import type { Target } from '../../common/clickhouse/migrate.js';
import { splitLines } from '../../common/clickhouse/parts.js';
import type { Cursor } from '../../common/consume.js';
import type { FaultPoint } from '../../common/fault.js';
import type { Log } from '../../common/log.js';
import { createMutex } from '../../common/mutex.js';
import { type CompactorOptions, createCompactor } from '../../common/writer/compact.js';
import type { FencedDatabase } from '../../common/writer/fence.js';
import { headBefore } from '../../common/writer/head-before.js';
import { createWriterHead } from '../../common/writer/repair.js';
import type { ComparedPart } from '../../common/writer/views.js';
import { clampAmount } from '../amount.js';
import type { DecodedBlock } from '../decode/block.js';
import type { BalanceAnswer, BalanceQuestion } from '../node/erc20.js';
import type { Seed } from '../node/seed.js';
import { type Holding, type HoldingKey, holdingKey, holdingOf } from './balance.js';
import { checkFollows, splitBlocks } from './batches.js';
import { nothing, type Position, readHashes, readPosition } from './cursor.js';
import { changesOfBlocks, type FoldStart, firstQuestions } from './fold.js';
import { type Compared, healsOf } from './heal.js';
import { createHolderCounts } from './holder-counts.js';
import { createKnown } from './known.js';
import { addChange, type Batch, balanceRows, countRows, holderRows, startBatch } from './rows.js';
import { type FactName, headOf, tablesOf, type ViewName } from './tables.js';
import { createTokenList } from './token-list.js';
import { factsAbove, richlistViews } from './views.js';

export interface StoreOptions {
  readonly database: FencedDatabase;
  readonly target: Target;
  readonly log: Log;
  /** The state to begin with, for empty tables and the first block's height. */
  readonly openSeed: (first_height: number) => Promise<Seed>;
  /** Told when the state to begin with is written; it counts from the first block on. */
  readonly onSeeded?: (() => void) | undefined;
  /** Balances that no log tells: of holdings of tokens that are older than the index. May fail. */
  readonly askBalances: (questions: readonly BalanceQuestion[]) => Promise<readonly BalanceAnswer[]>;
  /** What the bank module calls tokens, of those that it can tell now. Must not fail. */
  readonly nameTokens: (tokens: readonly string[]) => Promise<ReadonlyMap<string, string>>;
  /** While tables are rebuilt: what those in use had set right after these blocks, by height. */
  readonly earlierHeals?: ((blocks: readonly DecodedBlock[]) => Promise<FoldStart['heals']>) | undefined;
  /** Called between any two writes. */
  readonly fault?: FaultPoint | undefined;
  /** Told when more is whole. */
  readonly onWritten?: ((position: Position) => void) | undefined;
  /** Told where the tables are found, after a start or a failure. */
  readonly onRecovered?: ((position: Position) => void) | undefined;
  /** Told before anything above a position is removed. */
  readonly onUnwind?: ((position: Position) => void) | undefined;
  /** Told how far it is while all views are made from facts; '' once they are there. */
  readonly onRebuild?: ((progress: string) => void) | undefined;
  /** Told how many repairs have begun and ended. */
  readonly onRepairs?: ((count: number) => void) | undefined;
  /** Told of a balance that its logs lead below zero or beyond uint256. */
  readonly onMisfit?: ((holding: Holding, height: number) => void) | undefined;
  /** When deleted rows are dropped from views. */
  readonly compaction?: Pick<CompactorOptions<ViewName>, 'batches' | 'fewest'> | undefined;
  /** How many balances to keep in memory. */
  readonly knownCapacity?: number | undefined;
}

/**
 * The tables as their one writer sees them. Every method that writes leaves them, whatever it
 * is interrupted by, in a state that `recover` turns into one that an undisturbed run could
 * have left.
 */
export interface RichlistStore {
  /** Ties the tables to a chain. @throws UserError when they hold another one. */
  claim(chain_id: string, vm_type: string): Promise<void>;
  /** Removes what a crash left above the cursor, and says where it is. */
  recover(): Promise<Position>;
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
  /** Removes everything above a height; all when that is below the state that was begun with. */
  unwind(height: number): Promise<void>;
  /** Runs something while nothing is written. */
  hold<T>(work: () => Promise<T>): Promise<T>;
  /** See `WriterHead`. */
  compareViews(): AsyncGenerator<ComparedPart, void, undefined>;
  /** The blocks between two heights, inclusive, ascending. */
  hashes(from: number, to: number): Promise<Cursor[]>;
  readonly position: Position;
  /** Changes with every repair of the tables. */
  readonly revision: number;
}

/** One insert's text, and the rows that it holds at most. */
const [charactersAtOnce, linesAtOnce] = [3 * 1024 * 1024, 50_000];

/** Rows of a view that one statement writes. */
const viewRows = 100_000;

/** Memory for 300,000 balances is about 90 MB. */
const defaultCapacity = 300_000;

/** Opens the tables for writing; they must have been migrated. */
export function createRichlistStore(options: StoreOptions): RichlistStore {
  const { database, log } = options;
  const tables = tablesOf(options.target);
  const fault = options.fault ?? (() => {});
  const exclusive = createMutex();
  const known = createKnown(database, tables, options.knownCapacity ?? defaultCapacity);
  const counts = createHolderCounts(database, tables);
  const compactor = createCompactor({
    ...{ database, tables, log, views: ['holder_list'], name: 'richlist' },
    ...options.compaction,
  });
  const tokenList = createTokenList(database, tables, options.nameTokens);
  let position: Position = nothing;
  let revision = 0;
  // After a failure nobody knows what is in the tables, until `recover` has looked.
  let isClean = false;
  let hasFailed = false;

  const head = createWriterHead({
    ...{ database, tables, fault, log, onRebuild: options.onRebuild, onRepairs: options.onRepairs },
    head: headOf(tables),
    views: [richlistViews],
    above: factsAbove,
    viewRows,
  });

  const insert = async (name: FactName | 'drifting', lines: readonly string[]): Promise<void> => {
    for (const part of splitLines(lines, charactersAtOnce, linesAtOnce)) {
      await fault(`write ${name}`);
      await database.insert(tables.of(name), part.join('\n'), {
        name: `richlist.write_${name}`,
        priority: 'write',
      });
    }
  };

  /** Writes the views of a batch. */
  const writeViews = async (batch: Batch): Promise<void> => {
    const version = database.nextVersion();
    const changed = await counts.after(batch);
    await head.writeViews([
      ['account_balances', balanceRows(batch, version)],
      ['holder_list', holderRows(batch, version)],
      ['holder_counts', countRows(changed, version)],
    ]);
    counts.put(changed);
  };

  /** Runs a write; whatever stops it, nothing is written again before `recover`. */
  const writing = (work: () => Promise<void>): Promise<void> =>
    exclusive(async () => {
      if (!isClean) throw new Error('the tables must be recovered before they are written again');
      isClean = false;
      hasFailed = true;
      await work();
      isClean = true;
      hasFailed = false;
    });

  /** Writes the changes of a batch and what follows from them; the cursor is the caller's. */
  const writeBatch = async (
    batch: Batch,
    about: (token: string) => { readonly complete: boolean; readonly denom?: string | undefined },
  ): Promise<void> => {
    await insert('changes', batch.changes);
    const touched = new Map(
      [...batch.tokens].map(([token, { height, ord }]) => [token, { height, ord, ...about(token) }]),
    );
    const { tokens, denoms } = await tokenList.rowsOf(touched);
    await insert('denoms', denoms);
    await insert('tokens', tokens);
    await writeViews(batch);
    tokenList.put(touched);
    for (const [key, { balance }] of batch.ends) known.put(key, balance);
  };

  const writeCursor = async (
    next: Position,
    hashes: readonly { height: number; hash: string; last_ord: number }[],
  ) => {
    await insert(
      'blocks',
      hashes.map((row) => JSON.stringify({ ...row, seed_height: next.seed_height })),
    );
    await head.advance(next);
    await fault('written');
    position = next;
    options.onWritten?.(position);
    await compactor.afterBatch();
  };

  /** Writes the state to begin with, without a cursor: that comes with the first block. */
  const writeSeed = async (first_height: number): Promise<Position> => {
    const seed = await options.openSeed(first_height);
    let last_ord = 0;
    for await (const balances of seed.balances()) {
      if (balances.length === 0) continue;
      const batch = startBatch(last_ord);
      for (const { token, account, amount } of balances)
        addChange(batch, { token, account }, undefined, seed.height, amount, 'seed');
      const denoms = new Map(balances.map(({ token, denom }) => [token, denom]));
      // An account without an entry in the auth module is not in the seed, except in genesis.
      const complete = seed.height === 1;
      await writeBatch(batch, (token) => ({ complete, denom: denoms.get(token) }));
      last_ord = batch.last_ord;
    }
    options.onSeeded?.();
    return { ...nothing, last_ord, seed_height: seed.height };
  };

  const writeSomeBlocks = async (blocks: readonly DecodedBlock[], from: Position): Promise<void> => {
    const keys = new Set<HoldingKey>();
    const complete = new Map<string, boolean>();
    for (const { deltas, created } of blocks)
      for (const [token, accounts] of deltas) {
        complete.set(token, from.seed_height === 1 || created.has(token) || complete.get(token) === true);
        for (const account of accounts.keys()) keys.add(holdingKey(token, account));
      }
    const heals = (await options.earlierHeals?.(blocks)) ?? new Map();
    for (const { token, account } of [...heals.values()].flat()) keys.add(holdingKey(token, account));
    const current = await known.get(keys);
    for (const [token, isComplete] of await tokenList.get(new Set(complete.keys())))
      complete.set(token, isComplete);
    const questions = firstQuestions(
      blocks,
      from.seed_height,
      (key, isSeeded) => current.has(key) || (!isSeeded && complete.get(holdingOf(key).token) === true),
    );
    const bases = questions.length === 0 ? [] : await options.askBalances(questions);
    const first = new Map(
      questions.map(({ token, account, height }, index) => [
        holdingKey(token, account),
        { height, answer: bases[index] },
      ]),
    );
    const batch = startBatch(from.last_ord);
    const cursors = changesOfBlocks(batch, blocks, {
      current,
      first,
      heals,
      seed_height: from.seed_height,
      onMisfit: options.onMisfit ?? (() => {}),
    });
    const end = blocks.at(-1) as DecodedBlock;
    if (batch.changes.length > 0)
      await writeBatch(batch, (token) => ({ complete: complete.get(token) === true }));
    await writeCursor({ ...from, height: end.height, hash: end.hash, last_ord: batch.last_ord }, cursors);
  };

  /** What has to be set right, by the node's answers. */
  const compare = async (compared: readonly Compared[]) => {
    const keys = new Set(compared.map(({ token, account }) => holdingKey(token, account)));
    return healsOf(database, tables, compared, await known.get(keys), position);
  };

  /** Where the tables are, after whatever happened to them. */
  const findHead = async (): Promise<Position> => {
    const positionAt = (height: number) => readPosition(database, tables, height, { priority: 'write' });
    const first = () => headBefore(database, tables.of('cuts'), 'richlist', positionAt);
    return (await head.find(first)).position;
  };

  /** Makes the tables what they are at a position, and forgets what memory knows of them. */
  const repair = async (to: Position, onLowered?: () => void): Promise<number> => {
    isClean = false;
    revision += 1;
    tokenList.reset();
    const removed = await head.repair(to, onLowered);
    counts.reset();
    await known.reset();
    await fault('removed');
    position = to;
    // Who has begun to compare meanwhile has seen tables that were half repaired.
    revision += 1;
    isClean = true;
    hasFailed = false;
    return removed;
  };

  const recover = async (): Promise<Position> => {
    const found = await findHead();
    const removed = await repair(found);
    options.onRecovered?.(found);
    if (removed > 0) log.warn({ rows: removed, height: found.height }, 'removed what a crash had left');
    return found;
  };

  return {
    claim: (chain_id, vm_type) =>
      exclusive(() =>
        claimChain(
          {
            database,
            table: tables.of('chain'),
            what: 'the holders of the rich list',
            name: 'richlist.claim',
          },
          chain_id,
          vm_type,
        ),
      ),
    get position() {
      return position;
    },
    get revision() {
      return revision;
    },
    // Looked at in its turn: a write that is under way has not failed.
    mend: () =>
      exclusive(async () => {
        if (hasFailed) await recover();
      }),
    recover: () => exclusive(recover),
    writeBlocks: (blocks) =>
      writing(async () => {
        for (const some of splitBlocks(blocks)) {
          checkFollows(position, some);
          const from = position.height === 0 ? await writeSeed((some[0] as DecodedBlock).height) : position;
          await writeSomeBlocks(some, from);
        }
      }),
    differing: (compared, asked_at) =>
      exclusive(async () => {
        if (!isClean || asked_at !== revision) return [];
        const heals = await compare(compared);
        const keys = new Set(heals.map(({ token, account }) => holdingKey(token, account)));
        return compared.filter(({ token, account }) => keys.has(holdingKey(token, account)));
      }),
    async heal(compared, asked_at) {
      let healed: Holding[] = [];
      await writing(async () => {
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
    name: (denoms) =>
      writing(async () => {
        const lines = await tokenList.denomRows(denoms);
        await insert('denoms', lines);
        await database.confirm();
        if (lines.length > 0) options.onWritten?.(position);
      }),
    check: (ord, asked_at) =>
      writing(async () => {
        if (asked_at === revision) await insert('checks', [JSON.stringify({ ord })]);
      }),
    noteDrifting: (compared_at) => writing(() => insert('drifting', [JSON.stringify({ compared_at })])),
    unwind: (height) =>
      exclusive(async () => {
        const newest = await findHead();
        const found = height >= newest.height ? newest : await readPosition(database, tables, height);
        const to = found.height < found.seed_height || height < found.seed_height ? nothing : found;
        await repair(to, () => options.onUnwind?.(to));
      }),
    hold: exclusive,
    compareViews: head.compareViews,
    hashes: (from, to) => readHashes(database, tables, from, to),
  };
}
