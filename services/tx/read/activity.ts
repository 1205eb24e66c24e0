import { status } from '@grpc/grpc-js';
import type { Call } from '../../common/clickhouse/database.js';
import { readRowBinary } from '../../common/clickhouse/formats.js';
import { RpcError } from '../../common/runtime/errors.js';
import { atMost, chunks } from '../../common/util/chunk.js';
import { createSlices } from '../../common/util/concurrency.js';
import { largeBytes, oneLarge } from '../../common/util/material.js';
import type { Reader } from './reader.js';

/** What was made of the txs of whole blocks, in the order of the chain. */
export interface WindowPart<T> {
  readonly txs: T[];
  /** Every tx up to this block has been given. */
  readonly through_height: number;
}

/** A tx with its place in the chain. */
export interface StoredTx {
  readonly height: number;
  /** From 0. */
  readonly position: number;
  readonly body: Buffer;
}

interface BlockRow {
  readonly height: number;
  readonly last: number;
  readonly items: number;
}

/** A block with the bytes of its txs. */
interface SizedBlock extends BlockRow {
  readonly sizes: readonly number[];
}

/** Blocks that are looked up at once, and txs after which a part is given. */
const [blocksAtOnce, txsAtOnce] = [2_000, 500];

/** Bounds of the bodies that one statement reads; a single body may be larger. */
const [bytesAtOnce, bodiesAtOnce] = [8 * 1024 * 1024, 500];

/**
 * The txs of a window of blocks, a part at a time, each part ending with a block. It reads
 * ranges of consecutive bodies past the cache, so that a long window does not empty it. Of the bodies
 * only those of one statement are held, and of large ones one in the whole process.
 *
 * @param decode makes of a tx what is kept of it.
 * @throws RpcError OUT_OF_RANGE when a block is not indexed, ABORTED when the chain is rolled back.
 */
export async function* readWindow<T>(
  { database, tables, head, look }: Reader,
  from: number,
  to: number,
  decode: (tx: StoredTx) => T,
  call: Call,
): AsyncGenerator<WindowPart<T>, void, undefined> {
  const turn = createSlices();
  const began = head.revision;
  const checkChain = async (): Promise<void> => {
    await look?.();
    if (head.revision !== began)
      throw new RpcError(status.ABORTED, 'the chain was rolled back while its txs were read');
  };

  const blocksOf = async (first: number, last: number): Promise<BlockRow[]> => {
    const rows = await database.rows<BlockRow>(
      `SELECT height, last_sequence AS last, tx_count AS items FROM ${tables.of('blocks')} WHERE height BETWEEN {first:UInt64} AND {last:UInt64} ORDER BY height`,
      { first, last },
      { name: 'tx.window_blocks', ...call },
    );
    await checkChain();
    const missing = rows.findIndex(({ height }, index) => height !== first + index);
    if (rows.length !== last - first + 1)
      throw new RpcError(
        status.OUT_OF_RANGE,
        `block ${first + (missing < 0 ? rows.length : missing)} is not indexed`,
      );
    return rows;
  };

  const range = `kind = 'tx' AND sequence BETWEEN {first:UInt64} AND {last:UInt64} ORDER BY sequence`;
  const complete = <Item>(items: Item[], first: number, last: number): Item[] => {
    if (items.length === last - first + 1) return items;
    throw new RpcError(status.UNAVAILABLE, `the txs ${first} to ${last} are not all there: ask again`);
  };
  /** Lengths are columns of their own to the engine: no body is read for this. */
  const sizesOf = async (first: number, last: number): Promise<number[]> => {
    const rows = await database.rows<{ size: number }>(
      `SELECT length(b.body) AS size FROM ${tables.of('bodies')} AS b WHERE ${range}`,
      { first, last },
      { name: 'tx.window_lengths', ...call },
    );
    await checkChain();
    return complete(rows, first, last).map(({ size }) => size);
  };
  const bodiesOf = async (first: number, last: number): Promise<Buffer[]> => {
    const answer = await database.bytes(
      `SELECT body FROM ${tables.of('bodies')} WHERE ${range}`,
      'RowBinary',
      { first, last },
      { name: 'tx.window_bodies', ...call },
    );
    await checkChain();
    const found: Buffer[] = [];
    for (const rows = readRowBinary(answer); rows.more(); ) found.push(rows.bytes());
    return complete(found, first, last);
  };

  /** Reads the txs of consecutive blocks, of which the first has a sequence. */
  const readBlocks = async (blocks: readonly SizedBlock[], first: number): Promise<T[]> => {
    const places = blocks.flatMap(({ height, items }) =>
      Array.from({ length: items }, (_, position) => ({ height, position })),
    );
    const txs: T[] = [];
    const sizes = blocks.flatMap((block) => block.sizes);
    for (const some of chunks(sizes, { most: bytesAtOnce, of: (size) => size }, atMost(bodiesAtOnce))) {
      const read = async (): Promise<void> => {
        const from_sequence = first + txs.length;
        for (const body of await bodiesOf(from_sequence, from_sequence + some.length - 1)) {
          txs.push(decode({ ...(places[txs.length] as Pick<StoredTx, 'height' | 'position'>), body }));
          await turn();
        }
      };
      await ((some[0] ?? 0) > largeBytes ? oneLarge(read) : read());
    }
    return txs;
  };

  for (let next = from; next <= to; next += blocksAtOnce) {
    const rows = await blocksOf(next, Math.min(to, next + blocksAtOnce - 1));
    for (const part of partsOf(rows)) {
      const count = part.reduce((sum, { items }) => sum + items, 0);
      let first = (part.at(-1) as BlockRow).last - count + 1;
      const sizes = count === 0 ? [] : await sizesOf(first, first + count - 1);
      const sized = part.map((block) => ({ ...block, sizes: sizes.splice(0, block.items) }));
      // What is made of bodies can be as large as they are, and goes into one message.
      for (const some of chunks(sized, { most: bytesAtOnce, of: (block) => sumOf(block.sizes) })) {
        yield { txs: await readBlocks(some, first), through_height: (some.at(-1) as BlockRow).height };
        first += some.reduce((sum, { items }) => sum + items, 0);
      }
    }
  }
}

const sumOf = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0);

/** Consecutive blocks with enough txs for a part. */
function* partsOf(rows: readonly BlockRow[]): Generator<BlockRow[]> {
  let part: BlockRow[] = [];
  let txs = 0;
  for (const row of rows) {
    part.push(row);
    txs += row.items;
    if (txs < txsAtOnce) continue;
    yield part;
    [part, txs] = [[], 0];
  }
  if (part.length > 0) yield part;
}
