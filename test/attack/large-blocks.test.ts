import assert from 'node:assert/strict';
import { ofOneChain } from '../../services/common/consumer/look.js';
import type { Happening } from '../../services/nft/decode/types.js';
import { startReading } from '../../services/nft/read/reader.js';
import { listTokensByAccount } from '../../services/nft/read/token-lists.js';
import { listByAccount } from '../../services/tx/read/lists.js';
import { address, emptyBlock, traceOf, wideTrace } from '../support/attack/wide-traces.js';
import { testDatabase } from '../support/database.js';
import { newNft, nftBlock, openNft } from '../support/nft-tables.js';
import { tableDigests } from '../support/table-digests.js';
import { newTx, openTx, type TxTables } from '../support/tx-tables.js';
import { differencesOf } from '../support/views.js';

const page = { key: '', offset: 0, limit: 1, count_total: true, reverse: true };

describe('a writer that is killed in a block that it writes in parts', () => {
  it('leaves nothing behind: call frames', async () => {
    const [frames, accounts] = [17_000, 50];
    const { prefix } = await newTx();
    const database = await testDatabase();
    const rowsOf = () => tableDigests(database, prefix);
    const points: string[] = [];
    /** Opens the tables with memory for a few ends of lists alone, and kills what writes at the point of that number. */
    const open = (killedAt = Number.POSITIVE_INFINITY): TxTables => {
      points.length = 0;
      return openTx(database, prefix, {
        endCapacity: 7,
        fault(point) {
          points.push(point);
          if (points.length > killedAt) throw new Error('killed');
        },
      });
    };
    const first = open();
    await first.store.recover();
    await first.store.writeBlocks([emptyBlock(1), emptyBlock(2)]);
    await first.store.writeTraces([traceOf(1, wideTrace(100, accounts))]);
    const before = await rowsOf();
    const wide = wideTrace(frames, accounts);
    points.length = 0;
    await first.store.writeTraces([traceOf(2, wide)]);
    assert.ok(points.filter((point) => point === 'write list_ends').length >= 3, `${points}`);
    const [count, after] = [points.length, await rowsOf()];
    await first.store.unwind(1);
    await first.store.writeBlocks([emptyBlock(2)]);
    assert.deepEqual(await rowsOf(), before);
    for (let killedAt = 0; killedAt < count; killedAt += 2) {
      await open().store.recover();
      const { store, head, reader } = open(points.length + killedAt);
      await store.recover();
      await assert.rejects(store.writeTraces([traceOf(2, wide)]), /killed/);
      assert.equal(head.position.internal_height, 1);
      const { pagination } = await listByAccount(reader, 'internal_tx', address(7), false, page, {});
      assert.equal(pagination.total, '4', `${killedAt}`);
      const next = open();
      await next.store.recover();
      if (next.store.position.internal_height === 1) {
        assert.deepEqual(await rowsOf(), before, `${killedAt}`);
        continue;
      }
      assert.deepEqual(await rowsOf(), after, 'all was written but for the news of it');
      await next.store.unwind(1);
      await next.store.writeBlocks([emptyBlock(2)]);
    }
    const last = open();
    await last.store.recover();
    await last.store.writeTraces([traceOf(2, wide)]);
    assert.deepEqual(await rowsOf(), after);
    assert.deepEqual(await differencesOf(last.store.compareViews()), []);
  });

  it('leaves nothing behind, and shows nothing of it: NFTs', async () => {
    const [collection, alice, bob] = ['c', 'a', 'b'].map((letter) => letter.repeat(40)) as [
      string,
      string,
      string,
    ];
    const uri = 'u'.repeat(16 * 1024);
    const token = (number: number) => ({ collection, token_id: String(number) });
    const { database, prefix, store, learn } = await newNft({ vm: 'wasm' });
    const mints = Array.from({ length: 10 }, (_, index): Happening => {
      return { what: 'mint', token: token(index), owner: alice };
    });
    await store.writeBlocks([nftBlock(1, mints)]);
    await learn();
    const wide = nftBlock(
      2,
      Array.from({ length: 1_500 }, (_, index): Happening => {
        if (index % 5 === 4) return { what: 'transfer', token: token(index - 3), owner: bob };
        if (index % 50 === 23) return { what: 'burn', token: token(index - 20) };
        return { what: 'mint', token: token(index), owner: alice, uri };
      }),
    );
    const points: string[] = [];
    const open = async (killedAt = Number.POSITIVE_INFINITY) => {
      points.length = 0;
      return openNft(database, prefix, {
        capacity: 20,
        fault(point) {
          points.push(point);
          if (points.length > killedAt) throw new Error('killed');
        },
      });
    };
    const rowsOf = () => tableDigests(database, prefix);
    const before = await rowsOf();
    const whole = await open();
    await whole.store.recover();
    points.length = 0;
    await whole.store.writeBlocks([wide]);
    assert.ok(points.filter((point) => point === 'write token_states').length >= 3, `${points}`);
    const [count, after] = [points.length, await rowsOf()];
    assert.deepEqual(await differencesOf(whole.store.compareViews()), []);
    await whole.store.unwind(1);
    assert.deepEqual(await rowsOf(), before);
    for (let killedAt = 0; killedAt < count; killedAt += 6) {
      await (await open()).store.recover();
      const { store, index } = await open(points.length + killedAt);
      await store.recover();
      await assert.rejects(store.writeBlocks([wide]), /killed/);
      assert.equal(index.head.position.height, 1);
      const asked = { token_id: '', order: 'token_id' as const, page };
      const shown = await ofOneChain(
        () => startReading(index.reader, {}),
        (reading) => listTokensByAccount(reading, alice, '', asked),
      ).then(
        ({ pagination }) => pagination.total,
        (error: Error) => error.message,
      );
      assert.match(shown, /^10$|recovering/, `${points.at(-1)}: ${shown}`);
      const next = await open();
      await next.store.recover();
      assert.deepEqual(await rowsOf(), before, `${killedAt}`);
      assert.deepEqual(await differencesOf(next.store.compareViews()), []);
    }
    const last = await open();
    await last.store.recover();
    await last.store.writeBlocks([wide]);
    assert.deepEqual(await rowsOf(), after);
  });
});
