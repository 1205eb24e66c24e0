import assert from 'node:assert/strict';
import { startTestGateway, type TestGateway } from '../support/gateway-client.js';

const txs = '/indexer/tx/v1/txs';
const page = { key: '', offset: 0, limit: 100, count_total: true, reverse: true };
const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';

describe('gateway: parameters', () => {
  let gateway: TestGateway;
  before(async () => {
    gateway = await startTestGateway({ CACHE_MB: '0' });
  });
  after(() => gateway.stop());

  /** What the service was asked for one HTTP request. */
  async function asked(path: string): Promise<Record<string, unknown>> {
    gateway.fakes.calls.length = 0;
    const answer = await gateway.get(path);
    assert.equal(answer.status, 200, `${path}: ${answer.body}`);
    assert.equal(gateway.fakes.calls.length, 1);
    return { ...gateway.fakes.calls[0]?.request };
  }

  async function refused(path: string, message: RegExp): Promise<void> {
    gateway.fakes.calls.length = 0;
    const answer = await gateway.get(path);
    assert.equal(answer.status, 400, `${path}: ${answer.status} ${answer.body}`);
    const body = answer.json();
    assert.deepEqual(Object.keys(body), ['code', 'message', 'details']);
    assert.equal(body.code, 3);
    assert.deepEqual(body.details, []);
    assert.match(body.message, message);
    assert.equal(gateway.fakes.calls.length, 0, 'a service was asked for what is wrong');
  }

  const pages: readonly [string, object][] = [
    ['', {}],
    ['?pagination.key=', {}],
    ['?pagination.key=&pagination.offset=&pagination.limit=&pagination.reverse=&pagination.count_total=', {}],
    ['?pagination.limit=1', { limit: 1 }],
    ['?pagination.limit=1000', { limit: 1000 }],
    ['?pagination.limit=007', { limit: 7 }],
    ['?pagination.offset=0', {}],
    ['?pagination.offset=12345678901', { offset: 12345678901 }],
    ['?pagination.offset=99999999999999999999', { offset: Number.MAX_SAFE_INTEGER }],
    ['?pagination.reverse=false', { reverse: false }],
    ['?pagination.reverse=FALSE', { reverse: false }],
    ['?pagination.reverse=0', { reverse: false }],
    ['?pagination.reverse=1', {}],
    ['?pagination.reverse=True', {}],
    ['?pagination.count_total=false', { count_total: false }],
    ['?pagination.key=at-2', { key: 'at-2' }],
    ['?pagination.key=at-2&pagination.offset=3', { key: 'at-2' }],
    ['?pagination.limit=2&pagination.limit=3', { limit: 2 }],
    ['?limit=10&unknown=%zz&pagination.unknown=1&x', {}],
  ];
  for (const [query, more] of pages) {
    it(`${query || 'no parameter'} asks for the page ${JSON.stringify(more)}`, async () => {
      assert.deepEqual(await asked(`${txs}${query}`), { msgs: [], pagination: { ...page, ...more } });
    });
  }

  const bad: readonly [string, RegExp][] = [
    ['pagination.limit=0', /pagination\.limit.*0.*1 to 1000/],
    ['pagination.limit=1001', /pagination\.limit.*1001/],
    ['pagination.limit=-1', /pagination\.limit.*-1/],
    ['pagination.limit=abc', /pagination\.limit.*abc/],
    ['pagination.limit=1.5', /pagination\.limit.*1\.5/],
    ['pagination.limit=1e2', /pagination\.limit.*1e2/],
    ['pagination.limit=0x10', /pagination\.limit.*0x10/],
    ['pagination.limit=%201', /pagination\.limit/],
    ['pagination.limit=%D9%A3', /pagination\.limit/],
    ['pagination.limit=99999999999999999999999', /pagination\.limit/],
    ['pagination.offset=-1', /pagination\.offset.*-1/],
    ['pagination.offset=x', /pagination\.offset.*x/],
    ['pagination.offset=1&pagination.offset=x&pagination.limit=zz', /pagination\.limit.*zz/],
    ['pagination.reverse=yes', /pagination\.reverse.*yes/],
    ['pagination.reverse=2', /pagination\.reverse.*2/],
    ['pagination.count_total=t', /pagination\.count_total.*t/],
    ['pagination.key=%', /pagination\.key.*%/],
    ['msgs=%ff', /msgs.*%ff/],
  ];
  for (const [query, message] of bad) {
    it(`${query} is refused`, () => refused(`${txs}?${query}`, message));
  }

  it('a long wrong value is cut in the message', async () => {
    const answer = await gateway.get(`${txs}?pagination.limit=${'9'.repeat(5_000)}`);
    assert.equal(answer.status, 400);
    assert.ok(answer.json().message.length < 300);
  });

  const types: readonly [string, string[]][] = [
    ['msgs=', []],
    ['msgs', []],
    ['msgs=,,%20,/', []],
    ['msgs=a.v1.MsgA', ['a.v1.MsgA']],
    ['msgs=/a.v1.MsgA', ['a.v1.MsgA']],
    ['msgs=%2Fa.v1.MsgA', ['a.v1.MsgA']],
    ['msgs=b,a', ['a', 'b']],
    ['msgs=b&msgs=a', ['a', 'b']],
    ['msgs=b,%2Fa&msgs=c&msgs=&msgs=a', ['a', 'b', 'c']],
    ['msgs=%00', ['\0']],
    ['msgs=no.such.v1.Msg', ['no.such.v1.Msg']],
  ];
  for (const [query, msgs] of types) {
    it(`${query} filters by ${JSON.stringify(msgs)} on all three lists`, async () => {
      assert.deepEqual((await asked(`${txs}?${query}`))['msgs'], msgs);
      assert.deepEqual((await asked(`${txs}/by_height/5?${query}`))['msgs'], msgs);
      assert.deepEqual((await asked(`${txs}/by_account/${account}?${query}`))['msgs'], msgs);
    });
  }

  for (const height of [
    '0',
    '-1',
    'abc',
    '1.5',
    '9223372036854775808',
    `1${'0'.repeat(60)}`,
    '%20',
    '1%00',
    '+1',
    '0x1',
  ]) {
    it(`the height ${height} is refused everywhere`, async () => {
      const named = new RegExp(`height.*${height.slice(0, 5).replace(/[%+].*/, '')}`);
      await refused(`/indexer/block/v1/blocks/${height}`, named);
      await refused(`${txs}/by_height/${height}`, named);
      await refused(`/indexer/tx/v1/evm-txs/by_height/${height}`, named);
      await refused(`/indexer/tx/v1/evm-internal-txs/by_height/${height}`, named);
    });
  }

  it('heights that no number holds are asked as the largest one, and no block stands there', async () => {
    const most = '9223372036854775807';
    assert.equal((await asked(`${txs}/by_height/${most}`))['height'], Number.MAX_SAFE_INTEGER);
    const answer = await gateway.get(`/indexer/block/v1/blocks/${most}`);
    assert.equal(answer.status, 404);
    assert.match(answer.json().message, /9223372036854775807/);
    assert.equal((await asked(`${txs}/by_height/0005`))['height'], 5);
  });

  const hash = 'ab'.repeat(32);
  for (const written of [hash, hash.toUpperCase(), `0x${hash}`, `0X${hash.toUpperCase()}`]) {
    it(`the hash ${written.slice(0, 6)}... is asked in one spelling`, async () => {
      gateway.fakes.calls.length = 0;
      await gateway.get(`${txs}/${written}`);
      await gateway.get(`/indexer/tx/v1/evm-txs/${written}`);
      await gateway.get(`/indexer/tx/v1/evm-internal-txs/${written}`);
      assert.deepEqual(
        gateway.fakes.calls.map((call) => call.request['tx_hash']),
        [hash.toUpperCase(), `0x${hash}`, `0x${hash}`],
      );
    });
  }
  for (const written of [
    'NOTAHASH',
    hash.slice(1),
    `${hash}0`,
    `0x0x${hash}`,
    `${hash.slice(2)}zz`,
    'by_account',
    `%20${hash}`,
  ]) {
    it(`${written.slice(0, 14)} is no hash`, async () => {
      await refused(`${txs}/${written}`, /tx_hash/);
      await refused(`/indexer/tx/v1/evm-txs/${written}`, /tx_hash/);
      await refused(`/indexer/tx/v1/evm-internal-txs/${written}`, /tx_hash/);
    });
  }

  const bech32 = 'init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqz';
  for (const written of [
    bech32,
    bech32.toUpperCase(),
    account,
    '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
    `0x${'0'.repeat(24)}${account.slice(2)}`,
  ]) {
    it(`the account ${written.slice(0, 12)}... is asked in one spelling`, async () => {
      for (const list of ['txs', 'evm-txs', 'evm-internal-txs']) {
        const request = await asked(`/indexer/tx/v1/${list}/by_account/${written}?is_signer=1`);
        assert.equal(request['account'], account);
        assert.equal(request['is_signer'], true);
      }
    });
  }
  it('a short account is padded to 20 bytes', async () => {
    const request = await asked(`${txs}/by_account/0x1`);
    assert.equal(request['account'], `0x${'1'.padStart(40, '0')}`);
    assert.equal(request['is_signer'], false);
  });
  for (const written of [
    'init1notanaddress',
    'init1zg69v7yszg69v7yszg69v7yszg69v7ysqp2t6k',
    'x',
    '0x',
    '0xzz',
    `0x${'1'.repeat(65)}`,
    'Init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqz',
    '%00',
    '%20',
    'cosmos17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqz',
  ]) {
    it(`the account ${written} is refused`, async () => {
      await refused(`${txs}/by_account/${written}`, /account/);
      await refused(`/indexer/tx/v1/evm-txs/by_account/${written}`, /account/);
      await refused(`/indexer/tx/v1/evm-internal-txs/by_account/${written}`, /account/);
    });
  }
  it('is_signer takes what booleans take', async () => {
    await refused(`${txs}/by_account/${account}?is_signer=maybe`, /is_signer.*maybe/);
    assert.equal((await asked(`${txs}/by_account/${account}?is_signer=`))['is_signer'], false);
  });

  it('a path parameter with a bad encoding is refused by its name', () =>
    refused(`${txs}/by_account/%zz`, /account.*%zz/));

  it('blocks always count and ignore count_total', async () => {
    const request = await asked('/indexer/block/v1/blocks?pagination.count_total=false&pagination.limit=2');
    assert.deepEqual(request, { pagination: { ...page, limit: 2 } });
  });
});
