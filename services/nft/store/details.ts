import type { AccountKey } from '../../common/chain/address.js';
import type { Database } from '../../common/clickhouse/database.js';
import { nameRow, type TableRows } from './rows.js';
import type { FactName, QueueName, Tables } from './tables.js';
import type { Ask, CollectionName } from './types.js';

/** A row of `token_uris`, without its version. */
export interface UriRow {
  readonly collection: AccountKey;
  readonly id_key: string;
  readonly uri: string;
  /** The node has no uri to say: that of the chain stands. */
  readonly is_void: boolean;
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
  readonly names: readonly CollectionName[];
  readonly uris: readonly UriRow[];
  readonly jobs: readonly Job[];
  /** Every ask up to this place is answered, or is a job. */
  readonly asked?: number | undefined;
  /** With `asked`: what is being asked of the node from now on. Default: nothing. */
  readonly trying?: Trying | undefined;
}

/** Details that say nothing. */
export const noDetails: Details = { names: [], uris: [], jobs: [] };

/** The facts of details: what the node said. */
export const detailFacts = ({ names, uris }: Details, version: number): TableRows<FactName>[] => [
  ['token_uris', uris.map((row) => JSON.stringify({ ...row, version }))],
  ['collection_names', names.map((name) => JSON.stringify(nameRow(name, 'node', version)))],
];

/** What is to be asked after details are known: to be written after everything that they say. */
export function queueRows({ jobs, asked, trying }: Details, version: number): TableRows<QueueName>[] {
  const progress =
    asked === undefined ? [] : [JSON.stringify({ id: 1, at: asked, ...(trying ?? notTrying), version })];
  return [
    ['jobs', jobs.map((row) => JSON.stringify({ ...row, version }))],
    ['asked', progress],
  ];
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
  const versions = (['collection_names', 'token_uris', 'jobs', 'asked'] as const).map(
    (name) => `SELECT max(t.version) AS version FROM ${tables.of(name)} AS t`,
  );
  const [row] = await database.rows<{ highest: number }>(
    `SELECT max(version) AS highest FROM (${versions.join(' UNION ALL ')})`,
    {},
    { name: 'nft.version', priority: 'write' },
  );
  return row?.highest ?? 0;
}
