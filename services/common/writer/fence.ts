import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { type Database, type Guard, hasEnded, type StatementOptions } from '../clickhouse/database.js';
import type { Target } from '../clickhouse/migrate.js';
import { FatalError, messageOf } from '../runtime/errors.js';
import { sleep } from '../runtime/lifecycle.js';
import type { Log } from '../runtime/log.js';
import { readEpoch, readWriters, type WriterRow, writersOf, writeWriter } from './writers.js';

/*
 * One writer. A process that is being replaced must never write beside its successor, whatever starts two: a drained
 * node, an autoscaler, a person. What holds:
 *
 * 1. A writer has an epoch, a number that only grows. Every insert of a writer takes effect only while its epoch is the
 *    newest when the statement starts, so a writer that was frozen and wakes up adds nothing.
 * 2. A new writer writes nothing before every earlier one has released the tables or has been silent for the lease, by
 *    the new writer's monotonic clock. The lease is the longer one where the two have different ones. A statement that
 *    inserts is ended by the server after half of the lease. One of a silent writer may have started just before the new
 *    epoch was there, so the new writer waits for that long afterwards.
 * 3. No time limit stops a mutation. A DELETE therefore names rows of its own epoch and earlier ones only. It comes after the
 *    head says down to which height the tables are lowered (repair.ts), which was read back. Whenever it runs, the next
 *    writer has removed those rows itself. Before each one it is read back that the inserts before it took effect: rows that
 *    go tell the next writer what it has to make again.
 * 4. A statement whose end is not known may still run, or lie in a proxy and reach the server hours later. Before anything is
 *    read or written after it, the writer takes the next epoch: then a late insert adds nothing, and a late DELETE finds
 *    nothing that was written since. What has started before that is waited for, as in 2.
 *
 * The embedded engine locks its folder, so nobody else can write: there the epoch is all that is needed.
 */

/** Another process writes the tables by now. This one must end. */
export class Superseded extends FatalError {
  override name = 'Superseded';
}

/** A database as the one writer of tables uses it. */
export interface FencedDatabase extends Database {
  /** Number of the next version of rows of views: larger than every one before, of this writer and of earlier ones. */
  nextVersion(): string;
  /**
   * Inserts what a query gives.
   *
   * @param table the qualified table.
   * @param columns those that the query gives, in its order.
   */
  insertSelect(
    table: string,
    columns: readonly string[],
    select: string,
    params: Readonly<Record<string, unknown>>,
    options: StatementOptions,
  ): Promise<void>;
  /**
   * Makes sure that everything that was written so far took effect.
   *
   * @throws Superseded when another process writes the tables.
   */
  confirm(): Promise<void>;
  /**
   * Removes rows that this writer or an earlier one has written, once it is certain that everything before took effect.
   *
   * @param table as `TableNames.removable` gives it.
   * @throws Superseded as `confirm` does.
   */
  remove(
    table: string,
    condition: string,
    params: Readonly<Record<string, unknown>>,
    options: StatementOptions,
  ): Promise<void>;
}

export interface FenceOptions {
  readonly database: Database;
  /** Where the table of writers is. */
  readonly target: Target;
  /** What is written: '' for all tables of a service, or a program. */
  readonly scope: string;
  /** What is written in messages: `the tables of the tx service`. */
  readonly what: string;
  /** How long a writer is silent before it counts as gone, in milliseconds. */
  readonly lease_ms: number;
  readonly log: Log;
  /** Told the epoch when this process may write, and 0 when it may no longer. */
  readonly onEpoch?: ((epoch: number) => void) | undefined;
  /** Called once, when another process has taken over. */
  readonly onSuperseded: (error: Superseded) => void;
  /**
   * The newest epoch of the rows that are there, asked for where there was no writer yet; undefined where there are no rows.
   * Rows are older than their writers when a version of weft without a fence wrote them, or when they were copied.
   */
  readonly rowEpoch?: (() => Promise<number | undefined>) | undefined;
}

/** The right to write some tables. */
export interface Fence {
  /** The writer's number; 0 while it may not write. */
  readonly epoch: number;
  /** What keeps this process from writing; '' once nothing does. */
  readonly notReadyReason: string;
  /** A database for what is written under this fence. */
  over(database: Database): FencedDatabase;
  /**
   * Waits until no other process writes, and takes over. A process that writes is never interrupted: it has to end, or to
   * fall silent for the lease.
   *
   * @returns false when the signal came first.
   */
  acquire(signal: AbortSignal): Promise<boolean>;
  /** Lets the next writer begin at once. To be called when nothing is written any more. Never rejects. */
  release(): Promise<void>;
}

/** The version of rows by the writer's epoch, and by how many it has given out; as text, since it may be above 2^53. */
const versionOf = (epoch: number, count: number): string => String((BigInt(epoch) << 40n) | BigInt(count));

/** The statement that inserts what a query gives, if a condition holds when it starts. */
function insertSelectSql(table: string, columns: readonly string[], select: string, condition = ''): string {
  const names = columns.join(', ');
  return `INSERT INTO ${table} (${names}, epoch) SELECT ${names}, {guard_epoch:UInt64} FROM (${select})${condition === '' ? '' : ` WHERE ${condition}`}`;
}

/** Writers of this process that have no fence: each writes later versions than those before. */
let soleWriters = 0;

/** A database whose tables nobody else writes: for programs that make tables of their own. */
export function soleWriter(database: Database): FencedDatabase {
  const epoch = ++soleWriters;
  let versions = 0;
  return {
    ...database,
    nextVersion: () => versionOf(epoch, ++versions),
    insertSelect: (table, columns, select, params, options) =>
      database.command(insertSelectSql(table, columns, select), { ...params, guard_epoch: epoch }, options),
    insert: (table, rows, options) =>
      database.insert(table, rows, {
        ...options,
        guard: { epoch, condition: undefined, limit_seconds: undefined },
      }),
    remove: (table, condition, params, options) =>
      database.command(`DELETE FROM ${table} WHERE ${condition}`, params, options),
    confirm: async () => {},
  };
}

/** Signs of life in a lease; how often others are looked at in a lease. */
const [beatsInLease, looksInLease] = [6, 40];

/** Makes a fence; nothing is written before `acquire`. */
export function createFence(options: FenceOptions): Fence {
  const { database, target, scope, what, lease_ms, log } = options;
  const id = randomUUID();
  const host = `${hostname()}/${process.pid}`;
  const stopping = new AbortController();
  let [epoch, beat] = [0, 0];
  let isHeld = false;
  let isLost: Superseded | undefined;
  let beating: Promise<void> | undefined;
  let notReadyReason = `${what} are not being written yet`;
  /** Versions given out. */
  let versions = 0;
  /** Statements that write and have not ended. */
  const running = new Set<Promise<unknown>>();
  /** Whether one has failed in a way that does not tell whether it has ended. */
  let isUncertain = false;
  let isRenewing = false;
  let renewal: Promise<void> | undefined;
  /** From when on nothing runs any more that has started under an earlier epoch, by the monotonic clock. */
  let quietFrom = 0;

  const row = (is_released: boolean): WriterRow => ({ scope, epoch, id, beat, lease_ms, is_released, host });

  const lose = (newest: number): Superseded => {
    if (isLost !== undefined) return isLost;
    isLost = new Superseded(
      `another process writes ${what} by now (writer ${newest}, this one is ${epoch}): this process stops. Run one writer only`,
    );
    notReadyReason = isLost.message;
    stopping.abort();
    options.onEpoch?.(0);
    options.onSuperseded(isLost);
    return isLost;
  };

  /** @throws Superseded, or Error before the fence is acquired. */
  const assertHeld = (): void => {
    if (isLost !== undefined) throw isLost;
    if (!isHeld) throw new Error(notReadyReason);
  };

  /** Whether no other process writes; undefined while this one takes its next epoch. */
  const isNewest = async (): Promise<boolean | undefined> => {
    const before = epoch;
    const newest = await readEpoch(database, target, scope);
    if (newest === epoch) return true;
    if (isRenewing || epoch !== before) return undefined;
    const writers = await readWriters(database, target, scope);
    const other = writers.find((writer) => writer.epoch > epoch && writer.id !== id);
    if (other !== undefined) throw lose(other.epoch);
    // This one has taken it itself, and never learnt that it had: it is taken for good before anything else.
    if (epoch === before) isUncertain = true;
    return undefined;
  };

  const confirm = async (): Promise<void> => {
    assertHeld();
    if (database.isExclusive) return;
    do await settle();
    while ((await isNewest()) === undefined);
  };

  const guard = (): Guard => {
    assertHeld();
    return {
      epoch,
      condition: database.isExclusive
        ? undefined
        : {
            sql: `(SELECT max(w.epoch) FROM ${writersOf(target)} AS w WHERE w.scope = {guard_scope:String}) = {guard_epoch:UInt64}`,
            params: { guard_scope: scope },
          },
      limit_seconds: database.isExclusive ? undefined : lease_ms / 2 / 1_000,
    };
  };

  /** Takes the next epoch. @throws Superseded, and what the database throws. */
  const takeNext = async (): Promise<void> => {
    const newest = await readEpoch(database, target, scope);
    // An earlier attempt may have failed and written it all the same.
    if (newest === epoch) await writeWriter(database, target, { ...row(false), epoch: epoch + 1, beat: 0 });
    const writers = await readWriters(database, target, scope);
    // Whoever else takes an epoch has found this process silent for the lease.
    const other = writers.find((writer) => writer.epoch > epoch && writer.id !== id);
    if (other !== undefined) throw lose(other.epoch);
    const mine = writers.filter((writer) => writer.id === id);
    [epoch, beat] = [Math.max(...mine.map((writer) => writer.epoch)), 0];
    quietFrom = performance.now() + lease_ms / 2;
    options.onEpoch?.(epoch);
    log.warn(
      { epoch },
      `it is not known whether a statement on ${what} has ended: the next epoch makes it void`,
    );
    // By two: a sign of life under the earlier epoch may be on its way.
    for (const earlier of mine.filter((writer) => writer.epoch < epoch && !writer.is_released)) {
      const released = { ...earlier, beat: earlier.beat + 2, is_released: true };
      // Without it the next writer waits a lease.
      await writeWriter(database, target, released).catch((error: unknown) =>
        log.warn({ err: error }, `an earlier epoch could not be released: ${messageOf(error)}`),
      );
    }
  };

  const renew = async (): Promise<void> => {
    // What this process itself sends must not meet a newer epoch: it would add nothing.
    await Promise.allSettled(running);
    isRenewing = true;
    try {
      await takeNext();
      isUncertain = false;
    } finally {
      isRenewing = false;
      renewal = undefined;
    }
  };

  /** Makes sure that no earlier statement takes effect after this. @throws as `takeNext`. */
  const settle = async (): Promise<void> => {
    while (isUncertain) {
      assertHeld();
      renewal ??= renew();
      await renewal;
    }
    const rest = quietFrom - performance.now();
    if (rest > 0) await sleep(rest);
  };

  /** Runs a statement that writes. */
  const writing = async <T>(work: () => Promise<T>): Promise<T> => {
    if (database.isExclusive) return work();
    // Nothing may come between the last look and the start.
    do await settle();
    while (isUncertain || performance.now() < quietFrom);
    assertHeld();
    const run = work();
    running.add(run);
    try {
      return await run;
    } catch (error) {
      if (!hasEnded(error)) isUncertain = true;
      throw error;
    } finally {
      running.delete(run);
    }
  };

  const giveSign = async (): Promise<void> => {
    beat += 1;
    await writeWriter(database, target, row(false));
  };

  /** Says every now and then that this writer is alive, and looks whether it still is the newest. */
  const live = async (): Promise<void> => {
    const { signal } = stopping;
    for (;;) {
      await sleep(lease_ms / beatsInLease, signal);
      if (signal.aborted) return;
      try {
        await giveSign();
        await isNewest();
      } catch (error) {
        if (error instanceof Superseded) return;
        log.warn({ err: error }, `no sign of life could be given for ${what}: ${messageOf(error)}`);
      }
    }
  };

  /** The newest epoch that there is, of writers or of rows. */
  const newestEpoch = async (): Promise<number> =>
    (await readEpoch(database, target, scope)) || ((await options.rowEpoch?.()) ?? 0);

  /** Takes the next epoch, alone. */
  const draw = async (): Promise<void> => {
    for (;;) {
      epoch = (await newestEpoch()) + 1;
      beat = 0;
      await writeWriter(database, target, row(false));
      const drawn = (await readWriters(database, target, scope)).filter((other) => other.epoch === epoch);
      if (drawn.every((other) => other.id === id)) return;
      await abandon();
      await sleep(Math.random() * 100);
    }
  };

  /** Gives up an epoch under which nothing was written. */
  const abandon = (): Promise<void> => writeWriter(database, target, { ...row(true), beat: beat + 1 });

  /** When each writer was first seen as it is, by the monotonic clock. */
  const seen = new Map<string, { readonly beat: number; readonly since: number }>();

  const isSilent = (other: WriterRow): boolean => {
    const key = `${other.epoch} ${other.id}`;
    const now = performance.now();
    if (seen.get(key)?.beat !== other.beat) seen.set(key, { beat: other.beat, since: now });
    return now - (seen.get(key)?.since ?? now) >= Math.max(lease_ms, other.lease_ms);
  };

  /**
   * Waits until every other writer with an epoch below a limit has released the tables or is silent.
   *
   * @param from not before this, by the monotonic clock.
   * @returns those that are silent; undefined when the signal came first, or somebody with a higher epoch.
   */
  const othersGone = async (
    below: number,
    from: number,
    signal: AbortSignal,
  ): Promise<WriterRow[] | undefined> => {
    let hasSaid = false;
    while (!signal.aborted) {
      const others = (await readWriters(database, target, scope)).filter((other) => other.id !== id);
      if (others.some((other) => other.epoch > below)) return undefined;
      const unreleased = others.filter((other) => !other.is_released);
      const alive = unreleased.filter((other) => !isSilent(other));
      if (alive.length === 0 && performance.now() >= from) return unreleased;
      if (alive.length > 0) {
        notReadyReason = `${alive.map((other) => other.host).join(', ')} writes ${what}, or did until a moment ago: waiting until it has ended`;
        if (!hasSaid) log.info({ lease_ms }, notReadyReason);
        hasSaid = true;
      }
      // Whoever has drawn an epoch must not be taken for one that is gone.
      if (below === epoch) await giveSign();
      await sleep(lease_ms / looksInLease, signal);
    }
    return undefined;
  };

  /** An older version gives no signs of life: it is given a lease to end in. */
  const unfencedGone = async (signal: AbortSignal): Promise<boolean> => {
    const isFirst = (await readEpoch(database, target, scope)) === 0;
    if (isFirst && (await options.rowEpoch?.()) !== undefined) {
      notReadyReason = `${what} were written by an older version of weft: waiting ${lease_ms} ms until it has ended for certain`;
      log.info(notReadyReason);
      await sleep(lease_ms, signal);
    }
    return !signal.aborted;
  };

  /** Tries to take over once. @returns whether this process writes; if not, another one goes first. */
  const attempt = async (signal: AbortSignal): Promise<boolean> => {
    if (!(await unfencedGone(signal))) return false;
    const before = await othersGone(Number.POSITIVE_INFINITY, 0, signal);
    if (before === undefined) return false;
    await draw();
    // Others may draw at the same time, also a moment later: the highest epoch goes first.
    const wait_ms = Math.max(lease_ms / looksInLease, ...before.map((other) => other.lease_ms / 2));
    const silent = await othersGone(epoch, performance.now() + wait_ms, signal);
    if (silent === undefined || (await readEpoch(database, target, scope)) !== epoch) {
      await abandon();
      return false;
    }
    // The next writer need not wait for those again.
    for (const other of silent)
      await writeWriter(database, target, { ...other, beat: other.beat + 1, is_released: true });
    hold();
    return true;
  };

  const hold = (): void => {
    isHeld = true;
    notReadyReason = '';
    options.onEpoch?.(epoch);
    log.info({ epoch }, `this process writes ${what}`);
    if (!database.isExclusive) beating = live();
  };

  return {
    get epoch() {
      return isHeld ? epoch : 0;
    },
    get notReadyReason() {
      return notReadyReason;
    },
    async acquire(signal) {
      if (isHeld) return true;
      if (database.isExclusive) {
        epoch = (await newestEpoch()) + 1;
        await writeWriter(database, target, row(false));
        hold();
        return true;
      }
      while (!signal.aborted) {
        try {
          if (await attempt(signal)) return true;
        } catch (error) {
          notReadyReason = `the writer of ${what} could not be settled: ${messageOf(error)}`;
          log.warn({ err: error }, notReadyReason);
          await sleep(lease_ms / beatsInLease, signal);
        }
      }
      return false;
    },
    over: (inner) => ({
      isExclusive: inner.isExclusive,
      command: (sql, params, statement) => writing(() => inner.command(sql, params, statement)),
      rows: <T>(sql: string, params: Readonly<Record<string, unknown>>, statement: StatementOptions) =>
        inner.rows<T>(sql, params, statement),
      bytes: (sql, format, params, statement) => inner.bytes(sql, format, params, statement),
      async insert(table, rows, statement) {
        await writing(() => inner.insert(table, rows, { ...statement, guard: guard() }));
      },
      async remove(table, condition, params, statement) {
        await confirm();
        await writing(() =>
          inner.command(
            `DELETE FROM ${table} WHERE (${condition}) AND epoch <= {guard_epoch:UInt64}`,
            { ...params, guard_epoch: epoch },
            statement,
          ),
        );
      },
      confirm,
      nextVersion() {
        assertHeld();
        return versionOf(epoch, ++versions);
      },
      // With the same limit as other inserts: rows that come late have an earlier version than those written by then, but a
      // compaction may have dropped the deleted row that would hide them.
      async insertSelect(table, columns, select, params, statement) {
        await writing(() => {
          const { condition, limit_seconds } = guard();
          return inner.command(
            insertSelectSql(table, columns, select, condition?.sql),
            { ...params, ...condition?.params, guard_epoch: epoch },
            limit_seconds === undefined
              ? statement
              : { ...statement, deadline: Date.now() + limit_seconds * 1_000 },
          );
        });
      },
      close: () => inner.close(),
    }),
    async release() {
      stopping.abort();
      await beating;
      if (!isHeld || isLost !== undefined) return;
      isHeld = false;
      notReadyReason = `${what} are released to the next writer`;
      options.onEpoch?.(0);
      if (isUncertain || performance.now() < quietFrom) {
        log.warn(`the next writer has to wait ${lease_ms} ms: statements on ${what} may still run`);
        return;
      }
      try {
        beat += 1;
        await writeWriter(database, target, row(true));
        log.info({ epoch }, `${what} are released`);
      } catch (error) {
        log.warn({ err: error }, `the next writer has to wait ${lease_ms} ms: ${messageOf(error)}`);
      }
    },
  };
}
