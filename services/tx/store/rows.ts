import type { AccountKey } from '../../common/chain/address.js';
import { type BinaryRows, createBinaryRows } from '../../common/clickhouse/formats.js';
import type { Cursor } from '../../common/consumer/consume.js';
import type { DecodedBlock, DecodedFrame, DecodedTx } from '../decode/types.js';
import type { Position } from './cursor.js';
import type { StagedEnds } from './list-end-cache.js';
import { type ListEnd, type ListKey, listKey, listOf } from './list-ends.js';
import { noMsgs, type StagedMsgSets } from './msg-sets.js';
import { accountLists, type Kind, numberOfKind, numberOfList } from './tables.js';

/** Rows of a part of a batch for every table. */
export interface Rows {
  readonly bodies: BinaryRows;
  readonly hashes: BinaryRows;
  readonly account_items: BinaryRows;
  readonly msg_set_txs: BinaryRows;
}

/** Bytes and rows of one insert: large ones are cheaper by the row, but hold up those who read. */
const insertSize = { bytes: 4 * 1024 * 1024, rows: 100_000 };

/** A numbered body of a batch. */
export interface Entry {
  readonly kind: Kind;
  readonly sequence: number;
  readonly hash: string;
  readonly body: string;
  /** Types of messages; none of what is no tx of Cosmos. */
  readonly msgs: readonly string[];
  /** Accounts that it names, and whether each signed or sent it. */
  readonly accounts: ReadonlyMap<AccountKey, boolean>;
  /** Stores whose owners it names besides. */
  readonly stores: readonly AccountKey[];
}

/** The internal txs of a block. */
export interface DecodedTrace {
  readonly height: number;
  /** Hash of the block that was traced. */
  readonly hash: string;
  /** Characters of the trace. */
  readonly length: number;
  /** They may be made as they are taken, once. */
  readonly frames: Iterable<DecodedFrame>;
}

/** What is written of a batch once its last part is: rows that say where it ends, and where that is. */
export interface BatchEnd {
  /** The cursor's rows, all in one insert. */
  readonly cursor: (Cursor & Readonly<Record<string, unknown>>)[];
  position: Position;
  /** Rows that point to the frames of a tx. */
  readonly frames: BinaryRows;
}

/** A batch that begins after a position. */
export const startBatch = (position: Position): BatchEnd => ({
  cursor: [],
  position,
  frames: createBinaryRows(insertSize),
});

/** Rows to collect into. */
export const startRows = (): Rows => ({
  bodies: createBinaryRows(insertSize),
  hashes: createBinaryRows(insertSize),
  account_items: createBinaryRows(insertSize),
  msg_set_txs: createBinaryRows(insertSize),
});

/** The account lists that a part appends to. */
export function listsOf(part: readonly Entry[], owners: ReadonlyMap<AccountKey, AccountKey>): Set<ListKey> {
  const keys = new Set<ListKey>();
  for (const entry of part) for (const key of listsOfEntry(entry, owners)) keys.add(key);
  return keys;
}

/** Numbers what blocks hold, as it is taken. @param end is moved on with every block. */
export function* entriesOfBlocks(
  blocks: readonly DecodedBlock[],
  end: BatchEnd,
  onCut: (tx: DecodedTx) => void = () => {},
): Generator<Entry, void, undefined> {
  for (const block of blocks) {
    const last = { ...end.position.last };
    for (const tx of block.txs) {
      const { accounts, stores, is_cut } = tx.named();
      if (is_cut) onCut(tx);
      const { hash, body, msgs } = tx;
      yield { kind: 'tx', sequence: ++last.tx, hash, body, msgs, accounts, stores };
    }
    for (const { hash, body, accounts } of block.evm_txs)
      yield { kind: 'evm_tx', sequence: ++last.evm_tx, hash, body, msgs: [], accounts, stores: [] };
    const { height, hash, parent_hash, timestamp } = block;
    end.cursor.push({
      height,
      hash,
      parent_hash,
      timestamp,
      last_sequence: last.tx,
      tx_count: block.txs.length,
      last_evm_sequence: last.evm_tx,
      evm_tx_count: block.evm_txs.length,
    });
    end.position = { ...end.position, height, hash, last };
  }
}

/** Numbers the internal txs of blocks, as they are taken. @param end is moved on with every block. */
export function* entriesOfTraces(
  traces: readonly DecodedTrace[],
  end: BatchEnd,
): Generator<Entry, void, undefined> {
  for (const { height, hash: block_hash, frames } of traces) {
    const before = end.position.last.internal_tx;
    let sequence = before;
    const ofHash = new Map<string, { first: number; count: number }>();
    for (const { hash, body, accounts } of frames) {
      sequence += 1;
      const known = ofHash.get(hash);
      if (known === undefined) ofHash.set(hash, { first: sequence, count: 1 });
      else if (known.first + known.count === sequence) known.count += 1; // else: traced twice by mistake
      yield { kind: 'internal_tx', sequence, hash, body, msgs: [], accounts, stores: [] };
    }
    for (const [hash, { first, count }] of ofHash)
      addHash(end.frames, { kind: 'internal_tx', hash, sequence: first }, count);
    end.cursor.push({ height, hash: block_hash, last_sequence: sequence, frame_count: sequence - before });
    end.position = {
      ...end.position,
      internal_height: height,
      last: { ...end.position.last, internal_tx: sequence },
    };
  }
}

/** Appends the rows of an entry. */
export function addEntry(
  rows: Rows,
  entry: Entry,
  ends: StagedEnds,
  sets: StagedMsgSets,
  owners: ReadonlyMap<AccountKey, AccountKey>,
): void {
  const { kind, sequence, body, msgs } = entry;
  const msg_set = sets.numberOf(msgs, sequence);
  const { bodies, msg_set_txs, account_items } = rows;
  bodies.uint8(numberOfKind[kind]);
  bodies.uint64(sequence);
  bodies.string(body);
  bodies.end();
  if (kind !== 'internal_tx') addHash(rows.hashes, entry, 1);
  if (msg_set !== noMsgs) {
    msg_set_txs.uint32(msg_set);
    msg_set_txs.uint64(sequence);
    msg_set_txs.end();
  }
  for (const key of listsOfEntry(entry, owners)) {
    const [list, account] = listOf(key);
    account_items.uint8(numberOfList[list]);
    account_items.string(account);
    account_items.uint64(ends.append(key, sequence));
    account_items.uint64(sequence);
    account_items.uint32(msg_set);
    account_items.end();
  }
}

/** The rows of the ends of lists. */
export function endRows(ends: Iterable<readonly [ListKey, ListEnd]>, version: string): BinaryRows {
  const rows = createBinaryRows(insertSize);
  for (const [key, { count, latest }] of ends) {
    const [list, account] = listOf(key);
    rows.uint8(numberOfList[list]);
    rows.string(account);
    rows.uint64(count);
    rows.uint64s(latest);
    rows.uint64(BigInt(version));
    rows.uint8(0);
    rows.end();
  }
  return rows;
}

/** The columns of the rows, in the order of their fields. */
export const rowColumns = {
  bodies: 'kind, sequence, body',
  hashes: 'kind, hash, sequence, body_count',
  account_items: 'list, account, ord, sequence, msg_set',
  msg_set_txs: 'msg_set, sequence',
  list_ends: 'list, account, length, latest, version, is_deleted',
} as const;

/** Appends a row that points from a hash to bodies. */
function addHash(
  rows: BinaryRows,
  { kind, hash, sequence }: Pick<Entry, 'kind' | 'hash' | 'sequence'>,
  count: number,
): void {
  rows.uint8(numberOfKind[kind]);
  rows.string(hash);
  rows.uint64(sequence);
  rows.uint32(count);
  rows.end();
}

/** The lists that an entry is appended to: of the accounts that it names, and of the owners of the stores that it names. */
function* listsOfEntry(
  { kind, accounts, stores }: Entry,
  owners: ReadonlyMap<AccountKey, AccountKey>,
): Generator<ListKey, void, undefined> {
  const { named, sent } = accountLists[kind];
  for (const [account, isSender] of accounts) {
    yield listKey(named, account);
    if (isSender) yield listKey(sent, account);
  }
  const others = new Set(stores.map((store) => owners.get(store)));
  for (const owner of others) if (owner !== undefined && !accounts.has(owner)) yield listKey(named, owner);
}
