import type { Database } from '../../services/common/clickhouse/database.js';

/**
 * Tables that tell of how an index was written and when, and not of its chain. What the node said of a token depends on
 * when it was asked: one that is burnt by then has no uri.
 */
const ofWriting =
  /^(migrations|generation_migrations|generations|writers|writer_migrations|cuts|asked|jobs|checks|drifting|uris|token_uris|collection_names|head)$/;

/** Columns that do: where batches ended, when something was seen or asked for, and by which writer. */
const columnsOfWriting = [...['ends_batch', 'seen_at', 'version', 'base', 'before', 'was', 'epoch']];

/**
 * Rows and contents of every table that four services have of a chain, as `tx.bodies`: equal for two indexes of the same
 * chain, however they were written. A row that is there twice counts twice where the table keeps every row.
 *
 * @param prefix of the databases: CLICKHOUSE_DATABASE.
 */
export async function tableDigests(database: Database, prefix: string): Promise<Record<string, string>> {
  const rows = <T>(sql: string): Promise<T[]> => database.rows<T>(sql, {}, { name: 'test.digest' });
  const digests: Record<string, string> = {};
  for (const service of ['block', 'tx', 'nft', 'richlist']) {
    const where = `database = '${prefix}_${service}'`;
    const tables = await rows<{ name: string; engine: string }>(
      `SELECT name, engine FROM system.tables WHERE ${where} ORDER BY name`,
    );
    for (const { name, engine } of tables) {
      if (ofWriting.test(name)) continue;
      const columns = (
        await rows<{ name: string }>(
          `SELECT name FROM system.columns WHERE ${where} AND table = '${name}' AND default_kind != 'EPHEMERAL' ORDER BY position`,
        )
      ).flatMap((column) => (columnsOfWriting.includes(column.name) ? [] : [`\`${column.name}\``]));
      const final = /Replacing|Collapsing/.test(engine) ? 'FINAL' : '';
      const [digest] = await rows<{ count: number; hash: string }>(
        `SELECT count() AS count, toString(sum(cityHash64(${columns.join(', ')}))) AS hash FROM \`${prefix}_${service}\`.\`${name}\` ${final}`,
      );
      digests[`${service}.${name}`] = `${digest?.count} rows, ${digest?.hash}`;
    }
  }
  return digests;
}
