import assert from 'node:assert/strict';
import { readRowBinary } from '../../services/common/clickhouse/formats.js';
import { checkAddress, checkPage } from '../../services/common/page/fit.js';
import { checkHash, cleanMsgs } from '../../services/tx/rpc.js';

const page = { key: '', offset: 0, limit: 10, count_total: true, reverse: true };

describe('requests of the tx service', () => {
  it('take hashes in any case, with or without 0x, and nothing else', () => {
    const hash = 'ab'.repeat(32);
    for (const text of [hash, hash.toUpperCase(), `0x${hash}`, `0X${hash.toUpperCase()}`])
      assert.equal(checkHash(text), hash);
    for (const text of [
      '',
      '0x',
      hash.slice(1),
      `${hash}00`,
      `${hash}\n`,
      ` ${hash}`,
      'g'.repeat(64),
      '%'.repeat(200),
    ])
      assert.throws(() => checkHash(text), /tx_hash/);
  });

  it('take accounts as bech32 and as hex', () => {
    assert.equal(checkAddress('account', '0x1', 'init'), '1'.padStart(40, '0'));
    assert.throws(
      () => checkAddress('account', 'init1', 'init'),
      /account "init1" is neither bech32 with the prefix init/,
    );
    assert.throws(
      () => checkAddress('account', 'x'.repeat(500), 'init'),
      (error: Error) => error.message.length < 250,
    );
  });

  it('take pages of 1 to 1000 items, however far away', () => {
    assert.deepEqual(checkPage(page), page);
    assert.equal(checkPage({ ...page, offset: Number.MAX_SAFE_INTEGER }).offset, 2 ** 50);
    for (const limit of [0, 1001])
      assert.throws(() => checkPage({ ...page, limit }), new RegExp(`limit ${limit} `));
    assert.throws(() => checkPage(undefined), /pagination is missing/);
  });

  it('take message types with a slash, twice, and empty ones for none', () => {
    assert.deepEqual(cleanMsgs(['/b.B', 'a.A', 'b.B', '', '/']), ['a.A', 'b.B']);
    assert.deepEqual(cleanMsgs(['']), []);
  });
});

describe('answers in RowBinary', () => {
  it('are read column by column, whatever bytes are in them', () => {
    const text = Buffer.from([0, 9, 10, 13, 255, 128]);
    const long = Buffer.alloc(300, 7);
    const uint64 = Buffer.alloc(8);
    uint64.writeBigUInt64LE(2n ** 52n + 5n);
    const uint32 = Buffer.alloc(4);
    uint32.writeUInt32LE(4_000_000_000);
    const rows = readRowBinary(
      Buffer.concat([uint64, Buffer.from([6]), text, uint32, Buffer.from([0xac, 0x02]), long]),
    );
    assert.equal(rows.uint64(), 2 ** 52 + 5);
    assert.deepEqual(rows.bytes(), text);
    assert.equal(rows.uint32(), 4_000_000_000);
    assert.ok(rows.more());
    assert.deepEqual(rows.bytes(), long);
    assert.ok(!rows.more());
  });

  it('that end within a value are an error', () => {
    assert.throws(() => readRowBinary(Buffer.from([1, 2, 3])).uint64(), RangeError);
    assert.throws(() => readRowBinary(Buffer.from([5, 1, 2])).bytes(), RangeError);
    assert.throws(() => readRowBinary(Buffer.from([0x80])).bytes(), RangeError);
  });
});
