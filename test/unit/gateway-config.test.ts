import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { ConfigError, loadSettings } from '../../services/common/runtime/config.js';
import { asDuration_ms, gatewaySettings } from '../../services/gateway/config.js';
import { createRateLimit } from '../../services/gateway/http/admission.js';
import { clientAddress } from '../../services/gateway/http/exchange.js';

const load = (env: Record<string, string>) => loadSettings(gatewaySettings, env);

describe('gateway: configuration', () => {
  it('has a default for everything, and each setting is documented', () => {
    const config = load({});
    assert.equal(config.PORT, 8080);
    assert.equal(config.HOST, '127.0.0.1');
    assert.equal(config.BASE_PATH, '');
    assert.equal(config.CORS, '*');
    assert.equal(config.PAGINATION_ABSENT_KEY, '');
    assert.equal(config.REQUEST_TIMEOUT_MS, 10_000);
    assert.equal(config.RATE_LIMIT, 0);
    assert.equal(config.CACHE_MB, 64);
    assert.equal(config.BLOCK_SERVICE_ADDR, '127.0.0.1:7001');
    assert.equal(config.TX_SERVICE_ADDR, '127.0.0.1:7002');
    for (const [name, setting] of Object.entries(gatewaySettings)) assert.match(setting.doc, /\.$/, name);
  });

  it('knows the other names of settings', () => {
    assert.equal(load({ INDEXER_PORT: '1234' }).PORT, 1234);
    assert.equal(load({ INDEXER_PORT: '1234', PORT: '1' }).PORT, 1);
    assert.equal(load({ QUERY_TIMEOUT: '30s' }).REQUEST_TIMEOUT_MS, 30_000);
    assert.deepEqual(load({ CORS_ALLOW_ORIGINS: 'https://a.example' }).CORS, ['https://a.example']);
  });

  const durations: readonly [string, number][] = [
    ['1', 1],
    ['250', 250],
    ['30s', 30_000],
    ['1m30s', 90_000],
    ['1.5s', 1_500],
    ['500ms', 500],
  ];
  for (const [text, ms] of durations) it(`${text} is ${ms} ms`, () => assert.equal(asDuration_ms(text), ms));
  for (const text of ['', '0', '-1', '1.5', '30 s', 's', '30x', '30s!', '11m', '0s', '1e3']) {
    it(`${JSON.stringify(text)} is no timeout`, () => assert.throws(() => asDuration_ms(text), /must be/));
  }

  it('base paths are normalised', () => {
    assert.equal(load({ BASE_PATH: '/' }).BASE_PATH, '');
    assert.equal(load({ BASE_PATH: '/a/b/' }).BASE_PATH, '/a/b');
    assert.equal(load({ BASE_PATH: '//a' }).BASE_PATH, '/a');
  });

  it('origins are read', () => {
    assert.deepEqual(load({ CORS: 'off' }).CORS, []);
    assert.equal(load({ CORS: 'https://a.example, *' }).CORS, '*');
    assert.deepEqual(load({ CORS: 'https://A.example/,http://localhost:3000' }).CORS, [
      'https://a.example',
      'http://localhost:3000',
    ]);
  });

  const mistakes: readonly Record<string, string>[] = [
    { PORT: '65536' },
    { BASE_PATH: 'rollup' },
    { BASE_PATH: '/a"b' },
    { BASE_PATH: '/a b' },
    { CORS: 'a.example' },
    { CORS: 'https://a.example/path' },
    { CORS_ENABLED: 'perhaps' },
    { PAGINATION_ABSENT_KEY: 'none' },
    { RATE_LIMIT: '-1' },
    { CACHE_MB: 'x' },
    { BLOCK_SERVICE_ADDR: 'localhost' },
    { TX_SERVICE_ADDR: 'a b:1' },
    { VM_TYPE: 'sui' },
  ];
  for (const env of mistakes) {
    it(`${JSON.stringify(env)} is a mistake that is named`, () => {
      assert.throws(
        () => load(env),
        (error) => error instanceof ConfigError && error.message.includes(Object.keys(env)[0] as string),
      );
    });
  }
});

describe('gateway: rate limit', () => {
  const from = (remoteAddress: string, forwarded?: string) =>
    ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage;

  it('is off at 0', () => assert.equal(createRateLimit(0), undefined));

  it('lets one second of requests through at once and then fills by the second', () => {
    let now = 0;
    const wait = createRateLimit(2, () => now);
    assert.ok(wait);
    assert.deepEqual(
      [1, 2, 3].map(() => wait('10.0.0.1')),
      [0, 0, 1],
    );
    assert.equal(wait('10.0.0.2'), 0, 'another address is held up');
    now = 400;
    assert.equal(wait('10.0.0.1'), 1);
    now = 500;
    assert.equal(wait('10.0.0.1'), 0);
    now = 100_000;
    assert.deepEqual(
      [1, 2, 3].map(() => wait('10.0.0.1')),
      [0, 0, 1],
      'a pause saves up no more than a second',
    );
  });

  it('goes by the connection unless proxies are trusted, and then by what the outermost trusted one saw', () => {
    assert.equal(clientAddress(from('10.0.0.1', '1.1.1.1'), 0), '10.0.0.1');
    assert.equal(clientAddress(from('10.0.0.1', '9.9.9.9, 1.1.1.1'), 1), '1.1.1.1');
    assert.equal(clientAddress(from('10.0.0.1', '9.9.9.9, 1.1.1.1, 2.2.2.2'), 2), '1.1.1.1');
    assert.equal(clientAddress(from('10.0.0.1'), 1), '10.0.0.1');
    assert.equal(clientAddress(from('10.0.0.1', '1.1.1.1'), 3), '10.0.0.1');
  });

  it('does not take the port that a proxy writes for another client', () => {
    for (const hop of ['1.1.1.1', '1.1.1.1:1', '1.1.1.1:65535', '[::ffff:1.1.1.1]:7', '::ffff:1.1.1.1'])
      assert.equal(clientAddress(from('10.0.0.1', hop), 1), '1.1.1.1', hop);
    for (const hop of ['2001:db8:0:1::5', '[2001:db8:0:1::5]', '[2001:db8:0:1::9]:443'])
      assert.equal(clientAddress(from('10.0.0.1', hop), 1), '2001:db8:0:1', hop);
    for (const hop of ['unknown', 'x'.repeat(1_000), ':1', '[', '1.1.1.1:2:3'])
      assert.equal(clientAddress(from('10.0.0.1', hop), 1), '10.0.0.1', hop);
  });

  it('takes the /64 of IPv6, and IPv4 inside it for what it is', () => {
    assert.equal(clientAddress(from('::ffff:10.0.0.1'), 0), '10.0.0.1');
    assert.equal(
      clientAddress(from('2001:db8:0:1::5'), 0),
      clientAddress(from('2001:0db8::1:aa:bb:cc:dd'), 0),
    );
    assert.notEqual(clientAddress(from('2001:db8:0:1::5'), 0), clientAddress(from('2001:db8:0:2::5'), 0));
    assert.equal(clientAddress(from('::1'), 0), '0:0:0:0');
  });
});
