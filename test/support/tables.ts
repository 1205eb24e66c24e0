import type { Database } from '../../services/common/clickhouse/database.js';

/** Tables that say who writes and how, or what the node is still to be asked, and nothing of the chain. */
const bookkeeping = new Set([
  'cuts',
  'generations',
  // What the node said of a token depends on when it was asked: one that is burnt by then has no uri.
  'jobs',
  'uris',
  // Up to where balances were compared with the node's.
  'checks',
  'generation_migrations',
  'migrations',
  'writers',
  'writer_migrations',
]);

/**
 * Columns that differ between two exact indexes of one chain: who wrote a row and when, and what was written together.
 */
const incidental: Readonly<Record<string, readonly string[]>> = {
  '*': ['epoch', 'version', 'applied_at', 'seen_at', 'base', 'before', 'was', 'next_ms', 'attempts'],
  blocks: ['ends_batch'],
  internal_blocks: ['ends_batch'],
};

/** The rows of every table of a database that tell of the chain, by table, in an order that does not depend on their writing. */
export async function tableRows(database: Database, name: string): Promise<Record<string, unknown[]>> {
  const options = { name: 'test.tables' };
  const tables = await database.rows<{ name: string; engine: string }>(
    `SELECT name, engine FROM system.tables WHERE database = {name:String} ORDER BY name`,
    { name },
    options,
  );
  const found: Record<string, unknown[]> = {};
  for (const { name: table, engine } of tables) {
    if (bookkeeping.has(table)) continue;
    const columns = await database.rows<{ name: string }>(
      `SELECT name FROM system.columns WHERE database = {name:String} AND table = {table:String} AND default_kind != 'EPHEMERAL' ORDER BY name`,
      { name, table },
      options,
    );
    const left = new Set([...(incidental['*'] ?? []), ...(incidental[table] ?? [])]);
    const wanted = columns.map((column) => column.name).filter((column) => !left.has(column));
    const final = engine === 'MergeTree' ? '' : 'FINAL';
    const texts = wanted.map((column) => `toString(t.${column}) AS ${column}_text`);
    found[table] = await database.rows(
      `SELECT ${texts.join(', ')} FROM ${name}.${table} AS t ${final} ORDER BY ALL`,
      {},
      options,
    );
  }
  return found;
}
