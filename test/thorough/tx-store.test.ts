import assert from 'node:assert/strict';
import { headOf, txViews } from '../../services/tx/store/tables.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { grow } from '../support/grow.js';
import { randomKills } from '../support/kills.js';
import { checkPages, checkWhole } from '../support/lists.js';
import { randomFrom } from '../support/random.js';
import { wholeIt } from '../support/sample.js';
import { startBefore } from '../support/suite.js';
import { everyList } from '../support/tx-lists.js';
import { type ModelBlock, randomChain, traceOf } from '../support/tx-model.js';
import { migrateTx, openTx, type TxTables } from '../support/tx-tables.js';
import { checkViews } from '../support/views.js';

describe('the tables of the tx service', () => {
  const database = startBefore(testDatabase);

  /** Compares lists with the model: every one, or one in `share`, others each time. */
  async function expectLists(
    { reader }: Pick<TxTables, 'reader'>,
    blocks: readonly ModelBlock[],
    internal_height: number,
    share = 1,
  ): Promise<void> {
    compared += 1;
    const lists = everyList(reader, blocks, internal_height);
    for (const list of lists.filter((_, index) => index % share === compared % share)) await checkWhole(list);
  }
  let compared = 0;

  wholeIt(
    'show every list by every filter, in both orders, forward and back, with offsets and totals',
    async () => {
      const prefix = uniquePrefix();
      await migrateTx(database, prefix);
      const tables = openTx(database, prefix, { endCapacity: 3 });
      await tables.store.recover();
      const [chain, blocks]: [ReturnType<typeof randomChain>, ModelBlock[]] = [randomChain(7), []];
      for (let batch = 0; batch < 8; batch++) {
        const some = grow(chain, blocks, 6);
        await tables.store.writeBlocks(some);
        await tables.store.writeTraces(some.map(traceOf));
      }
      const lists = everyList(tables.reader, blocks, 48);
      assert.ok(lists.filter(({ items }) => items.length > 16).length > 10, 'lists longer than a head');
      for (const [index, list] of lists.entries())
        await checkPages(list, [1, 3, 7, 16, 17, 40][index % 6] as number);
    },
  );

  it('equal a model after random histories of blocks, traces, rollbacks and crashes', async () => {
    for (const seed of [1, 2, 3]) {
      const random = randomFrom(seed * 1000 + 17);
      const prefix = uniquePrefix();
      await migrateTx(database, prefix);
      const { fault, survive } = randomKills(random);
      let tables = openTx(database, prefix, { fault, endCapacity: 5 });
      await tables.store.recover();
      const chain = randomChain(seed);
      let blocks: ModelBlock[] = [];
      let internal_height = 0;
      for (let step = 0; step < 12; step++) {
        const before = blocks;
        const work = async (): Promise<void> => {
          if (random.oneIn(5) && blocks.length > 0) {
            const height = random.integer(blocks.length + 1);
            await tables.store.unwind(height);
            const { position } = tables.store;
            assert.equal(position.height, height);
            assert.equal(position.internal_height, Math.min(height, internal_height));
            blocks = blocks.slice(0, position.height);
            internal_height = position.internal_height;
          } else if (random.oneIn(3) && internal_height < blocks.length) {
            const some = blocks.slice(internal_height, internal_height + 1 + random.integer(3));
            await tables.store.writeTraces(some.map(traceOf));
            internal_height += some.length;
          } else {
            const added: ModelBlock[] = [];
            for (let n = 1 + random.integer(4); n > 0; n--)
              added.push(chain.next([...blocks, ...added].at(-1)));
            blocks = [...blocks, ...added];
            await tables.store.writeBlocks(added);
          }
        };
        // A new process: it goes on from what it finds, which is whole.
        const recover = async (): Promise<void> => {
          tables = openTx(database, prefix, { fault, endCapacity: 5 });
          const found = await tables.store.recover();
          const longer = before.length > blocks.length ? before : blocks;
          assert.ok(found.height <= longer.length);
          assert.equal(found.hash, longer[found.height - 1]?.hash ?? '');
          blocks = longer.slice(0, found.height);
          internal_height = found.internal_height;
        };
        await survive(work, recover, 9);
        await checkViews(
          database,
          tables.reader.tables,
          headOf(tables.reader.tables).toColumns(tables.store.position),
          [txViews],
          random,
        );
        if (step % 3 === 2) await expectLists(tables, blocks, internal_height, 3);
      }
    }
  });
});
