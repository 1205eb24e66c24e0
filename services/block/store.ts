import type { Validator } from '../common/chain/rest.js';
import { type Call, namesOf, type Params, type StatementOptions } from '../common/clickhouse/database.js';
import { createBinaryRows, readRowBinary } from '../common/clickhouse/formats.js';
import type { Target } from '../common/clickhouse/migrate.js';
import { countRows, removeFromAll } from '../common/clickhouse/remove.js';
import type { RawBlock, RawTrace } from '../common/gen/indexer/block/v1/block.js';
import type { FaultPoint } from '../common/runtime/lifecycle.js';
import { createBatcher } from '../common/util/batcher.js';
import { type FactFiles, noFactFiles } from '../common/util/fact-files.js';
import { claimChain } from '../common/writer/claim.js';
import type { FencedDatabase } from '../common/writer/fence.js';
import { readTableId } from '../common/writer/head-table.js';
import {
  isUnderWay,
  type RollbackRow,
  readRollback,
  rollbackTarget,
  writeRollback,
} from '../common/writer/rollback-record.js';
import { type Most, portion } from './stream.js';

/** A header without the fees of its block. */
export interface HeaderRow {
  readonly height: number;
  readonly hash: string;
  readonly parent_hash: string;
  readonly timestamp: string;
  /** Nanoseconds since the epoch, as text: they pass 2^53. */
  readonly time_ns: string;
  readonly block_time: number;
  readonly tx_count: number;
  /** How many txs the EVM saw. */
  readonly receipt_count: number;
  readonly gas_used: string;
  readonly gas_wanted: string;
  readonly proposer_address: string;
  /** Bytes of the block's material before it was compressed; 0 in rows of earlier versions. */
  readonly material_bytes: number;
}

/** A header as a page shows it. */
export interface ShownHeader extends HeaderRow {
  /** Fees offered by denom, as the JSON of Coins: a text, since anybody may offer them in very many denoms. */
  readonly total_fee: string;
}

/** What became of the traces of a block. */
export type TraceState = 'traced' | 'none' | 'unavailable';

/** A block to write: its header and its material. */
export interface BlockRow {
  readonly header: ShownHeader;
  readonly material: Uint8Array;
}

/** A trace to write. */
export interface TraceRow {
  readonly trace: RawTrace;
  readonly state: TraceState;
}

/** The block service's tables. */
export type BlockStore = ReturnType<typeof createBlockStore>;

/** What a read carries of its call, and how much it reads at most. */
type ReadCall = Call & Pick<StatementOptions, 'stop_after_bytes'>;

/** Options of a statement, by its name. */
const named = (name: string, call: ReadCall = {}) => ({ name: `block.${name}`, ...call });

const headerColumns =
  'height, hash, parent_hash, timestamp, toString(b.time_ns) AS time_ns, block_time, tx_count, receipt_count, gas_used, gas_wanted, proposer_address, material_bytes';

/** What a header takes beside the fees of its block, in bytes: more than it does, so that what fits by this is read whole. */
const headerBytes = 1_000;

/** Headers of single blocks that go into one query, without fees and with them: fees may be megabytes. */
const [headersAtOnce, shownAtOnce] = [100, 16];

/** Headers of a range that are looked for on local disk. */
const mostKept = 1_000;

/** The condition on a range of heights (inclusive), ascending. */
const inRange = 'height BETWEEN {from:UInt64} AND {to:UInt64} ORDER BY height';

/** Bytes and rows of one insert; a row that is larger goes alone. */
const insertSize = { bytes: 16 * 1024 * 1024, rows: 10_000 };

/** Bytes of a header that is kept; a block with more fees is read from the tables. */
const mostOfHeader = 1024 * 1024;

/** Tables with one row for each block. */
const perBlock = ['blocks', 'materials', 'traces'] as const;

/** Opens the tables; they must have been migrated. */
export function createBlockStore(
  database: FencedDatabase,
  target: Target,
  fault: FaultPoint = () => {},
  openFiles: (identity: () => string) => FactFiles = () => noFactFiles,
) {
  const tables = namesOf<string>(target);
  const { of: table } = tables;
  /** Whose facts heights stand for now, see `FactFilesOptions`. */
  let identity = '';
  const files = openFiles(() => identity);
  const keep = (headers: readonly ShownHeader[]): void =>
    files.put('headers', new Map(headers.map((header) => [header.height, JSON.stringify(header)])));
  /** Those of heights that are kept, ascending. */
  const kept = async (heights: readonly number[], most_bytes = mostOfHeader): Promise<ShownHeader[]> => {
    const found = await files.get('headers', heights, most_bytes);
    return heights.flatMap((height) => {
      const text = found.get(height);
      return text === undefined ? [] : (JSON.parse(text.toString()) as ShownHeader);
    });
  };

  const reading =
    <Row extends HeaderRow>(columns: string) =>
    (condition: string, params: Params, name: string, call: ReadCall = {}): Promise<Row[]> =>
      database.rows<Row>(
        `SELECT ${columns} FROM ${table('blocks')} AS b WHERE ${condition}`,
        params,
        named(name, call),
      );
  const headers = reading<HeaderRow>(headerColumns);
  const shownHeaders = reading<ShownHeader>(`${headerColumns}, total_fee`);

  /** Reads one header; those that are asked for together are read together. */
  const oneOf = <Row extends HeaderRow>(
    read: (condition: string, params: Params, name: string, call: Call) => Promise<Row[]>,
    name: string,
    most: number,
  ) =>
    createBatcher<number, Row | undefined>({
      run: async (heights, call) => {
        const rows = await read('height IN {heights:Array(UInt64)}', { heights }, name, call);
        const byHeight = new Map(rows.map((row) => [row.height, row]));
        return heights.map((height) => byHeight.get(height));
      },
      ...{ most, atOnce: 2 },
    });

  const one = oneOf(shownHeaders, 'shown_header', shownAtOnce);
  const oneShown = async (height: number, call: Call): Promise<ShownHeader | undefined> => {
    const began = identity;
    const header = await one(height, call);
    if (header !== undefined && began === identity) keep([header]);
    return header;
  };

  /** The tables and how often they were rolled back; '' during a rollback. */
  const readIdentity = async (): Promise<string> => {
    const uuid = await readTableId(database, table('blocks'), 'block');
    const row = await readRollback(database, table('cuts'), 'block.rollback');
    return uuid === '' || isUnderWay(row) ? '' : `${uuid}-${row.number}`;
  };

  /** Heights that a table has more than once. Grouped in the table's own order: memory does not grow with the chain. */
  const repeated = (name: (typeof perBlock)[number]): string => {
    const hashes = name === 'blocks' ? 'uniqExact(hash)' : '1';
    return `SELECT height, count() AS n, ${hashes} AS hashes FROM ${table(name)} GROUP BY height HAVING n > 1 SETTINGS optimize_aggregation_in_order = 1`;
  };

  /** How many rows a table has too many. */
  const surplus = async (name: (typeof perBlock)[number]): Promise<number> => {
    const [row] = await database.rows<{ rows: number }>(
      `SELECT sum(r.n - 1) AS rows FROM (${repeated(name)}) AS r`,
      {},
      named('count_twice'),
    );
    return Number(row?.rows ?? 0);
  };

  /** Height of the last header; 0 while there is none. */
  const lastHeight = async (): Promise<number> => {
    const [row] = await database.rows<{ last: number }>(
      `SELECT max(height) AS last FROM ${table('blocks')}`,
      {},
      named('last_height'),
    );
    return row?.last ?? 0;
  };

  /**
   * The last height up to which the material of a table fits; undefined when there is none.
   * Lengths are columns of their own to the engine: no material is read for this.
   *
   * @param bytesOf what material comes to uncompressed, of rows that say it in another table.
   */
  const lastThatFits = async (
    name: 'materials' | 'traces',
    from: number,
    to: number,
    most: Most,
    bytesOf: ReadonlyMap<number, number> = new Map(),
  ): Promise<number | undefined> => {
    const bytes = name === 'traces' ? 't.material_bytes' : '0';
    const sizes = await database.rows<{ height: number; size: number; bytes: number }>(
      `SELECT height, length(t.material) AS size, ${bytes} AS bytes FROM ${table(name)} AS t WHERE height BETWEEN {from:UInt64} AND {to:UInt64} ORDER BY height LIMIT {count:UInt32}`,
      { from, to, count: most.count },
      named(`${name}_sizes`),
    );
    // Rows that do not say it are cut again once they are read: their material says it itself.
    const weight = ({ height, size, bytes }: (typeof sizes)[number]): number =>
      Math.max(bytes, bytesOf.get(height) ?? 0, 2 * size);
    return portion(sizes, weight, most).at(-1)?.height;
  };

  return {
    /**
     * Ties the tables to a chain, or checks that they are tied to it.
     *
     * @throws UserError when they hold another chain.
     */
    claim: (chain_id: string, vm_type: string): Promise<void> =>
      claimChain(
        {
          ...{ database, table: table('chain'), name: 'block.claim', what: 'the data is' },
          who: 'the node or the configuration says',
        },
        chain_id,
        vm_type,
      ),

    /** The chain that the tables are tied to. */
    async chain(): Promise<{ chain_id: string; vm_type: string } | undefined> {
      const rows = await database.rows<{ chain_id: string; vm_type: string }>(
        `SELECT chain_id, vm_type FROM ${table('chain')}`,
        {},
        named('chain'),
      );
      return rows[0];
    },

    /** Writes consecutive blocks; the headers go last, so the head is never without its material. */
    async write(blocks: readonly BlockRow[]): Promise<void> {
      const materials = createBinaryRows(insertSize);
      for (const { header, material } of blocks) {
        materials.uint64(header.height);
        materials.string(material);
        materials.end();
      }
      await fault('before materials');
      for (const part of materials.parts())
        await database.insert(`${table('materials')} (height, material)`, part, named('write_materials'));
      await fault('before headers');
      const rows = blocks.map(({ header }) => JSON.stringify(header));
      await database.insert(table('blocks'), rows.join('\n'), named('write_headers'));
      await database.confirm();
      await fault('after headers');
      keep(blocks.map(({ header }) => header));
    },

    /** Writes traces. */
    async writeTraces(traces: readonly TraceRow[]): Promise<void> {
      await fault('before traces');
      const rows = createBinaryRows(insertSize);
      for (const { trace, state } of traces) {
        rows.uint64(trace.height);
        rows.string(trace.block_hash);
        rows.string(state);
        rows.uint64(trace.material_bytes);
        rows.string(trace.material);
        rows.end();
      }
      const columns = 'height, block_hash, state, material_bytes, material';
      for (const part of rows.parts())
        await database.insert(`${table('traces')} (${columns})`, part, named('write_traces'));
      await database.confirm();
      await fault('after traces');
    },

    /**
     * Removes everything above a height, above the last header, and above the height that a rollback which was not ended goes
     * down to. The headers go first: what has no header does not exist.
     */
    async unwind(height: number): Promise<void> {
      // What failed before takes no effect after this.
      await database.confirm();
      const [last, newest] = [
        await readRollback(database, table('cuts'), 'block.rollback'),
        await lastHeight(),
      ];
      identity = '';
      const begun = rollbackTarget(last, newest);
      const to = Math.min(height, begun ?? newest);
      const removal = { database, tables, name: 'block.remove_above', fault };
      const above = perBlock.map((name) => [name, 'height > {height:UInt64}'] as const);
      const counts = await countRows(removal, above, { height: to });
      let row = last;
      const note = async (next: RollbackRow): Promise<void> => {
        await fault('write cuts');
        await writeRollback(database, table('cuts'), 'block.rollback', next);
        // What follows removes rows: not in somebody else's tables.
        await database.confirm();
        row = next;
      };
      const isSaid = last.top > 0 && begun === to;
      if (!isSaid && [...counts.values()].some((count) => count > 0)) {
        const number = last.number + 1 + (last.number % 2);
        // At least 1: 0 stands for a version that did not say heights.
        await note({ number, height: to, top: Math.max(newest, last.top, 1) });
      }
      await removeFromAll(removal, above, { height: to }, counts);
      if (isUnderWay(row)) await note({ ...row, number: row.number + 1 });
      identity = await readIdentity();
    },

    /**
     * Finds blocks that are there twice, as two writers of a version without a fence have left them, and leaves each once.
     * Where the two differ, they and everything above are removed.
     *
     * @returns how many rows were too many.
     */
    async mend(): Promise<number> {
      const found = await Promise.all(perBlock.map(surplus));
      const rows = found.reduce((sum, each) => sum + each, 0);
      if (rows === 0) return 0;
      const [fork] = await database.rows<{ first: number; n: number }>(
        `SELECT min(b.height) AS first, count() AS n FROM (${repeated('blocks')}) AS b WHERE b.hashes > 1`,
        {},
        named('first_fork'),
      );
      if (fork !== undefined && fork.n > 0) await this.unwind(Math.max(0, fork.first - 1));
      for (const name of perBlock)
        await database.command(
          `OPTIMIZE TABLE ${tables.removable(name)} FINAL DEDUPLICATE BY height`,
          {},
          named('mend'),
        );
      return rows;
    },

    /** First and last header; undefined while there is none. From then on headers of these tables are kept on local disk. */
    async range(call: Call = {}): Promise<{ first: HeaderRow; last: HeaderRow } | undefined> {
      // Asked for before and after: a rollback in between would give headers of one chain the number of another.
      const before = await readIdentity();
      const [last] = await headers('1 ORDER BY height DESC LIMIT 1', {}, 'last', call);
      const [first] = await headers('1 ORDER BY height LIMIT 1', {}, 'first', call);
      identity = before === (await readIdentity()) ? before : '';
      return first === undefined || last === undefined ? undefined : { first, last };
    },

    /** The header of a height. */
    header: oneOf(headers, 'header', headersAtOnce),

    /** The header of a height, with its fees. */
    async shownHeader(height: number, call: Call): Promise<ShownHeader | undefined> {
      const [header] = await kept([height]);
      return header ?? oneShown(height, call);
    },

    /** Headers of a range of heights (inclusive), ascending. */
    headers: (from: number, to: number, call: ReadCall = {}) =>
      headers(inRange, { from, to }, 'headers', call),

    /** The same with their fees. */
    async shownHeaders(from: number, to: number, call: ReadCall = {}): Promise<ShownHeader[]> {
      const count = to - from + 1;
      if (count <= mostKept) {
        const heights = Array.from({ length: Math.max(0, count) }, (_, index) => from + index);
        const headers = await kept(heights, call.stop_after_bytes);
        if (headers.length === count) return headers;
      }
      const began = identity;
      const headers = await shownHeaders(inRange, { from, to }, 'shown_headers', call);
      if (began === identity) keep(headers);
      return headers;
    },

    /** Bytes of the headers of a range of heights (inclusive), ascending, without reading them. */
    async headerSizes(from: number, to: number, call: Call = {}): Promise<number[]> {
      const rows = await database.rows<{ size: number }>(
        `SELECT length(b.total_fee) AS size FROM ${table('blocks')} AS b WHERE height BETWEEN {from:UInt64} AND {to:UInt64} ORDER BY height`,
        { from, to },
        named('header_sizes', call),
      );
      return rows.map(({ size }) => size + headerBytes);
    },

    /** Blocks as they are streamed, ascending: of a range (inclusive) so many as fit; at least one. */
    async raws(from: number, to: number, most: Most): Promise<RawBlock[]> {
      const rows = await headers(
        'height BETWEEN {from:UInt64} AND {to:UInt64} ORDER BY height LIMIT {count:UInt32}',
        { from, to, count: most.count },
        'raw_headers',
      );
      const bytesOf = new Map(rows.map(({ height, material_bytes }) => [height, material_bytes]));
      const last = await lastThatFits('materials', from, to, most, bytesOf);
      if (last === undefined) return [];
      const materials = readRowBinary(
        await database.bytes(
          `SELECT height, material FROM ${table('materials')} WHERE height BETWEEN {from:UInt64} AND {last:UInt64} ORDER BY height`,
          'RowBinary',
          { from, last },
          named('materials'),
        ),
      );
      const byHeight = new Map<number, Buffer>();
      while (materials.more()) byHeight.set(materials.uint64(), materials.bytes());
      return rows
        .filter(({ height }) => height <= last)
        .map(({ height, hash, parent_hash, timestamp, tx_count, material_bytes }) => {
          const material = byHeight.get(height);
          if (material === undefined) throw new Error(`block ${height} has no material`);
          return { height, hash, parent_hash, timestamp, tx_count, material, material_bytes };
        });
    },

    /** Traces as they are streamed, ascending, from a height on: so many as fit; at least one. */
    async traces(from: number, to: number, most: Most): Promise<RawTrace[]> {
      const last = await lastThatFits('traces', from, to, most);
      if (last === undefined) return [];
      const rows = readRowBinary(
        await database.bytes(
          `SELECT height, material_bytes, block_hash, material FROM ${table('traces')} WHERE height BETWEEN {from:UInt64} AND {last:UInt64} ORDER BY height`,
          'RowBinary',
          { from, last },
          named('traces'),
        ),
      );
      const traces: RawTrace[] = [];
      while (rows.more())
        traces.push({
          height: rows.uint64(),
          material_bytes: rows.uint64(),
          block_hash: rows.bytes().toString(),
          material: rows.bytes(),
        });
      return traces;
    },

    /** Last height that has a row among the traces; 0 while there is none. */
    async traceHeight(): Promise<number> {
      const [row] = await database.rows<{ last: number }>(
        `SELECT max(height) AS last FROM ${table('traces')}`,
        {},
        named('trace_height'),
      );
      return row?.last ?? 0;
    },

    /** Heights of a range (inclusive) that have a row among the traces. */
    async tracedHeights(from: number, to: number): Promise<Set<number>> {
      const rows = await database.rows<{ height: number }>(
        `SELECT height FROM ${table('traces')} WHERE height BETWEEN {from:UInt64} AND {to:UInt64}`,
        { from, to },
        named('traced_heights'),
      );
      return new Set(rows.map(({ height }) => height));
    },

    /** Adds validators, or what has changed of them. */
    async writeValidators(validators: readonly Validator[]): Promise<void> {
      const seen_at = Date.now();
      const rows = validators.map((validator) => JSON.stringify({ ...validator, seen_at }));
      await database.insert(table('validators'), rows.join('\n'), named('write_validators'));
    },

    /** Everyone who was ever seen as a validator. */
    validators: () =>
      database.rows<Validator>(
        `SELECT consensus_address, operator_address, moniker, identity FROM ${table('validators')} FINAL`,
        {},
        named('validators'),
      ),
  };
}
