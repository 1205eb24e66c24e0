import type { AccountKey } from '../../common/chain/address.js';
import { createLines, type Lines, tsvField } from '../../common/clickhouse/formats.js';
import type { Cursor } from '../../common/consumer/consume.js';
import type { DecodedBlock, DecodedFrame, DecodedTx } from '../decode/types.js';
import type { Position } from './cursor.js';
import type { StagedEnds } from './list-end-cache.js';
import { type ListEnd, type ListKey, listKey, listOf } from './list-ends.js';
import { noMsgs, type StagedMsgSets } from './msg-sets.js';
import { accountLists, type Kind } from './tables.js';

/** Rows of a part of a batch for every table: the lines in the format TabSeparated. */
export interface Rows {
  readonly bodies: Lines;
  readonly hashes: Lines;
  readonly account_items: Lines;
  readonly msg_set_txs: Lines;
}

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
  readonly frames: Lines;
}

/** A batch that begins after a position. */
export const startBatch = (position: Position): BatchEnd => ({
  cursor: [],
  position,
  frames: createLines(),
});

/** Rows to collect into. */
export const startRows = (): Rows => ({
  bodies: createLines(),
  hashes: createLines(),
  account_items: createLines(),
  msg_set_txs: createLines(),
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
      end.frames.add(hashLine({ kind: 'internal_tx', hash, sequence: first }, count));
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
  rows.bodies.add(`${kind}\t${sequence}\t${tsvField(body)}`);
  if (kind !== 'internal_tx') rows.hashes.add(hashLine(entry, 1));
  if (msg_set !== noMsgs) rows.msg_set_txs.add(`${msg_set}\t${sequence}`);
  for (const key of listsOfEntry(entry, owners)) {
    const [list, account] = listOf(key);
    rows.account_items.add(`${list}\t${account}\t${ends.append(key, sequence)}\t${sequence}\t${msg_set}`);
  }
}

/** The rows of the ends of lists, in the format TabSeparated. */
export function endRows(ends: Iterable<readonly [ListKey, ListEnd]>, version: string): Lines {
  const lines = createLines();
  for (const [key, { count, latest }] of ends) {
    const [list, account] = listOf(key);
    lines.add(`${list}\t${account}\t${count}\t[${latest.join(',')}]\t${version}\t0`);
  }
  return lines;
}

/** The columns of the tables whose rows are TabSeparated, in the order of the fields. */
export const lineColumns = {
  bodies: 'kind, sequence, body',
  hashes: 'kind, hash, sequence, body_count',
  account_items: 'list, account, ord, sequence, msg_set',
  msg_set_txs: 'msg_set, sequence',
  list_ends: 'list, account, length, latest, version, is_deleted',
} as const;

/** A row that points from a hash to bodies. */
const hashLine = (
  { kind, hash, sequence }: Pick<Entry, 'kind' | 'hash' | 'sequence'>,
  count: number,
): string => `${kind}\t${hash}\t${sequence}\t${count}`;

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
