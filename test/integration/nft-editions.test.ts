import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import type { NftBlock, NftEvent } from '../../services/nft/decode/types.js';
import { streamAccountTokens } from '../../services/nft/read/past.js';
import { type Reader, startReading } from '../../services/nft/read/reader.js';
import { listTokensByAccount, listTokensByCollection } from '../../services/nft/read/token-lists.js';
import { endOf } from '../../services/nft/store/place.js';
import { tokenIdOf } from '../../services/nft/token-key.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { migrateNft, type NftTables, openNft } from '../support/nft-tables.js';

const [collector, other, artist] = ['a1', 'b2', 'c3'].map((pair) => pair.repeat(20)) as [
  string,
  string,
  string,
];
const art = 'd4'.repeat(20);

/** A collection of its own for every token that was sent to everybody. */
const spamOf = (n: number): string => `e5${String(n).padStart(4, '0')}`.padEnd(40, '0');

const page = { key: '', offset: 0, limit: 100, count_total: true, reverse: true };

/** Blocks of which each follows the one before. */
function chain() {
  let height = 0;
  return (events: readonly object[]): NftBlock => {
    height += 1;
    const hashAt = (h: number) => String(h).padStart(64, 'A');
    const tx = { hash: hashAt(height).toLowerCase(), signer: artist };
    return {
      ...{ height, hash: hashAt(height), parent_hash: height === 1 ? '' : hashAt(height - 1) },
      ...{ timestamp: '2026-11-21T09:20:10Z', problems: [] },
      events: events.map((event, index) => ({ ...event, tx, index })) as NftEvent[],
    };
  };
}

/** The same reader, whose statements must not look at more rows than so many. */
function frugal(reader: Reader, rows: number): Reader {
  const { database } = reader;
  const limited: Database = {
    ...database,
    rows: (sql, params, options) =>
      database.rows(`${sql} SETTINGS max_rows_to_read = ${rows}`, params, options),
  };
  return { ...reader, database: limited };
}

const many = (count: number, of: (n: number) => object): object[] =>
  Array.from({ length: count }, (_, n) => of(n));

describe('lists of which much is gone', function () {
  this.timeout(180_000);
  const past = 6_000;
  const [spammed, sentAtOnce] = [300, 1_500];
  const kept = ['1', '3001', '6000'];
  let database: Database;
  let tables: NftTables;
  const prefix = uniquePrefix();
  let top = 0;
  const merges = async (what: 'STOP' | 'START'): Promise<void> => {
    for (const table of ['items', 'counts', 'tokens'])
      await database.command(`SYSTEM ${what} MERGES ${prefix}_nft.${table}`, {}, { name: 'test' });
  };

  before(async () => {
    database = await testDatabase();
    await migrateNft(database, prefix);
    await merges('STOP');
    tables = await openNft(database, prefix, { vm: 'evm' });
    await tables.store.recover();
    const next = chain();
    const write = async (events: readonly object[]): Promise<void> => {
      const block = next(events);
      top = block.height;
      await tables.store.writeBlocks([block]);
    };
    const token = (n: number) => ({ collection: art, token_id: String(n + 1) });
    const spam = (n: number) => ({ collection: spamOf(n), token_id: '1' });
    await write(many(past, (n) => ({ what: 'mint', token: token(n), owner: collector })));
    await write(many(spammed, (n) => ({ what: 'mint', token: spam(n), owner: collector })));
    for (let first = 0; first < past; first += sentAtOnce) {
      const sent = many(sentAtOnce, (n) => ({ what: 'transfer', token: token(first + n), owner: other }));
      await write(sent.filter((_, n) => !kept.includes(String(first + n + 1))));
    }
    await write(many(spammed, (n) => ({ what: 'burn', token: spam(n) })));
    await tables.learn();
  });

  const idsOf = (found: { items: { token: { id_key: string } }[] }) =>
    found.items.map(({ token }) => tokenIdOf(token.id_key));

  it('cost what is in them, not what once was, whatever has been merged', async () => {
    // A statement looks at whole granules of 256 rows, of every part that has any.
    const reading = startReading(frugal(tables.index.reader, 8_000), {});
    for (const order of ['token_id', 'height'] as const)
      for (const collection of ['', art]) {
        const found = await listTokensByAccount(reading, collector, collection, {
          token_id: '',
          order,
          page,
        });
        assert.deepEqual(idsOf(found).sort(), [...kept].sort());
        assert.equal(found.pagination.total, '3');
      }
  });

  it('show a collection whose tokens are burnt but for some, and are read on by key and offset', async () => {
    const next = chain();
    const another = uniquePrefix();
    await migrateNft(database, another);
    const burnt = await openNft(database, another, { vm: 'evm' });
    await burnt.store.recover();
    const token = (n: number) => ({ collection: art, token_id: String(n) });
    await burnt.store.writeBlocks([
      next(many(2_000, (n) => ({ what: 'mint', token: token(n), owner: other }))),
    ]);
    // The last ones go first, so that nothing is left at the beginning of the list.
    for (let last = 2_000; last > 5; last -= 399)
      await burnt.store.writeBlocks([next(many(399, (n) => ({ what: 'burn', token: token(last - 1 - n) })))]);
    await burnt.learn();
    const reading = startReading(burnt.index.reader, {});
    const ask = (request: Partial<typeof page>) =>
      listTokensByCollection(reading, art, {
        token_id: '',
        order: 'token_id',
        page: { ...page, ...request },
      });
    const all = await ask({});
    assert.deepEqual(idsOf(all), ['4', '3', '2', '1', '0']);
    assert.equal(all.pagination.total, '5');
    const first = await ask({ limit: 2 });
    assert.deepEqual(idsOf(await ask({ limit: 2, key: first.pagination.next_key })), ['2', '1']);
    assert.deepEqual(idsOf(await ask({ limit: 2, offset: 3 })), ['1', '0']);
  });

  it('keep their past', async () => {
    const reading = { ...startReading(tables.index.reader, {}), end: endOf(2) };
    let held = 0;
    for await (const some of streamAccountTokens(reading, collector)) held += some.length;
    assert.equal(held, past + spammed);
    const now = [];
    for await (const some of streamAccountTokens(startReading(tables.index.reader, {}), collector))
      now.push(...some.map(({ id_key }) => tokenIdOf(id_key)));
    assert.deepEqual(now.sort(), [...kept].sort());
  });

  it('are as they were after a rollback to before they were written anew, and grow again', async () => {
    const height = 3;
    await merges('START'); // or nothing can be removed
    await tables.store.unwind(height);
    const reading = startReading(tables.index.reader, {});
    const query = { token_id: '', order: 'token_id', page } as const;
    // All but one of 1,500 were sent away in block 3.
    const found = await listTokensByAccount(reading, collector, art, query);
    assert.equal(found.pagination.total, String(past - 1_499));
    assert.equal((await listTokensByAccount(reading, other, '', query)).pagination.total, '1499');
    assert.ok(top > height);
  });
});
