import assert from 'node:assert/strict';
import type { Happening } from '../../services/nft/decode/types.js';
import { startReading } from '../../services/nft/read/reader.js';
import { listTokensByAccount } from '../../services/nft/read/token-lists.js';
import { lookUpClasses } from '../../services/nft/store/lookups.js';
import { memoryOf } from '../support/attack/memory.js';
import { testDatabase } from '../support/database.js';
import { newNft, nftBlock } from '../support/nft-tables.js';
import { counting } from '../support/statements.js';
import { differencesOf } from '../support/views.js';

const [collection, alice, bob] = ['c', 'a', 'b'].map((letter) => letter.repeat(40)) as [
  string,
  string,
  string,
];

describe('the writer of NFTs, where a block comes to far more than its events', () => {
  it('writes large uris of tokens that move a part at a time', async () => {
    const count = 2_000;
    // JSON has six characters for each of these.
    const uri = '\x01'.repeat(16 * 1024);
    const { store, index, learn } = await newNft({ vm: 'wasm', capacity: 10_000 });
    const ids = Array.from({ length: count }, (_, index) => String(index + 1));
    for (let from = 0; from < count; from += 250)
      await store.writeBlocks([
        nftBlock(
          store.position.height + 1,
          ids.slice(from, from + 250).map((token_id): Happening => {
            return { what: 'mint', token: { collection, token_id }, owner: alice, uri };
          }),
        ),
      ]);
    const moves = ids.map((token_id): Happening => {
      return { what: 'transfer', token: { collection, token_id }, owner: bob };
    });
    const taken = await memoryOf(() => store.writeBlocks([nftBlock(store.position.height + 1, moves)]));
    assert.ok(taken < 550, `${Math.round(taken)} MiB`);
    await learn();
    const page = { key: '', offset: 0, limit: 1, count_total: true, reverse: false };
    const { pagination } = await listTokensByAccount(startReading(index.reader, {}), bob, '', {
      ...{ token_id: '', order: 'token_id', page },
    });
    assert.equal(pagination.total, String(count));
  });

  it('notes what has to be asked again after a rollback where the tables are', async () => {
    const { counted, seen } = counting(await testDatabase());
    const { store, database, index } = await newNft({ vm: 'evm' }, counted);
    const token = { collection, token_id: '1' };
    await store.writeBlocks([nftBlock(1, [{ what: 'mint', token, owner: alice }])]);
    await store.writeBlocks([nftBlock(2, [{ what: 'transfer', token, owner: bob }])]);
    const { tables } = index;
    const [count, above] = [100_000, 2 * 2 ** 21];
    await database.command(
      `INSERT INTO ${tables.of('asks')} (at, subject, collection, first_key, last_key)
       SELECT ${above} + number, 'tokens', '${collection}', toString(number), toString(number) FROM numbers(${count})`,
      {},
      { name: 'fill' },
    );
    await store.unwind(1);
    assert.ok(seen.most < 100, `${seen.most} rows`);
    const [jobs] = await database.rows<{ n: number }>(
      `SELECT uniqExact(first_key) AS n FROM ${tables.of('jobs')} WHERE collection = '${collection}'`,
      {},
      { name: 'test' },
    );
    assert.ok((jobs?.n ?? 0) >= count, `${jobs?.n} jobs`);
    assert.deepEqual(await differencesOf(store.compareViews()), []);
  });

  it('reads one row of a class, however often it came', async () => {
    const { database, index } = await newNft({ vm: 'move' });
    await database.command(
      `INSERT INTO ${index.tables.of('classes')} (class_name, origin_name, at)
       SELECT 'class', concat('name ', toString(number)), number FROM numbers(100000)`,
      {},
      { name: 'fill' },
    );
    const { counted, seen } = counting(database);
    const found = await lookUpClasses(counted, index.tables, ['class', 'another']);
    assert.deepEqual([...found], [['class', 'name 99999']]);
    assert.equal(seen.most, 1);
  });
});
