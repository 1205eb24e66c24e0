import { status } from '@grpc/grpc-js';
import type { TableNames } from '../clickhouse/database.js';
import { type Conditions, countRows, removeFromAll } from '../clickhouse/remove.js';
import type { Cursor } from '../consumer/consume.js';
import { RpcError } from '../runtime/errors.js';
import type { FaultPoint } from '../runtime/lifecycle.js';
import type { Log } from '../runtime/log.js';
import { atMost, chunks } from '../util/chunk.js';
import { createSlices } from '../util/concurrency.js';
import type { FencedDatabase } from './fence.js';
import {
  type Columns,
  countedRepairs,
  type HeadRow,
  type HeadTable,
  readHead,
  type ViewState,
  writeHead,
} from './head-table.js';
import { isUnderWay, readRollback, rollbackTarget, writeRollback } from './rollback-record.js';
import { type ComparedPart, type Comparison, compareViews, repairViews, type ViewSet } from './views.js';

/** What the head of tables is kept, and the tables repaired, with. */
export interface RepairOptions<Position extends Cursor, Name extends string> {
  readonly database: FencedDatabase;
  readonly tables: TableNames<Name>;
  readonly head: HeadTable<Position>;
  readonly views: readonly ViewSet<Name>[];
  /**
   * The facts above a position, which gives the parameters. Those that views follow from come last: they tell a repair
   * that was cut off what it has to do.
   */
  readonly above: Conditions<Name>;
  /** Rows of a view that one statement writes at most: readers see all of them or none. Default: 150,000. */
  readonly viewRows?: number | undefined;
  readonly fault: FaultPoint;
  readonly log: Log;
  /** Told how far it is while all views are made from facts; '' once they are there. */
  readonly onRebuild?: ((progress: string) => void) | undefined;
  /** Told how many repairs have begun and ended, whenever that is known anew: readers in this process go by it. */
  readonly onRepairs?: ((count: number) => void) | undefined;
}

/** Rows of a view, as lines of JSON. */
export type ViewRows<Name extends string> = readonly [view: Name, lines: Iterable<string>];

/** The head of tables as their one writer moves it. After a failure `find` and `repair` come before anything else. */
export interface WriterHead<Position extends Cursor, Name extends string> {
  /**
   * Reads where the tables are.
   *
   * @param first what it is where there is no head yet.
   */
  find(first: () => Promise<HeadRow<Position>>): Promise<HeadRow<Position>>;
  /** Moves it on: everything up to there is written. */
  advance(position: Position): Promise<void>;
  /**
   * Writes rows of views, those of each view with one statement. Where they are too many for that, or are not all that the
   * next `advance` makes count, the views count as being repaired until then.
   */
  writeViews(views: readonly ViewRows<Name>[], isAll?: boolean): Promise<void>;
  /**
   * Compares the views with what the facts give, a part at a time.
   *
   * @throws RpcError UNAVAILABLE while the views are being made or repaired.
   */
  compareViews(comparison?: Comparison): AsyncGenerator<ComparedPart, void, undefined>;
  /**
   * The one repair, for a crash and for a rollback. Each step may run twice, late, or be cut off: the head is lowered first,
   * the views are made what they are there, and the facts above go last.
   *
   * @param to at or below the head that was found.
   * @param onLowered told once readers of the tables find the lower head, before anything else changes.
   * @returns how many rows were removed.
   */
  repair(to: Position, onLowered?: () => void): Promise<number>;
}

/** Rows of a view that one statement writes, and their characters. */
const [defaultViewRows, viewCharacters] = [150_000, 24 * 1024 * 1024];

/** Makes the head of tables for their writer. */
export function createWriterHead<Position extends Cursor, Name extends string>(
  options: RepairOptions<Position, Name>,
): WriterHead<Position, Name> {
  const { database, tables, head, views, above, fault, log, onRebuild, onRepairs } = options;
  const viewRows = options.viewRows ?? defaultViewRows;
  let row: HeadRow<Position> | undefined;

  const found = (): HeadRow<Position> => {
    if (row === undefined) throw new Error(`nobody has looked where ${head.table} is`);
    return row;
  };

  const write = async (next: HeadRow<Position>): Promise<void> => {
    await fault('write head');
    await writeHead(database, head, next);
    row = next;
    onRepairs?.(countedRepairs(next));
  };

  /** Makes the views what they are at a position. @param all of every key, which may take minutes. */
  const repairAll = async (position: Columns, all: boolean): Promise<void> => {
    const environment = { of: tables.of, position, name: head.name };
    const names = [...new Set(views.flatMap((set) => set.views.map(({ table }) => table)))];
    let current: Name | undefined;
    const onStatement = async (table: Name): Promise<void> => {
      await fault(`repair ${table}`);
      if (!all || table === current) return;
      current = table;
      const progress = `views are being made from facts: ${table}, ${names.indexOf(table) + 1} of ${names.length}`;
      log.info(progress);
      onRebuild?.(progress);
    };
    for (const set of views) await repairViews(database, environment, set, all, onStatement);
    onRebuild?.('');
  };

  return {
    async find(first) {
      // What failed before takes no effect after this.
      await database.confirm();
      row = (await readHead(database, head, { priority: 'write' })) ?? (await first());
      onRepairs?.(countedRepairs(row));
      return row;
    },
    advance: (position) => write({ ...found(), position, views: 'whole' }),
    async writeViews(rows, isAll = true) {
      const { position, rollbacks, views: state } = found();
      let isPartial = state === 'repairing';
      const sayPartial = async (): Promise<void> => {
        if (!isPartial) await write({ position, views: 'repairing', rollbacks: rollbacks + 1 });
        isPartial = true;
      };
      if (!isAll) await sayPartial();
      const turn = createSlices();
      for (const [view, lines] of rows) {
        const parts = chunks(lines, atMost(viewRows), { most: viewCharacters, of: ({ length }) => length });
        for (let part = parts.next(); !part.done; ) {
          await turn(); // the lines are made while they are asked for
          const next = parts.next();
          if (!next.done) await sayPartial();
          await fault(`write ${view}`);
          const statement = { name: `${head.name}.write_${view}`, priority: 'write' as const };
          await database.insert(tables.of(view), part.value.join('\n'), statement);
          part = next;
        }
      }
    },
    async *compareViews(comparison) {
      const environment = {
        of: tables.of,
        name: head.name,
        get position() {
          if (row?.views !== 'whole')
            throw new RpcError(
              status.UNAVAILABLE,
              'the views are being made or repaired: try again in a while',
            );
          return head.toColumns(row.position);
        },
      };
      yield* compareViews(database, environment, views, comparison);
    },
    async repair(to, onLowered) {
      const { position, rollbacks, ...before } = found();
      const params = head.toColumns(to);
      const remove = { database, tables, fault, name: `${head.name}.remove_above` };
      const counts = await countRows(remove, above, params);
      const isTouched = before.views !== 'whole' || views.some(({ facts }) => (counts.get(facts) ?? 0) > 0);
      const at = head.toColumns(position);
      const isSame = head.columns.every((column) => params[column] === at[column]);
      const state: ViewState =
        before.views === 'rebuilding' ? 'rebuilding' : isTouched ? 'repairing' : 'whole';
      if (isTouched || !isSame) await write({ position: to, views: state, rollbacks: rollbacks + 1 });
      onLowered?.();
      if (isTouched) await repairAll(params, state === 'rebuilding');
      const removed = await removeFromAll(remove, above, params, counts);
      if (isTouched) await write({ position: to, views: 'whole', rollbacks: rollbacks + 1 });
      return removed;
    },
  };
}

/**
 * Where tables are that have no head: new ones, or those of an earlier version, whose facts stay and whose views are yet
 * to be made. Processes of the earlier version that still serve are made to say that they cannot answer, since nothing of
 * what they read moves any more.
 *
 * @param known what blocks do not say of the position.
 */
export async function headBefore<Position extends Cursor>(
  database: FencedDatabase,
  head: HeadTable<Position>,
  known?: Position,
): Promise<HeadRow<Position>> {
  const { name, cuts } = head;
  const positionAt = (height: number) => head.positionAt(database, height, { priority: 'write' }, known);
  const newest = await positionAt(Number.MAX_SAFE_INTEGER);
  if (newest.height === 0) return { position: newest, views: 'whole', rollbacks: 0 };
  const last = await readRollback(database, cuts, `${name}.earlier_rollback`);
  const height = rollbackTarget(last, newest.height) ?? newest.height;
  const position = height < newest.height ? await positionAt(height) : newest;
  if (!isUnderWay(last))
    await writeRollback(database, cuts, `${name}.earlier_rollback`, {
      number: last.number + 1,
      height: position.height,
      top: newest.height,
    });
  return { position, views: 'rebuilding', rollbacks: 0 };
}
