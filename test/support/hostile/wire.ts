import assert from 'node:assert/strict';
import { forEach } from '../few-at-a-time.js';
import { plainBody, sendRaw } from '../raw-http.js';
import { checkRefusal } from './check.js';
import { type ApiRoute, pathOf } from './routes.js';
import { ask, jsonOf, type Subject } from './subject.js';

const kib = 1024;
const nowhere = ['/nosuch', '/indexer', '/indexer/tx/v1', '/indexer/tx/v2/txs', '/indexer/tx/v1/TXS'];

/** Header lines of about so many bytes in all. */
const flood = (bytes: number): (readonly [string, string])[] =>
  Array.from({ length: Math.floor(bytes / 512) }, (_, i) => [`x-flood-${i}`, 'a'.repeat(495)] as const);

/** What HTTP itself allows to be odd: methods, headers, lengths, codings, paths. */
export function describeHostileWire(routes: readonly ApiRoute[], subject: () => Subject): void {
  it('other methods are a 405 with Allow on what there is, and a 404 on what there is not', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND', 'QUERY']) {
      await forEach(routes, async (route) => {
        const answer = await ask(subject(), pathOf(route), { method });
        assert.equal(answer.status, 405, `${method} ${route.path}`);
        assert.equal(answer.headers['allow'], 'GET, HEAD, OPTIONS');
        assert.match(jsonOf<{ message: string }>(answer).message, new RegExp(method));
      });
      for (const path of nowhere) assert.equal((await ask(subject(), path, { method })).status, 404);
    }
  });

  it('HEAD has the headers of GET and no body, whatever the answer is', () =>
    forEach(
      [...routes.map((route) => pathOf(route)), ...nowhere, '/indexer/block/v1/blocks/x'],
      async (path) => {
        const [get, head] = [await ask(subject(), path), await ask(subject(), path, { method: 'HEAD' })];
        assert.equal(head.status, get.status);
        assert.equal(head.body.length, 0);
        for (const name of ['content-type', 'content-length', 'etag', 'cache-control', 'vary'])
          assert.equal(head.headers[name], get.headers[name], `${path} ${name}`);
      },
    ));

  it('OPTIONS says what is allowed, to browsers and to others', () =>
    forEach(routes, async (route) => {
      const plain = await ask(subject(), pathOf(route), { method: 'OPTIONS' });
      assert.deepEqual([plain.status, plain.headers['allow']], [204, 'GET, HEAD, OPTIONS']);
      const preflight = await ask(subject(), pathOf(route), {
        method: 'OPTIONS',
        headers: [
          ['origin', 'https://app.example.org'],
          ['access-control-request-method', 'GET'],
          ['access-control-request-headers', 'content-type, x-anything'],
        ],
      });
      assert.equal(preflight.status, 204);
      assert.match(preflight.headers['access-control-allow-methods'] ?? '', /GET/);
      assert.equal(preflight.headers['access-control-allow-headers'], 'content-type, x-anything');
    }));

  it('headers of 32 KiB are taken with a long URL too, many more are a 431', async () => {
    const path = '/indexer/tx/v1/txs?pagination.limit=1';
    const plain = plainBody(await ask(subject(), path));
    for (const target of [path, `${path}&x=${'a'.repeat(15 * kib)}`]) {
      const headers = flood(31 * kib);
      assert.deepEqual(plainBody(await ask(subject(), target, { headers })), plain);
      const one = [['x-long', 'b'.repeat(31 * kib)]] as const;
      assert.deepEqual(plainBody(await ask(subject(), target, { headers: one })), plain);
    }
    for (const bytes of [64 * kib, 1_000 * kib]) {
      const headers = flood(bytes);
      checkRefusal(await sendRaw(subject().url, { target: path, headers }), 431);
      const one = [['x-long', 'b'.repeat(bytes)]] as const;
      checkRefusal(await sendRaw(subject().url, { target: path, headers: one }), 431);
    }
  });

  it('a URL of up to 16 KiB is taken, a longer one is a 414 however long it is', async () => {
    const path = '/indexer/tx/v1/txs?pagination.limit=1&x=';
    const fill = (bytes: number): string => path + 'a'.repeat(bytes - path.length);
    assert.equal((await ask(subject(), fill(16 * kib))).status, 200);
    assert.equal((await ask(subject(), fill(16 * kib + 1))).status, 414);
    assert.equal((await ask(subject(), `/${'a/'.repeat(10 * kib)}`)).status, 414);
    for (const bytes of [60 * kib, 300 * kib, 2_000 * kib])
      checkRefusal(await sendRaw(subject().url, { target: fill(bytes) }), 414);
  });

  it('what is no HTTP is a 400', async () => {
    for (const target of [
      '/ /status',
      '/status\t',
      '/status\0',
      'status',
      '/\xff\xfe',
      '/status HTTP/9.9\r\nx: ',
    ])
      checkRefusal(await sendRaw(subject().url, { target }), 400);
    for (const method of ['GET GET', 'G\0T', 'nosuchmethod', ''])
      checkRefusal(await sendRaw(subject().url, { target: '/status', method }), 400);
    const headers = [['bad header', 'x'] as const];
    checkRefusal(await sendRaw(subject().url, { target: '/status', headers }), 400);
  });

  it('slashes are collapsed before decoding, and dots and escapes lead nowhere else', async () => {
    const status = plainBody(await ask(subject(), '/status'));
    for (const path of ['//status', '///status//', '/status/', '/status?', '//status//?x=%zz', '/status#/x'])
      assert.deepEqual(plainBody(await ask(subject(), path)), status, path);
    const away = [
      '/%2Fstatus',
      '/status%2F',
      '/./status',
      '/x/../status',
      '/%2e%2e/status',
      '/Status',
      '/status%00',
    ];
    for (const path of [
      ...away,
      '/status;x=1',
      '/stat%75s%20',
      '/..%2f..%2fetc/passwd',
      '/\\status',
      '/*',
      '/%',
    ])
      assert.equal((await ask(subject(), path)).status, 404, path);
  });

  it('gzip, brotli and the plain form say the same', () =>
    forEach(routes, async (route) => {
      const plain = await ask(subject(), pathOf(route));
      for (const [accept, coding] of [
        ['gzip', 'gzip'],
        ['br', 'br'],
        ['gzip, deflate, br, zstd', 'br'],
        ['gzip;q=1.0, br;q=0.1', 'gzip'],
        ['identity', undefined],
        ['gzip;q=0', undefined],
        ['*;q=0', undefined],
        [';;;,,q=,\t', undefined],
        [`${'x,'.repeat(5_000)}`, undefined],
      ] as const) {
        const answer = await ask(subject(), pathOf(route), { headers: [['accept-encoding', accept]] });
        const isCompressed = plain.body.length >= kib && coding !== undefined;
        assert.equal(answer.headers['content-encoding'], isCompressed ? coding : undefined, accept);
        assert.match(answer.headers['vary'] ?? '', /accept-encoding/i);
        assert.ok(plainBody(answer).equals(plain.body), `${route.path} ${accept}`);
      }
    }));

  it('an ETag that the client has is a 304, any other header is no harm', () =>
    forEach(routes, async (route) => {
      const path = pathOf(route);
      const { headers, body } = await ask(subject(), path);
      const tag = headers['etag'] ?? '';
      assert.match(tag, /^"[^"]+"$/);
      for (const value of [tag, `W/${tag}`, `"x", ${tag}`, '*']) {
        const answer = await ask(subject(), path, { headers: [['if-none-match', value]] });
        assert.deepEqual([answer.status, answer.headers['etag']], [304, tag], value);
      }
      for (const value of ['', '"x"', tag.slice(1, -1), `"${'x'.repeat(9_000)}"`, '"\xff"', `${tag}x`]) {
        const answer = await ask(subject(), path, { headers: [['if-none-match', value]] });
        assert.deepEqual([answer.status, answer.body.length], [200, body.length], value.slice(0, 50));
      }
    }));

  it('a hostile request id is replaced, a sane one comes back', async () => {
    for (const id of ['', 'a b', '\xff', '{"a":1}', 'x'.repeat(129), "';DROP TABLE x", '<b>']) {
      const answer = await ask(subject(), '/status', { headers: [['x-request-id', id]] });
      assert.notEqual(answer.headers['x-request-id'], id);
    }
    const answer = await ask(subject(), '/status', { headers: [['x-request-id', 'abc-123']] });
    assert.equal(answer.headers['x-request-id'], 'abc-123');
  });
}
