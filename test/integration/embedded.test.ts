import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { cpSync, existsSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { QueryTimeout, QueryTooLarge } from '../../services/common/clickhouse/database.js';
import { openEmbedded } from '../../services/common/clickhouse/embedded.js';
import { lostParts, watchLostParts } from '../../services/common/clickhouse/engine-files.js';
import { createBinaryRows } from '../../services/common/clickhouse/formats.js';
import { UserError } from '../../services/common/runtime/errors.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { temporaryFolder } from '../support/folder.js';

const run = promisify(execFile);
const module_url = new URL('../../services/common/clickhouse/embedded.js', import.meta.url).href;

describe('the embedded engine', () => {
  it('gives every query its own answer, also after some that failed or ran out of time', async () => {
    const database = await testDatabase();
    const slow = (i: number) =>
      database.rows(
        `SELECT sleepEachRow(0.05), ${i} FROM numbers(40)`,
        {},
        { name: 'slow', deadline: Date.now() + 300 },
      );
    const wrong = () => database.rows('SELECT no_such_column', {}, { name: 'wrong' });
    for (let round = 0; round < 3; round++) {
      const failing = [slow(1), wrong()].map((query) => assert.rejects(query));
      const numbers = Array.from({ length: 20 }, (_, i) => i);
      const answers = await Promise.all(
        numbers.map((i) => database.rows<{ n: number }>('SELECT {i:UInt32} AS n', { i }, { name: 'number' })),
      );
      assert.deepEqual(
        answers,
        numbers.map((n) => [{ n }]),
      );
      await Promise.all(failing);
    }
  });

  it('tells of parts that were put aside as damaged, unless others stand for them', async () => {
    const database = await testDatabase();
    const options = { name: 'lost' };
    const prefix = uniquePrefix();
    await database.command(`CREATE DATABASE ${prefix}`, {}, options);
    const table = `${prefix}.facts`;
    await database.command(`CREATE TABLE ${table} (n UInt64) ENGINE = MergeTree ORDER BY n`, {}, options);
    for (const n of [1, 2, 3]) await database.insert(table, JSON.stringify({ n }), options);
    const told: unknown[] = [];
    const log = { error: (...said: unknown[]) => void told.push(said) } as never;
    const look = async () =>
      (await lostParts(database)).map((lost) => lost.table).filter((name) => name === table);
    assert.deepEqual(await look(), []);
    const parts = await database.rows<{ path: string }>(
      `SELECT path FROM system.parts WHERE database = '${prefix}' AND active ORDER BY name`,
      {},
      options,
    );
    // As the engine names what it puts aside when it starts: one that is there all the same, as after a damaged merge.
    const folder = join(parts[0]?.path ?? '', '..', 'detached');
    cpSync(parts[1]?.path ?? '', join(folder, 'broken-on-start_all_2_3_1'), { recursive: true });
    assert.deepEqual(await look(), []);
    await database.command(`ALTER TABLE ${table} DETACH PART 'all_1_1_0'`, {}, options);
    assert.deepEqual(await look(), [], 'that was done by a person');
    renameSync(join(folder, 'all_1_1_0'), join(folder, 'broken-on-start_all_1_1_0'));
    assert.deepEqual(await look(), [table]);
    const watch = await watchLostParts(database, log);
    watch.stop();
    assert.equal(watch.readiness().ready, false);
    assert.match(watch.readiness().reason, new RegExp(`rows of .*${table}.* are lost`));
    assert.match(JSON.stringify(told), /broken-on-start_all_1_1_0.*rows of a table are lost/);
    await database.command(`DROP DATABASE ${prefix}`, {}, options);
  });

  const endings = [';', ' ;', ';\n', ' ', '\t', '\n', '\r', '\r\n', '\\', "'", '', '\n\nDROP TABLE kept;\n'];
  const inFormat = {
    RowBinary: (texts: readonly string[]) => {
      const rows = createBinaryRows({ bytes: 1_000_000, rows: 1_000 });
      for (const text of texts) {
        rows.string(text);
        rows.end();
      }
      return rows.parts()[0] as Buffer;
    },
    JSONEachRow: (texts: readonly string[]) => texts.map((text) => JSON.stringify({ text })).join('\n'),
  };
  for (const [format, written] of Object.entries(inFormat))
    it(`keeps the ends of rows byte for byte, and runs nothing of them: ${format}`, async () => {
      const database = await testDatabase();
      const options = { name: 'endings' };
      const prefix = uniquePrefix();
      await database.command(`CREATE DATABASE ${prefix}`, {}, options);
      const table = `${prefix}.kept`;
      await database.command(
        `CREATE TABLE ${table} (text String) ENGINE = MergeTree ORDER BY ()`,
        {},
        options,
      );
      // Of one column: an empty value is a blank line, and more than one stand where statements would begin.
      const texts = [...endings, '', '', `DROP TABLE ${table}`, ...endings.map((end) => `a${end}`)];
      for (const [index, last] of endings.entries()) {
        const rows = [`SELECT ${index}${last}`, ...texts, `SELECT ${index}${last}`];
        await database.insert(table, written(rows), options);
        const kept = await database.rows<{ text: string }>(`SELECT text FROM ${table}`, {}, options);
        assert.deepEqual(
          kept.map(({ text }) => text),
          rows,
        );
        await database.command(`TRUNCATE TABLE ${table}`, {}, options);
      }
      await database.command(`DROP DATABASE ${prefix}`, {}, options);
    });

  it('ends a query that takes more memory than it may, and goes on with others', async () => {
    const database = await testDatabase();
    const memory_bytes = 20 * 1024 * 1024;
    const gathered = (rows: number) =>
      database.rows(
        `SELECT length(groupArray(repeat('x', 1000) || toString(number))) AS n FROM numbers(${rows})`,
        {},
        { name: 'gathered', memory_bytes },
      );
    await assert.rejects(gathered(500_000), (error) => {
      assert.ok(error instanceof QueryTooLarge);
      return /^gathered takes more memory than QUERY_MEMORY_MB allows$/.test(error.message);
    });
    assert.deepEqual(await gathered(100), [{ n: 100 }]);
  });

  it('lets a query take more memory than usual ones while no other does', async () => {
    const database = await testDatabase();
    const gathered = (megabytes: number, most: number) =>
      database.rows(
        `SELECT length(groupArray(repeat('x', 1000) || toString(number))) AS n FROM numbers(${megabytes * 1000})`,
        {},
        { name: 'gathered', memory_bytes: most * 1024 * 1024 },
      );
    const answers = await Promise.all([
      gathered(60, 400),
      gathered(1, 400),
      gathered(60, 400),
      gathered(2, 400),
    ]);
    assert.deepEqual(answers, [[{ n: 60_000 }], [{ n: 1_000 }], [{ n: 60_000 }], [{ n: 2_000 }]]);
    await assert.rejects(gathered(500, 400), QueryTooLarge);
  });

  it('runs statements side by side: none waits for a long one, of its kind or of another', async () => {
    const database = await testDatabase();
    const ended: string[] = [];
    const run = async (what: string, sql: string, priority: 'read' | 'write' | 'background') => {
      await database.rows(sql, {}, { name: what, priority });
      ended.push(what);
    };
    const long = run('long', 'SELECT sleepEachRow(0.5) FROM numbers(6)', 'read');
    await Promise.all([
      run('read', 'SELECT 1', 'read'),
      run('write', 'SELECT 1', 'write'),
      run('background', 'SELECT 1', 'background'),
    ]);
    assert.ok(!ended.includes('long'), ended.join());
    await long;
  });

  it('tells a deadline from other failures', async () => {
    const database = await testDatabase();
    const options = { name: 'slow', deadline: Date.now() + 200 };
    await assert.rejects(
      database.rows('SELECT sleepEachRow(0.05) FROM numbers(40)', {}, options),
      QueryTimeout,
    );
    await assert.rejects(
      database.rows('SELECT 1', {}, { name: 'late', deadline: Date.now() - 1 }),
      QueryTimeout,
    );
  });

  it('says in one sentence that another process has its folder open', async () => {
    const folder = temporaryFolder('locked');
    const open = `const { openEmbedded } = await import(${JSON.stringify(module_url)});`;
    const script = `${open}
      const database = await openEmbedded(process.argv[1]);
      const { execFile } = await import('node:child_process');
      execFile(process.execPath, ['--input-type=module', '-e', ${JSON.stringify(`${open} await openEmbedded(process.argv[1]).catch((error) => console.log(error.name, error.message));`)}, process.argv[1]], async (_, out, said) => {
        console.log(out);
        console.error(said);
        await database.close();
      });`;
    const { stdout, stderr } = await run(process.execPath, ['--input-type=module', '-e', script, folder]);
    assert.match(
      stdout,
      /^UserError .*another process has it open: give this one a DATA_DIR of its own, or set CLICKHOUSE_URL$/m,
    );
    // Where the locks of processes can be read, the engine does not get to say it in its own words.
    if (existsSync('/proc/locks')) assert.doesNotMatch(stderr, /Code: 76/);
  });

  it('says that a folder cannot be made', async () => {
    const file = join(temporaryFolder('file'), 'file');
    writeFileSync(file, '');
    await assert.rejects(openEmbedded(join(file, 'data')), UserError);
  });
});
