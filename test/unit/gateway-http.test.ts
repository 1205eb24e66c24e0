import assert from 'node:assert/strict';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { send, sendBytes, startTestGateway, type TestGateway } from '../support/gateway-client.js';
import { startBefore } from '../support/suite.js';

const list = '/indexer/tx/v1/txs';

describe('gateway: HTTP', () => {
  const gateway = startBefore(
    () => startTestGateway(),
    (gateway) => gateway.stop(),
  );
  afterEach(() => gateway.fakes.instead.clear());

  it('lists are the bodies as they came, with the pagination', async () => {
    const answer = await gateway.get(`${list}?pagination.limit=2`);
    assert.equal(answer.status, 200);
    assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
    const [last, before] = [...gateway.fakes.chain.txs].reverse();
    assert.equal(
      answer.body.toString(),
      `{"txs":[${last},${before}],"pagination":{"next_key":"at-2","previous_key":"","total":"5"}}`,
    );
  });

  it('bodies pass through byte for byte, whatever bytes they hold', async () => {
    const body = Buffer.from('{"txhash":"x","memo":"\\u0000 \\u2028 é 🎨 \ud83c\udfa8","n":1e400,"n":2}');
    gateway.fakes.instead.set('getTx', async () => ({ tx: body }));
    const answer = await gateway.get(`${list}/${'cd'.repeat(32)}`);
    assert.deepEqual(answer.body, Buffer.concat([Buffer.from('{"tx":'), body, Buffer.from('}')]));
  });

  it('an empty list is a list', async () => {
    const none = { txs: [], pagination: { next_key: '', previous_key: '', total: '0' } };
    gateway.fakes.instead.set('listTxsByHeight', async () => none);
    assert.deepEqual((await gateway.get(`${list}/by_height/77`)).json(), none);
  });

  it('the status has its six fields', async () => {
    assert.deepEqual((await gateway.get('/status')).json(), {
      version: '1.2.3',
      commit_hash: 'abc',
      chain_id: 'fake-1',
      height: 5,
      internal_tx_height: 4,
      rich_list_height: 5,
    });
  });

  it('holders are asked for by the denom as it was meant, slashes encoded or not', async () => {
    for (const [path, denom] of [
      ['GAS', 'GAS'],
      ['ibc/AB', 'ibc/AB'],
      ['ibc%2FAB', 'ibc/AB'],
      ['factory/init1x/a%2520b/', 'factory/init1x/a%20b'],
      ['%F0%9F%8E%A8', '🎨'],
    ] as const) {
      const answer = await gateway.get(`/indexer/richlist/v1/${path}?pagination.limit=2`);
      assert.deepEqual(answer.json(), {
        holders: [5, 4].map((n) => ({ account: `0x${String(n).padStart(40, '0')}`, amount: String(n * 10) })),
        pagination: { next_key: 'at-2', previous_key: '', total: '5' },
      });
      assert.equal(gateway.fakes.calls.at(-1)?.request['denom'], denom);
    }
    assert.equal((await gateway.get('/indexer/richlist/v1')).status, 404);
    assert.equal((await gateway.get('/indexer/richlist/v1/%E0%A4%A')).status, 400);
  });

  it('a block without a known proposer has three empty texts', async () => {
    gateway.fakes.instead.set('getBlock', async () => ({
      block: { ...gateway.fakes.chain.blocks[0], height: '4', proposer: undefined },
    }));
    const { block } = (await gateway.get('/indexer/block/v1/blocks/4')).json();
    assert.deepEqual(block.proposer, { moniker: '', identity: '', operator_address: '' });
  });

  const unknown = [
    '/nosuch',
    '/indexer/tx/v1/nothing/by_account',
    '/status/x',
    '/%73tatus/x',
    '/indexer/tx/v1/txs/by_account/a/b',
    '/swagger/../package.json',
    '/swagger/package.json',
    '/swagger/..%2f..%2fpackage.json',
    '/favicon.ico',
    '/indexer/nft/v1',
  ];
  for (const path of unknown) {
    it(`${path} is a 404 in JSON`, async () => {
      const answer = await gateway.get(path);
      assert.equal(answer.status, 404, answer.body.toString());
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
      assert.equal(answer.headers['cache-control'], 'no-store');
      assert.equal(answer.headers['access-control-allow-origin'], '*');
      assert.equal(answer.json().code, 5);
    });
  }

  it('a long path or a long bad segment is cut in the message', async () => {
    for (const path of [`/${'x'.repeat(9_000)}`, `${list}/by_account/${'%zz'.repeat(3_000)}`]) {
      assert.ok((await gateway.get(path)).json().message.length < 300);
    }
  });

  it('what a service does not find is a 404 with its message', async () => {
    const answer = await gateway.get('/indexer/block/v1/blocks/99');
    assert.equal(answer.status, 404);
    assert.deepEqual(answer.json(), { code: 5, message: 'block 99 is not indexed', details: [] });
  });

  it('a preflight is answered for every path', async () => {
    const headers = {
      origin: 'https://app.example.org',
      'access-control-request-method': 'GET',
      'access-control-request-headers': 'x-request-id, content-type',
    };
    for (const path of [list, '/nosuch']) {
      const answer = await gateway.get(path, { method: 'OPTIONS', headers });
      assert.equal(answer.status, 204);
      assert.equal(answer.headers['access-control-allow-origin'], '*');
      assert.equal(answer.headers['access-control-allow-methods'], 'GET, HEAD, OPTIONS');
      assert.equal(answer.headers['access-control-allow-headers'], 'x-request-id, content-type');
      assert.equal(answer.headers['access-control-max-age'], '86400');
    }
  });

  it('OPTIONS of nothing in particular is answered, and of what is not there a 404', async () => {
    assert.equal((await gateway.get('*', { method: 'OPTIONS' })).status, 204);
    assert.equal((await gateway.get('/nosuch', { method: 'OPTIONS' })).status, 404);
  });

  it('every answer can be read from any origin, with the headers that matter', async () => {
    const answer = await gateway.get('/status', { headers: { origin: 'https://app.example.org' } });
    assert.equal(answer.headers['access-control-allow-origin'], '*');
    assert.match(String(answer.headers['access-control-expose-headers']), /x-request-id/);
    assert.match(String(answer.headers['access-control-expose-headers']), /retry-after/);
    assert.match(String(answer.headers['access-control-expose-headers']), /etag/);
  });

  it('a sane request id is taken over and reaches the service, an odd one is replaced', async () => {
    gateway.fakes.calls.length = 0;
    const headers = { 'x-request-id': 'abc-123.X:4' };
    const path = '/indexer/block/v1/blocks?pagination.limit=17';
    assert.equal((await gateway.get(path, { headers })).headers['x-request-id'], 'abc-123.X:4');
    assert.equal(gateway.fakes.calls[0]?.context.request_id, 'abc-123.X:4');
    const ids = await Promise.all(
      ['a b', '"', 'x'.repeat(129), ''].map(async (odd) => {
        const answer = await gateway.get('/status', { headers: { 'x-request-id': odd } });
        return String(answer.headers['x-request-id']);
      }),
    );
    for (const id of ids) assert.match(id, /^[0-9a-f]{16}-[0-9a-z]+$/);
    assert.equal(new Set(ids).size, ids.length);
  });

  it('an answer has a strong tag of its bytes, and a client that has it gets a 304', async () => {
    const first = await gateway.get(list);
    const etag = String(first.headers.etag);
    assert.match(etag, /^"[\w-]+"$/);
    for (const sent of [etag, `W/${etag}`, `"x", ${etag}`, `"x",W/${etag} , "y"`, '*']) {
      const again = await gateway.get(list, { headers: { 'if-none-match': sent } });
      assert.equal(again.status, 304, sent);
      assert.equal(again.body.length, 0);
      assert.equal(again.headers.etag, etag);
      assert.equal(again.headers['cache-control'], 'public, max-age=1');
      assert.match(String(again.headers.vary), /accept-encoding/);
      assert.equal(again.headers['access-control-allow-origin'], '*');
      assert.ok(again.headers['x-request-id']);
      assert.equal(again.headers['content-type'], undefined);
    }
    const head = await gateway.get(list, { method: 'HEAD', headers: { 'if-none-match': etag } });
    assert.equal(head.status, 304);
    const other = await gateway.get(`${list}?pagination.limit=1`);
    assert.notEqual(other.headers.etag, etag);
  });

  it('problems have no tag and are not kept', async () => {
    const answer = await gateway.get('/nosuch', { headers: { 'if-none-match': '*' } });
    assert.equal(answer.status, 404);
    assert.equal(answer.headers.etag, undefined);
  });

  const codings: readonly [string | undefined, string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['x-gzip', 'gzip'],
    ['GZIP', 'gzip'],
    ['br;q=0, gzip;q=0', undefined],
    ['*', 'br'],
    ['br;q=0, *', 'gzip'],
    ['deflate', undefined],
    ['identity;q=1, gzip;q=0.5', undefined],
    ['br;q=nonsense', undefined],
  ];
  for (const [accept, coding] of codings) {
    it(`accept-encoding ${accept ?? 'absent'} is answered in ${coding ?? 'the plain form'}`, async () => {
      const headers = accept === undefined ? {} : { 'accept-encoding': accept };
      const plain = await gateway.get(list);
      const answer = await gateway.get(list, { headers });
      assert.equal(answer.headers['content-encoding'], coding);
      assert.match(String(answer.headers.vary), /accept-encoding/);
      assert.equal(Number(answer.headers['content-length']), answer.body.length);
      const body =
        coding === 'br'
          ? brotliDecompressSync(answer.body)
          : coding === 'gzip'
            ? gunzipSync(answer.body)
            : answer.body;
      assert.deepEqual(body, plain.body);
      if (coding !== undefined) {
        assert.ok(answer.body.length < plain.body.length / 2);
        assert.notEqual(answer.headers.etag, plain.headers.etag, 'two codings share a strong tag');
        const etag = String(answer.headers.etag);
        const again = await gateway.get(list, { headers: { ...headers, 'if-none-match': etag } });
        assert.equal(again.status, 304);
      }
    });
  }

  it('what can no longer change may be kept for long, the rest for a second', async () => {
    const hash = gateway.fakes.chain.txs[0]?.toString().match(/"txhash":"(\w+)"/)?.[1];
    const long = 'public, max-age=86400';
    const short = 'public, max-age=1';
    const uncounted = `${list}?pagination.limit=2&pagination.count_total=false`;
    const expected: readonly [string, string][] = [
      ['/status', short],
      ['/indexer/block/v1/avg_blocktime', short],
      ['/indexer/block/v1/blocks', short],
      ['/indexer/block/v1/blocks/5', long],
      [`${list}/${hash}`, long],
      [list, short],
      [`${list}?pagination.key=at-2&pagination.limit=2`, short],
      [`${uncounted}&pagination.key=at-2`, long],
      [uncounted, short],
      [`${uncounted}&pagination.offset=2`, short],
      [`${uncounted}&pagination.key=at-0`, short],
      [`${uncounted}&pagination.key=at-4`, long],
      [`${uncounted}&pagination.key=at-2&pagination.reverse=0`, long],
      [`${uncounted}&pagination.key=at-4&pagination.reverse=0`, short],
      ['/indexer/block/v1/blocks?pagination.key=at-2&pagination.count_total=false', short],
    ];
    for (const [path, cache_control] of expected) {
      assert.equal((await gateway.get(path)).headers['cache-control'], cache_control, path);
    }
    gateway.fakes.instead.set('getBlock', async () => ({
      block: {
        ...gateway.fakes.chain.blocks[0],
        height: '3',
        proposer: { moniker: '', identity: '', operator_address: '' },
      },
    }));
    const answer = await gateway.get('/indexer/block/v1/blocks/3');
    assert.equal(answer.headers['cache-control'], short, 'the proposer may be learnt later');
  });

  for (const bytes of [
    'GET /status\xe9 HTTP/1.1\r\nhost: a\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01',
    'GET /status HTTP/1.1\r\nhost: a\r\ncontent-length: x\r\n\r\n',
  ]) {
    it(`the bytes ${JSON.stringify(bytes).slice(0, 40)} are a 400 in JSON`, async () => {
      const text = await sendBytes(gateway.port, bytes);
      assert.match(text, /^HTTP\/1\.1 400 /);
      assert.deepEqual(JSON.parse(text.split('\r\n\r\n')[1] ?? ''), {
        code: 3,
        message: 'this is not an HTTP request that can be read',
        details: [],
      });
    });
  }

  it('an absolute target and HTTP/1.0 work', async () => {
    const target = `GET http://elsewhere/status HTTP/1.0\r\n\r\n`;
    assert.match(await sendBytes(gateway.port, target), /^HTTP\/1\.1 200 /);
  });

  it('a request body is ignored and the connection goes on', async () => {
    const text = await sendBytes(
      gateway.port,
      'POST /status HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\n\r\nabcGET /status HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n',
    );
    assert.deepEqual(text.match(/HTTP\/1\.1 \d+/g), ['HTTP/1.1 405', 'HTTP/1.1 200']);
  });

  it('requests are measured by route and status', async () => {
    await gateway.get('/nosuch');
    const text = await gateway.metrics.registry.metrics();
    assert.match(text, /weft_http_request_seconds_count\{route="\/status",status="200"\} \d/);
    assert.match(text, /weft_http_request_seconds_count\{route="unknown",status="404"\} \d/);
    assert.match(text, /route="\/indexer\/tx\/v1\/txs",status="304"/);
  });
});

describe('gateway: HTTP by configuration', () => {
  const using = async (env: Record<string, string>, test: (gateway: TestGateway) => Promise<void>) => {
    const gateway = await startTestGateway(env);
    try {
      await test(gateway);
    } finally {
      await gateway.stop();
    }
  };

  it('below a base path everything works, and nothing elsewhere', () =>
    using({ BASE_PATH: '/rollup-1/' }, async (gateway) => {
      for (const path of [
        '/rollup-1/status',
        '//rollup-1//status/',
        '/rollup-1',
        '/rollup-1/',
        '/rollup-1/swagger/',
      ]) {
        assert.equal((await gateway.get(path)).status, 200, path);
      }
      for (const path of ['/status', '/', '/rollup-12/status', '/rollup-1status']) {
        assert.equal((await gateway.get(path)).status, 404, path);
      }
      assert.equal((await gateway.get('/rollup-1')).json().docs, '/rollup-1/swagger/');
      const doc = (await gateway.get('/rollup-1/swagger/doc.json')).json();
      assert.deepEqual(doc.servers, [{ url: '/rollup-1' }]);
      const page = (await gateway.get('/rollup-1/swagger')).body.toString();
      for (const [, link] of page.matchAll(/(?:src|href)="([^"]+)"/g)) {
        assert.match(String(link), /^\/rollup-1\/swagger\//);
        assert.equal((await gateway.get(String(link))).status, 200, link);
      }
    }));

  it('origins can be a list', () =>
    using({ CORS: 'https://a.example, https://b.example:8443' }, async (gateway) => {
      const from = (origin: string) => gateway.get('/status', { headers: { origin } });
      const own = 'https://b.example:8443';
      assert.equal((await from(own)).headers['access-control-allow-origin'], own);
      const other = await from('https://c.example');
      assert.equal(other.headers['access-control-allow-origin'], undefined);
      assert.match(String(other.headers.vary), /origin/);
      assert.equal((await gateway.get('/status')).headers['access-control-allow-origin'], undefined);
    }));

  for (const env of [{ CORS: 'off' }, { CORS_ENABLED: 'false' }]) {
    it(`${JSON.stringify(env)} turns cross-origin calls off`, () =>
      using(env as Record<string, string>, async (gateway) => {
        const headers = { origin: 'https://a.example', 'access-control-request-method': 'GET' };
        const answer = await gateway.get('/status', { headers });
        assert.equal(answer.headers['access-control-allow-origin'], undefined);
        const preflight = await gateway.get('/status', { method: 'OPTIONS', headers });
        assert.equal(preflight.headers['access-control-allow-methods'], undefined);
      }));
  }

  it('absent keys can be null', () =>
    using({ PAGINATION_ABSENT_KEY: 'null' }, async (gateway) => {
      for (const path of [list, '/indexer/block/v1/blocks']) {
        const { pagination } = (await gateway.get(path)).json();
        assert.deepEqual(pagination, { next_key: null, previous_key: null, total: '5' });
      }
      const { pagination } = (await gateway.get(`${list}?pagination.limit=1`)).json();
      assert.deepEqual(pagination, { next_key: 'at-1', previous_key: null, total: '5' });
    }));

  for (const VM_TYPE of ['move', 'wasm']) {
    it(`EVM routes are a 501 on ${VM_TYPE}, and no service is asked`, () =>
      using({ VM_TYPE }, async (gateway) => {
        const tails = ['', '/by_account/0x1', '/by_height/1', `/${'ab'.repeat(32)}`];
        const names = ['evm-txs', 'evm-internal-txs'];
        for (const path of names.flatMap((name) => tails.map((tail) => `/indexer/tx/v1/${name}${tail}`))) {
          const answer = await gateway.get(path);
          assert.equal(answer.status, 501, path);
          assert.equal(answer.json().code, 12);
          assert.match(answer.json().message, new RegExp(VM_TYPE));
        }
        assert.equal(gateway.fakes.calls.length, 0);
        assert.equal((await gateway.get(list)).status, 200);
      }));
  }

  it('more requests than allowed are a 429 that says when to come again', () =>
    using({ RATE_LIMIT: '1' }, async (gateway) => {
      const answers = await Promise.all([1, 2, 3].map(() => send(gateway.port, '/status')));
      const refused = answers.filter((answer) => answer.status === 429);
      assert.equal(refused.length, 2);
      assert.equal(refused[0]?.headers['retry-after'], '1');
      assert.equal(refused[0]?.json().code, 8);
      assert.equal(refused[0]?.headers['access-control-allow-origin'], '*');
    }));
});
