import assert from 'node:assert/strict';
import { startTestGateway } from '../support/gateway-client.js';
import { startBefore } from '../support/suite.js';

const txs = '/indexer/tx/v1/txs';
const page = { key: '', offset: 0, limit: 100, count_total: true, reverse: true };
const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';

describe('gateway: parameters', () => {
  const gateway = startBefore(
    () => startTestGateway({ CACHE_MB: '0' }),
    (gateway) => gateway.stop(),
  );

  /** What the service was asked for one HTTP request. */
  async function asked(path: string): Promise<Record<string, unknown>> {
    gateway.fakes.calls.length = 0;
    const answer = await gateway.get(path);
    assert.equal(answer.status, 200, `${path}: ${answer.body}`);
    assert.equal(gateway.fakes.calls.length, 1);
    return { ...gateway.fakes.calls[0]?.request };
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
    ['pagination.offset=1&pagination.offset=x&pagination.limit=zz', /pagination\.limit.*zz/],
  ];
  for (const [query, message] of bad) {
    it(`${query} is refused, and no service is asked`, async () => {
      gateway.fakes.calls.length = 0;
      const answer = await gateway.get(`${txs}?${query}`);
      assert.equal(answer.status, 400);
      assert.match(answer.json().message, message);
      assert.equal(gateway.fakes.calls.length, 0);
    });
  }

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
    const request = await asked(`${txs}/by_account/0x1?is_signer=`);
    assert.equal(request['account'], `0x${'1'.padStart(40, '0')}`);
    assert.equal(request['is_signer'], false);
  });
  it('blocks always count and ignore count_total', async () => {
    const request = await asked('/indexer/block/v1/blocks?pagination.count_total=false&pagination.limit=2');
    assert.deepEqual(request, { pagination: { ...page, limit: 2 } });
  });
});
