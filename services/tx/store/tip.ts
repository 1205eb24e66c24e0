import type { Call, Database } from '../../common/clickhouse/database.js';
import { type CutRow, countedCuts, cutTarget } from '../../common/cuts.js';
import { nothing, type Position, readPosition } from './cursor.js';
import type { Tables } from './tables.js';

/** How far the tables are, and what is being removed from them. */
export interface Tip {
  /** What readers may see: while a cut is under way, where it will end. */
  readonly position: Position;
  /** How many cuts have begun and ended: odd while one is under way. */
  readonly cuts: number;
  /** Height that a cut is under way to. */
  readonly cutTo: number | undefined;
  /** The last cut, as it is stored. */
  readonly cut: CutRow;
  /** Height of the last block in the tables, whether readers may see it or not. */
  readonly newest: number;
}

interface Row {
  readonly what: 'block' | 'internal' | 'cut';
  readonly number: number;
  readonly hash: string;
  readonly a: number;
  readonly b: number;
}

/** Reads how far the tables are, in one statement: processes that only serve do so for every answer. */
export async function readTip(database: Database, tables: Tables, call: Call = {}): Promise<Tip> {
  const rows = await database.rows<Row>(
    [
      `SELECT * FROM (SELECT 'block' AS what, height AS number, hash, last_sequence AS a, last_evm_sequence AS b FROM ${tables.of('blocks')} WHERE ends_batch ORDER BY height DESC LIMIT 1)`,
      `SELECT * FROM (SELECT 'internal' AS what, height AS number, '' AS hash, last_sequence AS a, toUInt64(0) AS b FROM ${tables.of('internal_blocks')} WHERE ends_batch ORDER BY height DESC LIMIT 1)`,
      `SELECT * FROM (SELECT 'cut' AS what, c.number AS number, '' AS hash, c.height AS a, c.top AS b FROM ${tables.of('cuts')} AS c ORDER BY c.number DESC LIMIT 1)`,
    ].join(' UNION ALL '),
    {},
    { name: 'tx.tip', ...call },
  );
  const rowOf = (what: Row['what']): Row | undefined => rows.find((row) => row.what === what);
  const [block, internal, last] = [rowOf('block'), rowOf('internal'), rowOf('cut')];
  const cut = { number: last?.number ?? 0, height: last?.a ?? 0, top: last?.b ?? 0 };
  const newest = block?.number ?? 0;
  const cutTo = cutTarget(cut, newest);
  const isPlain = cutTo === undefined && (internal?.number ?? 0) <= newest;
  const position = isPlain
    ? positionOf(block, internal)
    : await readPosition(database, tables, cutTo ?? newest, call);
  return { position, cuts: countedCuts(cut, newest), cutTo, cut, newest };
}

function positionOf(block: Row | undefined, internal: Row | undefined): Position {
  if (block === undefined) return nothing;
  return {
    ...{ height: block.number, hash: block.hash, internal_height: internal?.number ?? 0 },
    last: { tx: block.a, evm_tx: block.b, internal_tx: internal?.a ?? 0 },
  };
}
