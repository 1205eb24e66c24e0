import type { FaultPoint } from '../../common/runtime/lifecycle.js';
import type { FencedDatabase } from '../../common/writer/fence.js';
import { notTrying, readAsked } from './details.js';
import type { Tables } from './tables.js';
import { endOf } from './token.js';

export interface AskAgainOptions {
  readonly database: FencedDatabase;
  readonly tables: Tables;
  /** Whether the node is asked about tokens: on Move blocks say their uris. */
  readonly asksForTokens: boolean;
  readonly nextVersion: () => number;
  readonly fault: FaultPoint;
}

/** A job as it is when it is noted. */
const newJob =
  "{end:UInt64} AS at, 'pending' AS state, 0 AS attempts, 0 AS next_ms, '' AS error, {version:UInt64} AS version";
const jobColumns = ['at', 'state', 'attempts', 'next_ms', 'error'] as const;

/**
 * Notes what has to be asked of the node again after a rollback: whatever the removed blocks had made us ask for, and the
 * tokens that are as they were before, since one that is there again may never have been asked about. To be done before
 * facts are removed, and harmless to do twice.
 */
export async function askAgainAbove(
  { database, tables, asksForTokens, nextVersion, fault }: AskAgainOptions,
  height: number,
): Promise<void> {
  const end = endOf(height);
  const options = { name: 'nft.ask_again', priority: 'write' as const };
  const version = nextVersion();
  const columns = ['subject', 'collection', 'first_key', 'last_key', ...jobColumns, 'version'];
  await fault('write jobs');
  await database.insertSelect(
    tables.of('jobs'),
    columns,
    `SELECT DISTINCT subject, collection, first_key, last_key, ${newJob}
     FROM (
       SELECT a.subject AS subject, a.collection AS collection, a.first_key AS first_key, a.last_key AS last_key
       FROM ${tables.of('asks')} AS a
       WHERE a.at > {end:UInt64} AND a.collection GLOBAL IN (
         SELECT b.collection AS collection
         FROM ${tables.of('births')} AS b
         WHERE b.at <= {end:UInt64} AND b.kind != 'renamed'
       )
     )`,
    { end, version },
    options,
  );
  if (asksForTokens) {
    await fault('write jobs of tokens');
    await database.insertSelect(
      tables.of('jobs'),
      columns,
      `SELECT 'tokens' AS subject, collection, id_key AS first_key, id_key AS last_key, ${newJob}
       FROM (
         SELECT
           h.collection AS collection,
           h.id_key AS id_key,
           argMaxIf(h.kind, h.at, h.kind IN ('mint', 'transfer', 'burn')) AS kind
         FROM ${tables.of('history')} AS h
         WHERE h.at <= {end:UInt64} AND (h.collection, h.id_key) GLOBAL IN (
           SELECT above.collection AS collection, above.id_key AS id_key
           FROM ${tables.of('history')} AS above
           WHERE above.at > {end:UInt64}
         )
         GROUP BY h.collection, h.id_key
       )
       WHERE kind != 'burn'`,
      { end, version },
      options,
    );
  }
  if ((await readAsked(database, tables)).at > end) {
    await fault('write asked');
    await database.insert(
      tables.of('asked'),
      JSON.stringify({ id: 1, at: end, ...notTrying, version: nextVersion() }),
      options,
    );
  }
}
