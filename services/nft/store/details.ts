import type { AccountKey } from '../../common/chain/address.js';
import type { Database } from '../../common/clickhouse/database.js';
import type { FaultPoint } from '../../common/fault.js';
import { insertAll, insertInto } from './insert.js';
import { lookUpClasses, lookUpOrigins } from './lookups.js';
import { endOf } from './place.js';
import { movedRows, shownRows, type TableRows } from './rows.js';
import type { Tables } from './tables.js';
import type { Ask, ShownCollection } from './types.js';

/** A row of `uris`, without its version. */
export interface UriRow {
  readonly collection: AccountKey;
  readonly id_key: string;
  readonly uri: string;
  readonly at: number;
}

/** A row of `jobs`, without its version. */
export interface Job extends Ask {
  readonly state: 'pending' | 'failed' | 'done';
  readonly attempts: number;
  readonly next_ms: number;
  readonly error: string;
}

/** What is being asked of the node, as a process that starts finds it when the one before it has died. */
export interface Trying {
  /** Asks up to this place; 0 for none. */
  readonly trying_asks: number;
  /** Jobs that were due up to then, in milliseconds since the epoch; 0 for none. */
  readonly trying_jobs: number;
  /** 0 for a round of many tasks; of one that is tried alone, how often a process has ended with it under way. */
  readonly deaths: number;
}

/** Nothing is being asked. */
export const notTrying: Trying = { trying_asks: 0, trying_jobs: 0, deaths: 0 };

/** What was learnt from the node, to be written together. */
export interface Details {
  readonly shown: readonly ShownCollection[];
  /** Collections as they were shown, where they stand elsewhere in the list now. */
  readonly moved: readonly ShownCollection[];
  readonly uris: readonly UriRow[];
  readonly jobs: readonly Job[];
  /** Every ask up to this place is answered, or is a job. */
  readonly asked?: number | undefined;
  /** With `asked`: what is being asked of the node from now on. Default: nothing. */
  readonly trying?: Trying | undefined;
}

/** Writes details: what they say first, that they were asked for last. */
export async function writeDetails(
  database: Database,
  tables: Tables,
  details: Details,
  nextVersion: () => number,
  fault: FaultPoint,
): Promise<void> {
  const version = nextVersion();
  const versioned = (rows: readonly object[]): string[] =>
    rows.map((row) => JSON.stringify({ ...row, version }));
  const rows: TableRows[] = [
    ...movedRows(details.moved, version),
    ...shownRows(details.shown, nextVersion()),
    ['uris', versioned(details.uris)],
    ['jobs', versioned(details.jobs)],
    [
      'asked',
      details.asked === undefined
        ? []
        : versioned([{ id: 1, at: details.asked, ...(details.trying ?? notTrying) }]),
    ],
  ];
  await insertAll(database, tables, rows, fault);
}

/** How far the asks have been worked off, and what was being asked. */
export async function readAsked(database: Database, tables: Tables): Promise<Trying & { at: number }> {
  const [row] = await database.rows<Trying & { at: number }>(
    `SELECT at, trying_asks, trying_jobs, deaths FROM ${tables.of('asked')} ORDER BY version DESC LIMIT 1`,
    {},
    { name: 'nft.asked', priority: 'write' },
  );
  return row ?? { at: 0, ...notTrying };
}

/** The highest version there is: later ones must be above it, whatever the clock says. */
export async function readVersion(database: Database, tables: Tables): Promise<number> {
  let highest = 0;
  for (const name of ['collections', 'uris', 'jobs', 'asked'] as const) {
    const [row] = await database.rows<{ version: number }>(
      `SELECT max(t.version) AS version FROM ${tables.of(name)} AS t`,
      {},
      { name: 'nft.version', priority: 'write' },
    );
    highest = Math.max(highest, row?.version ?? 0);
  }
  return highest;
}

/**
 * Prepares a rollback of what was learnt from the node: what stays is shown as it was, and
 * whatever the removed blocks had made us ask for is asked again. To be done before the rows
 * are removed, and harmless to do twice.
 *
 * @param moveNames whether the chain itself says the names.
 */
export async function saveDetailsBelow(
  database: Database,
  tables: Tables,
  height: number,
  moveNames: boolean,
  nextVersion: () => number,
  fault: FaultPoint,
): Promise<void> {
  const end = endOf(height);
  const options = { name: 'nft.save_details', priority: 'write' as const };
  const asks = await database.rows<Ask>(
    `SELECT DISTINCT subject, collection, first_key, last_key FROM ${tables.of('asks')} WHERE at > {end:UInt64}`,
    { end },
    options,
  );
  const shown = await database.rows<ShownCollection>(
    `SELECT collection, born_at, creator, name, origin_name, timestamp FROM ${tables.of('collections')} WHERE at > {end:UInt64} ORDER BY version`,
    { end },
    options,
  );
  const named = [...new Set([...asks, ...shown].map(({ collection }) => collection))];
  const origins = await lookUpOrigins(database, tables, named, end);
  const jobs = asks
    .filter(({ collection }) => origins.has(collection))
    .map((ask) => ({ ...ask, at: end, state: 'pending', attempts: 0, next_ms: 0, error: '' }));
  const restored = new Map<AccountKey, ShownCollection>();
  for (const row of shown) {
    const origin = origins.get(row.collection);
    if (origin === undefined) continue;
    const name = moveNames && origin.name !== '' ? origin.name : row.name;
    const creator = origin.creator || row.creator;
    const { born_at, timestamp } = origin;
    restored.set(row.collection, { ...row, name, creator, born_at, timestamp, at: end });
  }
  if (moveNames) await nameAtHome(database, tables, restored);
  const version = nextVersion();
  await insertInto(
    database,
    tables,
    'jobs',
    jobs.map((job) => JSON.stringify({ ...job, version })),
    fault,
  );
  await insertAll(database, tables, shownRows([...restored.values()], nextVersion()), fault);
  if ((await readAsked(database, tables)).at > end)
    await insertInto(
      database,
      tables,
      'asked',
      [JSON.stringify({ id: 1, at: end, version: nextVersion() })],
      fault,
    );
}

async function nameAtHome(
  database: Database,
  tables: Tables,
  restored: Map<AccountKey, ShownCollection>,
): Promise<void> {
  const classes = await lookUpClasses(
    database,
    tables,
    [...restored.values()].map(({ name }) => name),
  );
  for (const [collection, row] of restored)
    restored.set(collection, { ...row, origin_name: classes.get(row.name) ?? '' });
}
