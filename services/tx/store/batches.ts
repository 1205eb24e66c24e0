import { splitLines as splitParts } from '../../common/clickhouse/parts.js';
import type { DecodedBlock } from '../decode/types.js';
import type { Position } from './cursor.js';
import type { DecodedTrace } from './rows.js';

/*
 * How much is written at once: large inserts are cheaper by the row, but a call that reads
 * waits behind an insert of the embedded engine.
 */
const [itemsAtOnce, charactersAtOnce, linesAtOnce] = [8_000, 16 * 1024 * 1024, 100_000];

/** Blocks in a batch: their cursor rows must fit into one insert, which is written whole or not at all. */
const blocksAtOnce = 1_000;

/** One insert's text. */
const insertCharacters = 4 * 1024 * 1024;

/** Cuts blocks into batches that are written one after the other, each with its cursor; a block is never cut. */
export function splitBlocks(blocks: readonly DecodedBlock[]): DecodedBlock[][] {
  return split(blocks, (block) => [...block.txs, ...block.evm_txs]);
}

/** The same for internal txs. */
export function splitTraces(traces: readonly DecodedTrace[]): DecodedTrace[][] {
  return split(traces, (trace) => trace.frames);
}

/** Cuts lines into what one insert writes. */
export const splitLines = (lines: readonly string[]): string[][] =>
  splitParts(lines, insertCharacters, linesAtOnce);

/** @throws Error unless the blocks are those right after a position, in order. */
export function checkFollows(position: Position, blocks: readonly DecodedBlock[]): void {
  let [height, hash] = [position.height, position.hash];
  for (const block of blocks) {
    const follows = height === 0 || (block.height === height + 1 && block.parent_hash === hash);
    if (!follows) throw new Error(`block ${block.height} does not follow block ${height}`);
    [height, hash] = [block.height, block.hash];
  }
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

function split<T>(parts: readonly T[], itemsOf: (part: T) => readonly { readonly body: string }[]): T[][] {
  const batches: T[][] = [];
  let [batch, items, characters]: [T[], number, number] = [[], 0, 0];
  for (const part of parts) {
    const bodies = itemsOf(part);
    const length = bodies.reduce((sum, { body }) => sum + body.length, 0);
    const full =
      batch.length >= blocksAtOnce ||
      items + bodies.length > itemsAtOnce ||
      characters + length > charactersAtOnce;
    if (batch.length > 0 && full) {
      batches.push(batch);
      [batch, items, characters] = [[], 0, 0];
    }
    batch.push(part);
    items += bodies.length;
    characters += length;
  }
  if (batch.length > 0) batches.push(batch);
  return batches;
}
