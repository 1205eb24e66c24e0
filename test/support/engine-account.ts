import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An account of the embedded engine, whose privileges the engine itself enforces. */
export interface EngineAccount {
  /** Working folder of whoever opens the tables: the engine reads `config.xml` there (seen with chdb 3.4). */
  readonly cwd: string;
  /** DATA_DIR of whoever opens them. The tables stay when the account is granted something else. */
  readonly data_dir: string;
  /** Says what whoever opens the tables next is granted, such as `SELECT ON weft_tx.*`, and nothing else. */
  grant(privileges: readonly string[]): void;
}

/** Makes an account in a folder. Access control is the same code as in a server. */
export function engineAccount(folder: string): EngineAccount {
  const users = join(folder, 'users.xml');
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, 'config.xml'),
    `<clickhouse><users_config>${users}</users_config></clickhouse>\n`,
  );
  return {
    cwd: folder,
    data_dir: join(folder, 'data'),
    grant(privileges) {
      // The embedded engine inserts from files, where a server is sent the rows.
      const all = [...privileges, 'READ ON FILE', 'CREATE TEMPORARY TABLE ON *.*'];
      const grants = all.map((one) => `<query>GRANT ${one}</query>`).join('');
      writeFileSync(
        users,
        `<clickhouse>
  <profiles><default/></profiles>
  <quotas><default/></quotas>
  <users>
    <default>
      <password/>
      <networks><ip>::/0</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
      <grants>${grants}</grants>
    </default>
  </users>
</clickhouse>
`,
      );
    },
  };
}
