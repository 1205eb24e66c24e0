import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import type { NftBlock } from '../../services/nft/decode/types.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import {
  checkListPages,
  checkPast,
  checkTokenTxs,
  checkWholeList,
  everyNftList,
} from '../support/nft-lists.js';
import { modelOf, randomNfts } from '../support/nft-model.js';
import { migrateNft, type NftTables, openNft } from '../support/nft-tables.js';
import { randomFrom } from '../support/random.js';

describe('the tables of the nft service', function () {
  this.timeout(240_000);
  let database: Database;
  before(async () => {
    database = await testDatabase();
  });

  let compared = 0;
  /** Compares lists with the model: every one, or one in `share`, others each time. */
  async function expectLists(tables: NftTables, blocks: readonly NftBlock[], share: number): Promise<void> {
    compared += 1;
    const state = modelOf(blocks);
    const lists = everyNftList(tables, state);
    for (const list of lists.filter((_, index) => index % share === compared % share))
      await checkWholeList(list);
  }

  it('show every list by every filter, in both orders, forward and back, with offsets and totals', async () => {
    const prefix = uniquePrefix();
    await migrateNft(database, prefix);
    const tables = await openNft(database, prefix, { capacity: 7 });
    await tables.store.recover();
    const [chain, blocks]: [ReturnType<typeof randomNfts>, NftBlock[]] = [randomNfts(7), []];
    for (let batch = 0; batch < 8; batch++) {
      const some = Array.from({ length: 7 }, () => {
        blocks.push(chain.next(blocks.at(-1)));
        return blocks.at(-1) as NftBlock;
      });
      await tables.store.writeBlocks(some);
    }
    await tables.learn();
    const state = modelOf(blocks);
    const lists = everyNftList(tables, state);
    assert.ok(lists.filter(({ items }) => items.length > 8).length >= 6);
    // The longest of every kind, and one in eight of the others.
    for (const [index, list] of lists.entries())
      if (list.items.length > 20 || index % 8 === 0)
        await checkListPages(list, [3, 7, 11, 40][index % 4] as number);
    await checkTokenTxs(tables, state);
    for (const height of [1, 20, 55]) await checkPast(tables, blocks, height);
  });

  it('equal a model after random histories of blocks, rollbacks and crashes', async () => {
    for (const seed of [1, 2]) {
      const random = randomFrom(seed * 1000 + 17);
      const prefix = uniquePrefix();
      await migrateNft(database, prefix);
      let crashIn = Number.POSITIVE_INFINITY;
      const fault = () => {
        crashIn -= 1;
        if (crashIn < 0) throw new Error('crash');
      };
      let tables = await openNft(database, prefix, { fault, capacity: 5 });
      await tables.store.recover();
      const chain = randomNfts(seed);
      let blocks: NftBlock[] = [];
      for (let step = 0; step < 12; step++) {
        let longest = blocks;
        if (random.oneIn(3)) crashIn = random.integer(14);
        try {
          if (random.oneIn(4) && blocks.length > 0) {
            const height = random.integer(blocks.length + 1);
            await tables.store.unwind(height);
            assert.equal(tables.store.cursor.height, height, 'it goes back no further than it must');
            blocks = blocks.slice(0, height);
          } else {
            const added: NftBlock[] = [];
            for (let n = 1 + random.integer(5); n > 0; n--)
              added.push(chain.next([...blocks, ...added].at(-1)));
            longest = [...blocks, ...added];
            await tables.store.writeBlocks(added);
            blocks = longest;
          }
          await tables.learn();
        } catch (error) {
          assert.match(String(error), /crash/);
          // A new process: it goes on from what it finds, which is whole.
          crashIn = Number.POSITIVE_INFINITY;
          tables = await openNft(database, prefix, { fault, capacity: 5 });
          const found = await tables.store.recover();
          assert.equal(found.hash, longest[found.height - 1]?.hash ?? '');
          blocks = longest.slice(0, found.height);
        }
        crashIn = Number.POSITIVE_INFINITY;
        await tables.learn();
        if (random.oneIn(3))
          await database.command(`OPTIMIZE TABLE ${prefix}_nft.items FINAL`, {}, { name: 'merge' });
        if (step % 3 === 2) await expectLists(tables, blocks, 5);
      }
      await expectLists(tables, blocks, 1);
      await checkTokenTxs(tables, modelOf(blocks));
      await checkPast(tables, blocks, Math.ceil(blocks.length / 2));
    }
  });

  it('survive a stop between any two writes, and show nothing of what was half written', async () => {
    const prefix = uniquePrefix();
    await migrateNft(database, prefix);
    let armed = Number.POSITIVE_INFINITY;
    const points = new Set<string>();
    const fault = (point: string) => {
      points.add(point);
      armed -= 1;
      if (armed < 0) throw new Error('stopped');
    };
    let tables = await openNft(database, prefix, { fault });
    await tables.store.recover();
    const chain = randomNfts(99);
    const blocks: NftBlock[] = [];
    const grow = (n: number): NftBlock[] => {
      const added: NftBlock[] = [];
      for (; n > 0; n--) added.push(chain.next([...blocks, ...added].at(-1)));
      return added;
    };
    blocks.push(...grow(12));
    await tables.store.writeBlocks(blocks);
    await tables.learn();

    /** Starts anew; with `often` the recovery itself is stopped at every third of its points first. */
    const recoverAtLast = async (often: boolean): Promise<void> => {
      for (let point = 0; ; point += 3) {
        tables = await openNft(database, prefix, { fault });
        if (often) armed = point;
        const isDone = await tables.store.recover().then(
          () => true,
          () => false,
        );
        armed = Number.POSITIVE_INFINITY;
        if (isDone) return;
      }
    };

    const next = grow(3);
    for (let point = 0; ; point++) {
      armed = point;
      const stopped = await tables.store.writeBlocks(next).then(
        () => false,
        () => true,
      );
      armed = Number.POSITIVE_INFINITY;
      // Readers of the process that was stopped see nothing of it.
      await expectLists(tables, stopped ? blocks : [...blocks, ...next], 12);
      if (!stopped) break;
      await recoverAtLast(point % 5 === 4);
      if (tables.store.cursor.height > blocks.length) break; // it was stopped after the cursor
      await tables.learn();
      await expectLists(tables, blocks, 12);
    }
    blocks.push(...next);
    await tables.learn();
    await expectLists(tables, blocks, 1);

    for (let point = 0; ; point += 2) {
      armed = point;
      const stopped = await tables.store.unwind(9).then(
        () => false,
        () => true,
      );
      armed = Number.POSITIVE_INFINITY;
      if (!stopped) break;
      await recoverAtLast(point === 4);
    }
    blocks.length = 9;
    await tables.learn();
    await expectLists(tables, blocks, 1);
    assert.ok(points.size > 12, [...points].join(', '));
  });
});
