import { createBatcher } from '../common/batcher.js';
import type { Validator } from '../common/chain/rest.js';
import type { Call, Database, StatementOptions } from '../common/clickhouse/database.js';
import type { Target } from '../common/clickhouse/migrate.js';
import { readRowBinary } from '../common/clickhouse/row-binary.js';
import { namesOf } from '../common/clickhouse/tables.js';
import { UserError } from '../common/errors.js';
import type { FaultPoint } from '../common/fault.js';
import type { RawBlock, RawTrace } from '../common/gen/indexer/block/v1/block.js';
import type { Coin } from '../common/gen/indexer/common/v1/common.js';
import { type Most, portion } from './portion.js';

/** A header as it is stored. */
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
  readonly total_fee: readonly Coin[];
  readonly proposer_address: string;
}

/** What became of the traces of a block. */
export type TraceState = 'traced' | 'none' | 'unavailable';

/** A block to write: its header and its material. */
export interface BlockRow {
  readonly header: HeaderRow;
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
  'height, hash, parent_hash, timestamp, toString(b.time_ns) AS time_ns, block_time, tx_count, receipt_count, gas_used, gas_wanted, total_fee, proposer_address';

/** What a header takes beside the fees of its block, in bytes: more than it does, so that what fits by this is read whole. */
const headerBytes = 1_000;

/** Headers of single blocks that go into one query. */
const headersAtOnce = 100;

/** Opens the tables; they must have been migrated. */
export function createBlockStore(database: Database, target: Target, fault: FaultPoint = () => {}) {
  const { of: table, removable } = namesOf<string>(target);

  const headers = (
    condition: string,
    params: Record<string, unknown>,
    name: string,
    call: ReadCall = {},
  ): Promise<HeaderRow[]> =>
    database
      .rows<Omit<HeaderRow, 'total_fee'> & { total_fee: string }>(
        `SELECT ${headerColumns} FROM ${table('blocks')} AS b WHERE ${condition}`,
        params,
        named(name, call),
      )
      .then((rows) => rows.map((row) => ({ ...row, total_fee: JSON.parse(row.total_fee) as Coin[] })));

  const removeAbove = async (name: string, height: number): Promise<void> => {
    const [found] = await database.rows<{ n: number }>(
      `SELECT count() AS n FROM ${table(name)} WHERE height > {height:UInt64}`,
      { height },
      named('look_above'),
    );
    if ((found?.n ?? 0) === 0) return;
    await database.command(
      `ALTER TABLE ${removable(name)} DELETE WHERE height > {height:UInt64}`,
      { height },
      named('remove_above'),
    );
  };

  /**
   * The last height up to which the material of a table fits; undefined when there is none.
   * Lengths are columns of their own to the engine: no material is read for this.
   */
  const lastThatFits = async (
    name: 'materials' | 'traces',
    from: number,
    to: number,
    most: Most,
  ): Promise<number | undefined> => {
    const sizes = await database.rows<{ height: number; size: number }>(
      `SELECT height, length(t.material) AS size FROM ${table(name)} AS t WHERE height BETWEEN {from:UInt64} AND {to:UInt64} ORDER BY height LIMIT {count:UInt32}`,
      { from, to, count: most.count },
      named(`${name}_sizes`),
    );
    return portion(sizes, ({ size }) => size, most).at(-1)?.height;
  };

  return {
    /**
     * Ties the tables to a chain, or checks that they are tied to it.
     *
     * @throws UserError when they hold another chain.
     */
    async claim(chain_id: string, vm_type: string): Promise<void> {
      const known = await this.chain();
      if (known === undefined) {
        await database.insert(
          `${table('chain')} (chain_id, vm_type)`,
          JSON.stringify({ chain_id, vm_type }),
          named('claim'),
        );
      } else if (known.chain_id !== chain_id || known.vm_type !== vm_type) {
        throw new UserError(
          `the data is of chain ${known.chain_id} (${known.vm_type}), but the node or the configuration says ${chain_id} (${vm_type}): use another DATA_DIR or CLICKHOUSE_DATABASE`,
        );
      }
    },

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
      const materials = blocks.map(({ header, material }) =>
        JSON.stringify({ height: header.height, material_base64: Buffer.from(material).toString('base64') }),
      );
      await fault('before materials');
      await database.insert(
        `${table('materials')} (height, material_base64)`,
        materials.join('\n'),
        named('write_materials'),
      );
      await fault('before headers');
      const rows = blocks.map(({ header }) =>
        JSON.stringify({ ...header, total_fee: JSON.stringify(header.total_fee) }),
      );
      await database.insert(table('blocks'), rows.join('\n'), named('write_headers'));
      await fault('after headers');
    },

    /** Writes consecutive traces. */
    async writeTraces(traces: readonly TraceRow[]): Promise<void> {
      await fault('before traces');
      const rows = traces.map(({ trace, state }) =>
        JSON.stringify({
          height: trace.height,
          block_hash: trace.block_hash,
          state,
          material_base64: Buffer.from(trace.material).toString('base64'),
        }),
      );
      await database.insert(
        `${table('traces')} (height, block_hash, state, material_base64)`,
        rows.join('\n'),
        named('write_traces'),
      );
      await fault('after traces');
    },

    /** Removes everything above a height, the headers first: what has no header does not exist. */
    async unwind(height: number): Promise<void> {
      await removeAbove('blocks', height);
      await fault('between removals');
      await removeAbove('materials', height);
      await removeAbove('traces', height);
    },

    /** First and last header; undefined while there is none. */
    async range(call: Call = {}): Promise<{ first: HeaderRow; last: HeaderRow } | undefined> {
      const [last] = await headers('1 ORDER BY height DESC LIMIT 1', {}, 'last', call);
      const [first] = await headers('1 ORDER BY height LIMIT 1', {}, 'first', call);
      return first === undefined || last === undefined ? undefined : { first, last };
    },

    /** One header; those that are asked for together are read together. */
    header: createBatcher<number, HeaderRow | undefined>({
      run: async (heights, call) => {
        const rows = await headers('height IN {heights:Array(UInt64)}', { heights }, 'header', call);
        const byHeight = new Map(rows.map((row) => [row.height, row]));
        return heights.map((height) => byHeight.get(height));
      },
      most: headersAtOnce,
      atOnce: 1,
    }),

    /** Headers of a range of heights (inclusive), ascending. */
    headers: (from: number, to: number, call: ReadCall = {}) =>
      headers('height BETWEEN {from:UInt64} AND {to:UInt64} ORDER BY height', { from, to }, 'headers', call),

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
      const last = await lastThatFits('materials', from, to, most);
      if (last === undefined) return [];
      const [rows, materials] = [
        await headers(
          'height BETWEEN {from:UInt64} AND {last:UInt64} ORDER BY height',
          { from, last },
          'raw_headers',
        ),
        readRowBinary(
          await database.bytes(
            `SELECT height, material FROM ${table('materials')} WHERE height BETWEEN {from:UInt64} AND {last:UInt64} ORDER BY height`,
            'RowBinary',
            { from, last },
            named('materials'),
          ),
        ),
      ];
      const byHeight = new Map<number, Buffer>();
      while (materials.more()) byHeight.set(materials.uint64(), materials.bytes());
      return rows.map(({ height, hash, parent_hash, timestamp, tx_count }) => {
        const material = byHeight.get(height);
        if (material === undefined) throw new Error(`block ${height} has no material`);
        return { height, hash, parent_hash, timestamp, tx_count, material };
      });
    },

    /** Traces as they are streamed, ascending, from a height on: so many as fit; at least one. */
    async traces(from: number, to: number, most: Most): Promise<RawTrace[]> {
      const last = await lastThatFits('traces', from, to, most);
      if (last === undefined) return [];
      const rows = readRowBinary(
        await database.bytes(
          `SELECT height, block_hash, material FROM ${table('traces')} WHERE height BETWEEN {from:UInt64} AND {last:UInt64} ORDER BY height`,
          'RowBinary',
          { from, last },
          named('traces'),
        ),
      );
      const traces: RawTrace[] = [];
      while (rows.more())
        traces.push({
          height: rows.uint64(),
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
