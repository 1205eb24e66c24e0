import assert from 'node:assert/strict';
import { type Database, type Params, tuple } from '../../services/common/clickhouse/database.js';
import { withLiterals } from '../../services/common/clickhouse/literals.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { randomFrom } from '../support/random.js';

/** What ends strings, comments, statements and placeholders, and what no encoding likes. */
const pieces = [
  ...["'", "''", "\\'", '\\', '\\\\', '"', '`', ';', '--', '/*', '*/', '#', '$$', '{', '}', '{x:String}'],
  ...[
    '\0',
    '\n',
    '\n\n',
    '\r',
    '\t',
    '\b',
    '\f',
    '\v',
    '\x1b',
    '\x7f',
    '\u0080',
    '\u2028',
    '\ufeff',
    '\ufffd',
  ],
  ...[
    '\\x41',
    '\\N',
    '\\0',
    '%',
    '_',
    ' ',
    ' FORMAT TSV',
    ' SETTINGS max_threads = 1',
    ') OR (1 = 1',
    'é',
    '漢',
    '😀',
  ],
  ...['\ud83d', '\ude00', 'a', 'B', '0'],
];

describe('values as literals', () => {
  const random = randomFrom(20_260);
  const text = (): string => Array.from({ length: random.integer(9) }, () => random.pick(pieces)).join('');
  /** What the engine holds of a text: its bytes, where a lone surrogate has none. */
  const hex = (value: string): string => Buffer.from(value.toWellFormed()).toString('hex').toUpperCase();
  let database: Database;
  const read = (sql: string, params: Params) =>
    database.rows<Record<string, unknown>>(sql, params, { name: 'literals' });

  before(async () => {
    database = await testDatabase();
  });

  it('give the engine the bytes of every string, alone, in an array and in a tuple', async () => {
    const named = { one: '', two: '' };
    for (let round = 0; round < 150; round++) {
      const texts = Array.from({ length: 40 }, text);
      Object.assign(named, { one: texts[0], two: texts[1] });
      const [row] = await read(
        `SELECT hex({one:String}) AS one, hex({two:String}) AS two, arrayMap(x -> hex(x), {all:Array(String)}) AS list,
           arrayMap(x -> hex(x.1) || '/' || hex(x.2) || '/' || toString(x.3), {tuples:Array(Tuple(String, String, UInt64))}) AS tuples`,
        { ...named, all: texts, tuples: texts.map((one, index) => tuple([one, `${one}'`, index])) },
      );
      assert.deepEqual(row, {
        one: hex(named.one),
        two: hex(named.two),
        list: texts.map(hex),
        tuples: texts.map((one, index) => `${hex(one)}/${hex(`${one}'`)}/${index}`),
      });
    }
  });

  it('find in a table what was inserted, and nothing else', async () => {
    const table = `${uniquePrefix()}.kept`;
    await database.command(`CREATE DATABASE ${table.split('.')[0]}`, {}, { name: 'literals' });
    await database.command(
      `CREATE TABLE ${table} (text String, n UInt64) ENGINE = MergeTree ORDER BY text`,
      {},
      { name: 'literals' },
    );
    const texts = [...new Set(Array.from({ length: 3_000 }, () => text().toWellFormed()))];
    await database.insert(table, texts.map((one, n) => JSON.stringify({ text: one, n })).join('\n'), {
      name: 'literals',
    });
    for (const [n, one] of texts.entries()) {
      if (n % 10 !== 0) continue;
      assert.deepEqual(await read(`SELECT n FROM ${table} WHERE text = {one:String}`, { one }), [{ n }]);
    }
    const some = texts.filter(() => random.oneIn(3));
    const found = await read(`SELECT count() AS found FROM ${table} WHERE text IN {some:Array(String)}`, {
      some,
    });
    assert.deepEqual(found, [{ found: some.length }]);
    const pairs = some.map((one) => tuple([one, texts.indexOf(one)]));
    const both = `SELECT count() AS found FROM ${table} WHERE (text, n) IN {pairs:Array(Tuple(String, UInt64))}`;
    assert.deepEqual(await read(both, { pairs }), [{ found: some.length }]);
    assert.deepEqual(await read(both, { pairs: [] }), [{ found: 0 }]);
    await database.command(`DROP DATABASE ${table.split('.')[0]}`, {}, { name: 'literals' });
  });

  it('keep every digit of a number, and have the type that the placeholder names', async () => {
    const of = {
      UInt8: 255,
      Int8: -128,
      UInt32: 4294967295,
      UInt64: '18446744073709551615',
      Int64: '-9223372036854775808',
    };
    for (const [type, value] of [
      ...Object.entries(of),
      ['UInt256', 2n ** 256n - 1n],
      ['UInt64', Number.MAX_SAFE_INTEGER],
    ] as const)
      assert.deepEqual(
        await read(`SELECT toString({x:${type}}) AS text, toTypeName({x:${type}}) AS type`, { x: value }),
        [{ text: String(value), type }],
      );
    assert.deepEqual(
      await read(
        'SELECT number AS n FROM numbers(100) WHERE number IN {some:Array(UInt64)} LIMIT {most:UInt64} OFFSET {past:UInt64}',
        {
          ...{ some: [7, 9, 70, 99], most: 2, past: 1 },
        },
      ),
      [{ n: 9 }, { n: 70 }],
    );
  });

  it('may be many more than a statement usually holds', async () => {
    const some = Array.from({ length: 200_000 }, (_, index) => `a rather long text number ${index}`);
    const [row] = await read(
      'SELECT length({some:Array(String)}) AS n, {some:Array(String)}[200000] AS last',
      { some },
    );
    assert.deepEqual(row, { n: some.length, last: some.at(-1) });
  });

  it('are refused where they are missing or of another type', () => {
    const of = (type: string, x: unknown) => () => withLiterals(`SELECT {x:${type}}`, { x });
    for (const [type, value] of [
      ['UInt64', '1) OR (1 = 1'],
      ['UInt64', 1.5],
      ['UInt64', 2 ** 53],
      ['UInt64', Number.NaN],
      ['UInt64', ''],
      ['UInt64', [1]],
      ['String', 1],
      ['String', undefined],
      ['String', ['a']],
      ['Array(String)', 'a'],
      ['Array(String)', [['a']]],
      ['Array(UInt64)', ['1, 2']],
      ['Array(Tuple(String, UInt64))', [['a', 1]]],
      ['Array(Tuple(String, UInt64))', [tuple(['a'])]],
      ['Array(Tuple(String, UInt64))', [tuple(['a', 'b'])]],
      ['Date', '2026-01-01'],
    ] as const)
      assert.throws(of(type, value), TypeError, `${type} ${String(value)}`);
    assert.throws(() => withLiterals('SELECT {x:String}', {}), /no value for \{x:String\}/);
    assert.throws(() => withLiterals('SELECT {toString:String}', {}), /no value/);
  });
});
