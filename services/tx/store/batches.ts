import { atMost, chunks } from '../../common/util/chunk.js';
import type { DecodedBlock } from '../decode/types.js';
import type { Position } from './cursor.js';
import type { DecodedTrace, Entry } from './rows.js';

/*
 * How much is written at once: large inserts are cheaper by the row, but a call that reads
 * waits behind an insert of the embedded engine.
 */
const [itemsAtOnce, charactersAtOnce] = [8_000, 16 * 1024 * 1024];

/** Blocks in a batch: their cursor rows must fit into one insert, which is written whole or not at all. */
const blocksAtOnce = 1_000;

/** Cuts blocks into batches that are written one after the other, each with its cursor; a block is never cut. */
export function splitBlocks(blocks: readonly DecodedBlock[]): DecodedBlock[][] {
  const itemsOf = ({ txs, evm_txs }: DecodedBlock) => [...txs, ...evm_txs];
  return [
    ...chunks(
      blocks,
      { most: itemsAtOnce, of: (block) => block.txs.length + block.evm_txs.length },
      {
        most: charactersAtOnce,
        of: (block) => itemsOf(block).reduce((sum, { body }) => sum + body.length, 0),
      },
      atMost(blocksAtOnce),
    ),
  ];
}

/** The same for internal txs. */
export const splitTraces = (traces: readonly DecodedTrace[]): DecodedTrace[][] => [
  ...chunks(traces, { most: charactersAtOnce, of: ({ length }) => length }, atMost(blocksAtOnce)),
];

/** Names in a part: a list of an account is appended to for each. */
const namesAtOnce = 50_000;

/**
 * Cuts a batch into parts, which bound what is held while it is written: a single block may have a million call
 * frames, or name as many accounts. A batch of ordinary blocks is one part.
 */
export const partsOf = (entries: Iterable<Entry>): Generator<Entry[], void, undefined> =>
  chunks(
    entries,
    atMost(itemsAtOnce),
    { most: charactersAtOnce, of: ({ body }) => body.length },
    { most: namesAtOnce, of: ({ accounts, stores }) => accounts.size + stores.length },
  );

/** @throws Error unless the traces are those right after a position, in order, and of blocks that are written. */
export function checkTraces(position: Position, traces: readonly DecodedTrace[]): void {
  let height = position.internal_height;
  for (const trace of traces) {
    if (trace.height > position.height)
      throw new Error(`internal txs of block ${trace.height} come before its txs`);
    if (trace.height <= height || (height !== 0 && trace.height !== height + 1))
      throw new Error(`internal txs of block ${trace.height} do not follow those of block ${height}`);
    height = trace.height;
  }
}
