import { status } from '@grpc/grpc-js';
import type { Call } from '../../common/clickhouse/database.js';
import { readRowBinary } from '../../common/clickhouse/row-binary.js';
import { RpcError } from '../../common/errors.js';
import type { Reader } from './reader.js';

/** Txs of whole blocks as they are stored, in the order of the chain. */
export interface StoredTxs {
  readonly txs: readonly StoredTx[];
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

/** Blocks that are looked up at once, and txs after which a part is given. */
const [blocksAtOnce, txsAtOnce] = [2_000, 500];

/** Bodies are read in ranges of about this size, in bytes, however large single ones are. */
const bytesAtOnce = 8 * 1024 * 1024;

/** Bounds of how many bodies one query reads; the first one reads the fewest. */
const [fewestBodies, mostBodies] = [32, 500];

/**
 * The txs of a window of blocks, a part at a time, each part ending with a block. It reads
 * ranges of consecutive bodies past the cache, so that a long window does not empty it.
 *
 * @throws RpcError OUT_OF_RANGE when a block is not indexed, ABORTED when the chain is rolled back.
 */
export async function* readWindow(
  { database, tables, head, look }: Reader,
  from: number,
  to: number,
  call: Call,
): AsyncGenerator<StoredTxs, void, undefined> {
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

  let bodies = fewestBodies;
  const bodiesOf = async (first: number, last: number): Promise<Buffer[]> => {
    const found: Buffer[] = [];
    for (let next = first; next <= last; ) {
      const end = Math.min(last, next + bodies - 1);
      const answer = await database.bytes(
        `SELECT body FROM ${tables.of('bodies')} WHERE kind = 'tx' AND sequence BETWEEN {next:UInt64} AND {end:UInt64} ORDER BY sequence`,
        'RowBinary',
        { next, end },
        { name: 'tx.window_bodies', ...call },
      );
      await checkChain();
      for (const rows = readRowBinary(answer); rows.more(); ) found.push(rows.bytes());
      if (found.length !== end - first + 1)
        throw new RpcError(status.UNAVAILABLE, `the txs ${next} to ${end} are not all there: ask again`);
      const average = Math.max(1, answer.length / (end - next + 1));
      bodies = Math.min(mostBodies, Math.max(fewestBodies, Math.floor(bytesAtOnce / average)));
      next = end + 1;
    }
    return found;
  };

  for (let next = from; next <= to; next += blocksAtOnce) {
    const rows = await blocksOf(next, Math.min(to, next + blocksAtOnce - 1));
    for (const part of partsOf(rows)) {
      const [first, last] = [part[0] as BlockRow, part.at(-1) as BlockRow];
      const found = await bodiesOf(first.last - first.items + 1, last.last);
      let index = 0;
      const txs = part.flatMap(({ height, items }) =>
        Array.from({ length: items }, (_, position) => ({
          height,
          position,
          body: found[index++] as Buffer,
        })),
      );
      yield { txs, through_height: last.height };
    }
  }
}

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
