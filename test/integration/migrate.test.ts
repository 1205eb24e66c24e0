import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import {
  checkServerVersion,
  type Migration,
  migrate,
  prepareTables,
  TablesBehind,
} from '../../services/common/clickhouse/migrate.js';
import { UserError } from '../../services/common/runtime/errors.js';
import { startOnceReachable } from '../../services/common/runtime/lifecycle.js';
import { createLog } from '../../services/common/runtime/log.js';
import { migrateAll } from '../../tools/migrate/migrate.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { startBefore } from '../support/suite.js';

const table = (name: string): Migration => ({
  name,
  template: `CREATE TABLE IF NOT EXISTS {{local ${name}}} {{on_cluster}} (a UInt8) ENGINE = {{MergeTree}} ORDER BY a;\n`,
});

const [first, second, third] = [table('0001_first'), table('0002_second'), table('0003_third')];

/** Takes away what is no longer used since 0002_second. */
const contracting: Migration = {
  name: '0004_drop',
  template: `-- contracts: needs 0002_second\nDROP TABLE IF EXISTS {{local 0001_first}};\n`,
};

async function tablesOf(database: Database, name: string): Promise<string[]> {
  const rows = await database.rows<{ name: string }>(
    'SELECT name FROM system.tables WHERE database = {name: String} ORDER BY name',
    { name },
    { name: 'test' },
  );
  return rows.map((row) => row.name);
}

describe('a ClickHouse server', () => {
  it('has to be new enough', () => {
    for (const version of ['24.7.1.1', '24.12.1', '25.1.2.3', '26.7.2.1']) checkServerVersion(version);
    for (const version of ['24.6.9.9', '23.12.1', '9.9'])
      assert.throws(() => checkServerVersion(version), /is of version .*: weft needs 24\.7 or newer/);
  });
});

describe('migrations', () => {
  const database = startBefore(testDatabase);
  let target: { database: string; cluster: string };

  beforeEach(() => {
    target = { database: uniquePrefix(), cluster: '' };
  });

  const check = (migrations: readonly Migration[]): Promise<void> =>
    prepareTables(database, migrations, target, 'check');

  it('are named, and nothing is made, where a process may only look', async () => {
    await assert.rejects(check([first, second]), (error: Error) => {
      assert.ok(error instanceof TablesBehind);
      assert.match(error.message, new RegExp(`^${target.database} lacks 0001_first, 0002_second:`));
      return true;
    });
    assert.deepEqual(await tablesOf(database, target.database), []);
    await migrate(database, [first], target);
    await assert.rejects(check([first, second]), /lacks 0002_second:/);
    assert.deepEqual(await migrate(database, [first, second], target), ['0002_second']);
    await check([first, second]);
  });

  it('are waited for by a service that may only look', async () => {
    const reasons: string[] = [];
    const { signal } = new AbortController();
    const started = await startOnceReachable(
      async () => {
        await check([first]);
        return 'started';
      },
      {
        log: createLog('silent'),
        signal,
        onWait: (reason) => {
          reasons.push(reason);
          void migrate(database, [first], target);
        },
      },
    );
    assert.equal(started, 'started');
    assert.match(reasons[0] ?? '', /lacks 0001_first/);
  });

  it('of a newer version do not keep an older one from its work while they only add', async () => {
    await migrate(database, [first, second, third], target);
    await check([first]);
    assert.deepEqual(await migrate(database, [first], target), []);
  });

  it('that take something away keep those versions out that still use it, and no others', async () => {
    await migrate(database, [first, second, third, contracting], target);
    await check([first, second]);
    await assert.rejects(check([first]), (error: Error) => {
      assert.ok(error instanceof UserError);
      assert.match(error.message, /migration 0004_drop takes away what versions before 0002_second use/);
      return true;
    });
    await assert.rejects(migrate(database, [first], target), UserError);
    assert.deepEqual(await migrate(database, [first, second, third, contracting], target), []);
  });

  it('must not change once they ran', async () => {
    await migrate(database, [first], target);
    const changed = { ...first, template: `${first.template}-- a word more\n` };
    await assert.rejects(migrate(database, [changed], target), /0001_first of \w+ is not the one that ran/);
    await assert.rejects(check([changed]), /0001_first of \w+ is not the one that ran/);
  });

  it('of all services run by one command, and once', async () => {
    const prefix = uniquePrefix();
    const config = { CLICKHOUSE_DATABASE: prefix, CLICKHOUSE_CLUSTER: '' };
    const run = async () => {
      const done: Record<string, number> = {};
      for await (const { database: name, ran } of migrateAll(database, config)) done[name] = ran.length;
      return done;
    };
    const names = ['block', 'tx', 'nft', 'richlist', 'scoring'].map((name) => `${prefix}_${name}`);
    const before = await run();
    assert.deepEqual(Object.keys(before), names);
    for (const name of names) {
      assert.ok((before[name] ?? 0) > 0, name);
      assert.ok((await tablesOf(database, name)).length > 1, name);
    }
    assert.deepEqual(await run(), Object.fromEntries(names.map((name) => [name, 0])));
  });
});
