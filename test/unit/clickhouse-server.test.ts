import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DatabaseUnavailable } from '../../services/common/clickhouse/database.js';
import { openDatabase } from '../../services/common/clickhouse/open.js';
import { openServer } from '../../services/common/clickhouse/server.js';
import { readEpoch, writeWriter } from '../../services/common/writer/writers.js';
import { eventually } from '../support/block.js';

/** What was sent with one statement. */
interface Sent {
  readonly settings: URLSearchParams;
  readonly body: string;
}

/** A server that answers statements one after the other: with an error of this code, or '' for nothing. */
async function startServer(answers: readonly string[]) {
  const sent: Sent[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { searchParams: settings } = new URL(request.url ?? '/', 'http://clickhouse');
    const code = answers[sent.length] ?? '';
    sent.push({ settings, body: Buffer.concat(chunks).toString() });
    if (code === '') response.end();
    else
      response
        .writeHead(500, { 'X-ClickHouse-Exception-Code': code })
        .end(`Code: ${code}. DB::Exception: no. (NAME)`);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const open = (replicated: boolean) =>
    openServer({
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      ...{ username: '', password: '', replicated },
    });
  const close = () => new Promise((resolve) => server.close(resolve));
  return { sent, open, close };
}

describe('a ClickHouse server', () => {
  const options = { name: 'test' };

  it('of a cluster is asked for writes of a quorum, one after the other, and for reads that see them', async () => {
    for (const replicated of [true, false]) {
      const { sent, open, close } = await startServer([]);
      const database = open(replicated);
      await database.insert('t', '{}', options);
      await database.rows('SELECT 1', {}, options);
      await database.close();
      await close();
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
    const { sent, open, close } = await startServer([]);
    const database = open(false);
    const names = Array.from({ length: 25_000 }, (_, n) => `${n}'s\t${'x'.repeat(40)}`);
    await database.rows('SELECT {names:Array(String)}', { names }, options);
    await database.rows('SELECT {name:String}', { name: 'short' }, options);
    const [long, short] = sent;
    assert.ok(String(long?.settings).length < 10_000);
    assert.match(long?.body ?? '', /name="query"\s+SELECT \{names:Array\(String\)\}/);
    assert.match(long?.body ?? '', /name="param_names"\s+\['0\\'s\\tx+',/);
    assert.equal(short?.settings.get('param_name'), 'short');
    await database.close();
    await close();
  });

  it('whose quorum has not got the insert before is given the same again', async () => {
    const { sent, open, close } = await startServer(['286', '286', '']);
    const database = open(true);
    await database.insert('t', '{"a":1}', options);
    assert.equal(sent.length, 3);
    assert.equal(new Set(sent.map(({ body }) => body)).size, 1);
    await database.close();
    await close();
  });

  it('is asked once where it refuses for another reason', async () => {
    const { sent, open, close } = await startServer(['60']);
    const database = open(true);
    await assert.rejects(
      database.insert('t', '{}', options),
      (error) => !(error instanceof DatabaseUnavailable),
    );
    assert.equal(sent.length, 1);
    await database.close();
    await close();
  });

  it('that is silent, or not there, is unavailable rather than at fault', async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const { port } = silent.address() as { port: number };
    const open = () =>
      openServer({
        url: `http://127.0.0.1:${port}`,
        username: '',
        password: '',
        replicated: false,
        timeout_ms: 200,
      });
    for (const state of ['silent', 'gone']) {
      const database = open();
      await assert.rejects(database.rows('SELECT 1', {}, { name: 'test' }), DatabaseUnavailable, state);
      await assert.rejects(database.insert('t', '{}', { name: 'test' }), DatabaseUnavailable, state);
      await database.close();
      silent.closeAllConnections();
      if (silent.listening) await new Promise((resolve) => silent.close(resolve));
    }
  });

  it('is given signs of life of writers while as many reads as it takes are slow', async () => {
    let waiting = 0;
    const slow = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      if (Buffer.concat(chunks).includes('SLOW')) waiting += 1;
      else response.end();
    });
    await new Promise<void>((resolve) => slow.listen(0, '127.0.0.1', resolve));
    const database = await openDatabase({
      ...{ DATA_DIR: '', CLICKHOUSE_USER: '', CLICKHOUSE_PASSWORD: '', CLICKHOUSE_CLUSTER: '' },
      CLICKHOUSE_URL: `http://127.0.0.1:${(slow.address() as AddressInfo).port}`,
    });
    const reads = Array.from({ length: 40 }, () => database.rows('SELECT SLOW', {}, options).catch(() => {}));
    await eventually(async () => waiting >= 16, 'reads to take every connection');
    const target = { database: 'weft_block', cluster: '' };
    const row = { scope: '', epoch: 1, id: 'a', beat: 1, lease_ms: 1, is_released: false, host: '' };
    await writeWriter(database, target, row);
    assert.equal(await readEpoch(database, target, ''), 0);
    assert.equal(waiting, 16);
    slow.closeAllConnections();
    slow.close();
    await Promise.all(reads);
    await database.close();
  });

  it('is told how much memory a statement for a call may take, and not for others', async () => {
    const bounds: (string | null)[] = [];
    const server = createServer((request, response) => {
      bounds.push(new URL(request.url ?? '', 'http://x').searchParams.get('max_memory_usage'));
      request.resume();
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const database = await openDatabase({
      ...{ DATA_DIR: '', CLICKHOUSE_USER: '', CLICKHOUSE_PASSWORD: '', CLICKHOUSE_CLUSTER: '' },
      CLICKHOUSE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      QUERY_MEMORY_MB: 20,
    });
    const deadline = Date.now() + 10_000;
    await database.rows('SELECT 1', {}, { ...options, deadline });
    await database.rows('SELECT 1', {}, { ...options, deadline, priority: 'write' });
    await database.rows('SELECT 1', {}, options);
    assert.deepEqual(bounds, [String(20 * 1024 * 1024), null, null]);
    await database.close();
    server.close();
  });
});
