import { createLines, type Lines, tsvField } from '../../common/clickhouse/lines.js';
import type { DecodedBlock, DecodedFrame, DecodedTx } from '../decode/types.js';
import type { Position } from './cursor.js';
import type { StagedEnds } from './list-end-cache.js';
import { type ListEnd, type ListKey, listKey, listOf } from './list-ends.js';
import type { StagedMsgSets } from './msg-sets.js';
import { noMsgs } from './msg-sets.js';
import type { OwnersOfBatch } from './owners.js';
import { accountLists, type Kind } from './tables.js';

/** Rows for every table: the lines in the format TabSeparated. Pure: the same batch gives the same rows. */
export interface Rows {
  readonly bodies: Lines;
  readonly hashes: Lines;
  readonly account_items: Lines;
  readonly msg_set_txs: Lines;
  /** The cursor's rows: written last, all in one insert. */
  readonly cursor: object[];
  /** What was numbered, for those who remember it. */
  readonly written: WrittenBody[];
}

/** A body with its number. */
export interface WrittenBody {
  readonly kind: Kind;
  readonly sequence: number;
  readonly hash: string;
  readonly body: string;
}

/** The internal txs of a block. */
export interface DecodedTrace {
  readonly height: number;
  /** Hash of the block that was traced. */
  readonly hash: string;
  readonly frames: readonly DecodedFrame[];
}

/** Rows to collect into. */
export const startRows = (): Rows => ({
  bodies: createLines(),
  hashes: createLines(),
  account_items: createLines(),
  msg_set_txs: createLines(),
  cursor: [],
  written: [],
});

/** Something that has a body and accounts. */
interface Item {
  readonly hash: string;
  readonly body: string;
  /** Accounts that it names, and whether each signed or sent it. */
  readonly accounts: ReadonlyMap<string, boolean>;
}

/** The account lists that blocks append to. */
export function listsOfBlocks(blocks: readonly DecodedBlock[], owners: OwnersOfBatch): Set<ListKey> {
  const keys = new Set<ListKey>();
  for (const block of blocks) {
    for (const tx of block.txs) addLists(keys, 'tx', accountsOf(tx, owners));
    for (const tx of block.evm_txs) addLists(keys, 'evm_tx', tx.accounts);
  }
  return keys;
}

/** The account lists that traces append to. */
export function listsOfTraces(traces: readonly DecodedTrace[]): Set<ListKey> {
  const keys = new Set<ListKey>();
  for (const { frames } of traces) {
    for (const frame of frames) addLists(keys, 'internal_tx', frame.accounts);
  }
  return keys;
}

/** Numbers a block and appends its rows. @returns the position after it. */
export function addBlock(
  rows: Rows,
  block: DecodedBlock,
  before: Position,
  ends: StagedEnds,
  sets: StagedMsgSets,
  owners: OwnersOfBatch,
): Position {
  const last = { ...before.last };
  for (const tx of block.txs) {
    const sequence = ++last.tx;
    const msg_set = sets.numberOf(tx.msgs, sequence);
    addItem(rows, 'tx', sequence, { ...tx, accounts: accountsOf(tx, owners) }, ends, msg_set);
    addHash(rows, 'tx', tx.hash, sequence, 1);
    if (msg_set !== noMsgs) rows.msg_set_txs.add(`${msg_set}\t${sequence}`);
  }
  for (const tx of block.evm_txs) {
    const sequence = ++last.evm_tx;
    addItem(rows, 'evm_tx', sequence, tx, ends, noMsgs);
    addHash(rows, 'evm_tx', tx.hash, sequence, 1);
  }
  const { height, hash, parent_hash, timestamp } = block;
  rows.cursor.push({
    height,
    hash,
    parent_hash,
    timestamp,
    last_sequence: last.tx,
    tx_count: block.txs.length,
    last_evm_sequence: last.evm_tx,
    evm_tx_count: block.evm_txs.length,
  });
  return { ...before, height, hash, last };
}

/** Numbers the internal txs of a block and appends their rows. @returns the position after it. */
export function addTrace(rows: Rows, trace: DecodedTrace, before: Position, ends: StagedEnds): Position {
  let sequence = before.last.internal_tx;
  const ofHash = new Map<string, { first: number; count: number }>();
  for (const frame of trace.frames) {
    sequence += 1;
    addItem(rows, 'internal_tx', sequence, frame, ends, noMsgs);
    const known = ofHash.get(frame.hash);
    if (known === undefined) ofHash.set(frame.hash, { first: sequence, count: 1 });
    else if (known.first + known.count === sequence) known.count += 1; // else: traced twice by mistake
  }
  for (const [hash, { first, count }] of ofHash) addHash(rows, 'internal_tx', hash, first, count);
  rows.cursor.push({
    height: trace.height,
    hash: trace.hash,
    last_sequence: sequence,
    frame_count: trace.frames.length,
  });
  return {
    ...before,
    internal_height: trace.height,
    last: { ...before.last, internal_tx: sequence },
  };
}

/** The cursor's rows as lines. */
export const cursorRows = ({ cursor }: Rows): string[] => cursor.map((row) => JSON.stringify(row));

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

function addItem(
  rows: Rows,
  kind: Kind,
  sequence: number,
  { hash, body, accounts }: Item,
  ends: StagedEnds,
  msg_set: number,
): void {
  rows.bodies.add(`${kind}\t${sequence}\t${tsvField(body)}`);
  rows.written.push({ kind, sequence, hash, body });
  const { named, sent } = accountLists[kind];
  for (const [account, isSender] of accounts) {
    addToList(rows, ends, listKey(named, account), sequence, msg_set);
    if (isSender) addToList(rows, ends, listKey(sent, account), sequence, msg_set);
  }
}

function addToList(rows: Rows, ends: StagedEnds, key: ListKey, sequence: number, msg_set: number): void {
  const ord = ends.append(key, sequence);
  const [list, account] = listOf(key);
  rows.account_items.add(`${list}\t${account}\t${ord}\t${sequence}\t${msg_set}`);
}

function addHash(rows: Rows, kind: Kind, hash: string, sequence: number, body_count: number): void {
  rows.hashes.add(`${kind}\t${hash}\t${sequence}\t${body_count}`);
}

function addLists(keys: Set<ListKey>, kind: Kind, accounts: ReadonlyMap<string, boolean>): void {
  const { named, sent } = accountLists[kind];
  for (const [account, isSender] of accounts) {
    keys.add(listKey(named, account));
    if (isSender) keys.add(listKey(sent, account));
  }
}

/** The accounts of a tx, with the owners of the stores that it names. */
function accountsOf(tx: DecodedTx, owners: OwnersOfBatch): ReadonlyMap<string, boolean> {
  if (tx.stores.length === 0) return tx.accounts;
  const accounts = new Map(tx.accounts);
  for (const store of tx.stores) {
    const owner = owners.of.get(store);
    if (owner !== undefined && !accounts.has(owner)) accounts.set(owner, false);
  }
  return accounts;
}
