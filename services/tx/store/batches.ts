import { atMost, chunks } from '../../common/chunk.js';
import type { DecodedBlock } from '../decode/types.js';
import type { Position } from './cursor.js';
import type { DecodedTrace } from './rows.js';

/*
 * How much is written at once: large inserts are cheaper by the row, but a call that reads
 * waits behind an insert of the embedded engine.
 */
const [itemsAtOnce, charactersAtOnce] = [8_000, 16 * 1024 * 1024];

/** Blocks in a batch: their cursor rows must fit into one insert, which is written whole or not at all. */
const blocksAtOnce = 1_000;

/** Cuts blocks into batches that are written one after the other, each with its cursor; a block is never cut. */
export function splitBlocks(blocks: readonly DecodedBlock[]): DecodedBlock[][] {
  return split(blocks, (block) => [...block.txs, ...block.evm_txs]);
}

/** The same for internal txs. */
export function splitTraces(traces: readonly DecodedTrace[]): DecodedTrace[][] {
  return split(traces, (trace) => trace.frames);
}

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

const split = <T>(parts: readonly T[], itemsOf: (part: T) => readonly { readonly body: string }[]): T[][] => [
  ...chunks(
    parts,
    { most: itemsAtOnce, of: (part) => itemsOf(part).length },
    { most: charactersAtOnce, of: (part) => itemsOf(part).reduce((sum, { body }) => sum + body.length, 0) },
    atMost(blocksAtOnce),
  ),
];
