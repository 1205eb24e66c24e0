import assert from 'node:assert/strict';
import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { type Database, DatabaseUnavailable } from '../../services/common/clickhouse/database.js';
import { openDatabase } from '../../services/common/clickhouse/open.js';
import { openServer } from '../../services/common/clickhouse/server.js';
import { readEpoch, writeWriter } from '../../services/common/writer/writers.js';
import { eventually } from '../support/block.js';
import { serveHttp } from '../support/http-server.js';
import { endsAfterEach } from '../support/suite.js';

/** What was sent with one statement. */
interface Sent {
  readonly settings: URLSearchParams;
  readonly body: string;
}

const nobody = { username: '', password: '' };
const settings = { DATA_DIR: '', CLICKHOUSE_USER: '', CLICKHOUSE_PASSWORD: '', CLICKHOUSE_CLUSTER: '' };
const options = { name: 'test' };

describe('a ClickHouse server', () => {
  const endLater = endsAfterEach();
  async function listen(answer: RequestListener): Promise<string> {
    const { url, close } = await serveHttp(answer);
    endLater(close);
    return url;
  }
  const opened = <T extends Database>(database: T): T => {
    endLater(() => database.close());
    return database;
  };

  /** Answers statements one after the other: with an error of this code, or '' for nothing. */
  async function startServer(answers: readonly string[], replicated = true) {
    const sent: Sent[] = [];
    const url = await listen(async (request, response) => {
      const body = await text(request);
      const { searchParams: settings } = new URL(request.url ?? '/', 'http://clickhouse');
      const code = answers[sent.length] ?? '';
      sent.push({ settings, body });
      if (code === '') response.end();
      else
        response
          .writeHead(500, { 'X-ClickHouse-Exception-Code': code })
          .end(`Code: ${code}. DB::Exception: no. (NAME)`);
    });
    return { sent, database: opened(openServer({ ...nobody, url, replicated })) };
  }

  it('of a cluster is asked for writes of a quorum, one after the other, and for reads that see them', async () => {
    for (const replicated of [true, false]) {
      const { sent, database } = await startServer([], replicated);
      await database.insert('t', '{}', options);
      await database.rows('SELECT 1', {}, options);
      const wanted = replicated ? ['auto', '0', '1'] : [null, null, null];
      for (const { settings } of sent)
        assert.deepEqual(
          ['insert_quorum', 'insert_quorum_parallel', 'select_sequential_consistency'].map((name) =>
            settings.get(name),
          ),
          wanted,
        );
    }
  });

  it('is sent parameters that are not short in the body: it refuses URLs above 1 MiB', async () => {
    const { sent, database } = await startServer([]);
    const names = Array.from({ length: 25_000 }, (_, n) => `${n}'s\t${'x'.repeat(40)}`);
    await database.rows('SELECT {names:Array(String)}', { names }, options);
    await database.rows('SELECT {name:String}', { name: 'short' }, options);
    const [long, short] = sent;
    assert.ok(String(long?.settings).length < 10_000);
    assert.match(long?.body ?? '', /name="query"\s+SELECT \{names:Array\(String\)\}/);
    assert.match(long?.body ?? '', /name="param_names"\s+\['0\\'s\\tx+',/);
    assert.equal(short?.settings.get('param_name'), 'short');
  });

  it('whose quorum has not got the insert before is given the same again', async () => {
    const { sent, database } = await startServer(['286', '286', '']);
    await database.insert('t', '{"a":1}', options);
    assert.equal(sent.length, 3);
    assert.equal(new Set(sent.map(({ body }) => body)).size, 1);
  });

  it('is asked once where it refuses for another reason', async () => {
    const { sent, database } = await startServer(['60']);
    await assert.rejects(
      database.insert('t', '{}', options),
      (error) => !(error instanceof DatabaseUnavailable),
    );
    assert.equal(sent.length, 1);
  });

  it('that is silent, or not there, is unavailable rather than at fault', async () => {
    const silent = await serveHttp(() => {});
    for (const state of ['silent', 'gone']) {
      const database = opened(openServer({ ...nobody, url: silent.url, replicated: false, timeout_ms: 200 }));
      await assert.rejects(database.rows('SELECT 1', {}, options), DatabaseUnavailable, state);
      await assert.rejects(database.insert('t', '{}', options), DatabaseUnavailable, state);
      await silent.close();
    }
  });

  it('is given signs of life of writers while as many reads as it takes are slow', async () => {
    let waiting = 0;
    const slow = await serveHttp(async (request, response) => {
      if ((await text(request)).includes('SLOW')) waiting += 1;
      else response.end();
    });
    const database = opened(await openDatabase({ ...settings, CLICKHOUSE_URL: slow.url }));
    const reads = Array.from({ length: 40 }, () => database.rows('SELECT SLOW', {}, options).catch(() => {}));
    await eventually(async () => waiting >= 10, 'reads to take every connection of theirs');
    const target = { database: 'weft_block', cluster: '' };
    const row = { scope: '', epoch: 1, id: 'a', beat: 1, lease_ms: 1, is_released: false, host: '' };
    await writeWriter(database, target, row);
    assert.equal(await readEpoch(database, target, ''), 0);
    assert.equal(waiting, 10);
    await slow.close();
    await Promise.all(reads);
  });

  it('is told how much memory a statement for a call may take, and not for others', async () => {
    const bounds: (string | null)[] = [];
    const url = await listen((request, response) => {
      bounds.push(new URL(request.url ?? '', 'http://x').searchParams.get('max_memory_usage'));
      request.resume();
      response.end();
    });
    const database = opened(await openDatabase({ ...settings, CLICKHOUSE_URL: url, QUERY_MEMORY_MB: 20 }));
    const deadline = Date.now() + 10_000;
    await database.rows('SELECT 1', {}, { ...options, deadline });
    await database.rows('SELECT 1', {}, { ...options, deadline, priority: 'write' });
    await database.rows('SELECT 1', {}, options);
    assert.deepEqual(bounds, [String(20 * 1024 * 1024), null, null]);
  });
});
