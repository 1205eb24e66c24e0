import assert from 'node:assert/strict';
import { oneLarge } from '../../services/common/material.js';
import { decodeBlock } from '../../services/tx/decode/block.js';
import { decodeTraces } from '../../services/tx/decode/traces.js';
import type { DecodedBlock } from '../../services/tx/decode/types.js';
import { listByAccount, listByHeight } from '../../services/tx/read/lists.js';
import type { DecodedTrace } from '../../services/tx/store/rows.js';
import { memoryOf } from '../support/attack/memory.js';
import { query, testDatabase, uniquePrefix } from '../support/database.js';
import { tableDigests } from '../support/table-digests.js';
import { migrateTx, openTx, type TxTables, type TxTablesOptions } from '../support/tx-tables.js';
import { differencesOf } from '../support/views.js';

const page = { key: '', offset: 0, limit: 1, count_total: true, reverse: true };
const address = (number: number): string => number.toString(16).padStart(40, '0');

const emptyBlock = (height: number): DecodedBlock => ({
  ...{ height, hash: `H${height}`, parent_hash: height === 1 ? '' : `H${height - 1}` },
  ...{ timestamp: '2026-11-21T09:20:10Z', txs: [], evm_txs: [], stores: [], problems: [] },
});

/** A trace of one tx: a call that makes so many others, each from and to one of so many accounts. */
function wideTrace(frames: number, accounts: number): string {
  const call = (index: number): string =>
    `{"from":"0x${address(index % accounts)}","to":"0x${address((index * 7) % accounts)}","type":"CALL","gas":"0x1","gasUsed":"0x1","input":"0x","value":"0x0"`;
  const calls = Array.from({ length: frames - 1 }, (_, index) => `${call(index + 1)}}`);
  return `[{"txHash":"0x${'e'.repeat(64)}","result":${call(0)},"calls":[${calls.join(',')}]}}]`;
}

const traceOf = (height: number, text: string): DecodedTrace => ({
  ...{ height, hash: `H${height}`, length: text.length },
  frames: decodeTraces(height, text),
});

async function newTx(options: TxTablesOptions = {}): Promise<{ tables: TxTables; prefix: string }> {
  const [database, prefix] = [await testDatabase(), uniquePrefix()];
  await migrateTx(database, prefix);
  const tables = openTx(database, prefix, options);
  await tables.store.recover();
  return { tables, prefix };
}

describe('the writer of txs, where one block comes to far more than its bytes', () => {
  it('writes very many call frames a part at a time', async () => {
    const count = 300_000;
    const { store, reader } = (await newTx()).tables;
    await store.writeBlocks([emptyBlock(1)]);
    const text = wideTrace(count, 1);
    const taken = await memoryOf(() => oneLarge(() => store.writeTraces([traceOf(1, text)])));
    assert.ok(taken < 220, `${Math.round(taken)} MiB`);
    const { bodies, pagination } = await listByHeight(reader, 'internal_tx', 1, page, {});
    assert.equal(pagination.total, String(count));
    assert.equal((JSON.parse(String(bodies[0])) as { index: number }).index, count - 1);
  });

  it('lists a tx that names very many accounts under some of them, says so, and lists the others as ever', async () => {
    const wide: string[] = [];
    const { tables } = await newTx({ onCut: ({ hash }) => wide.push(hash) });
    const { store, reader } = tables;
    const names = Array.from({ length: 300_000 }, (_, index) => `0x${(0x10000 + index).toString(16)}`);
    const material = (value: string) => ({
      raw: Buffer.from([10, 0, 18, value.length % 100]),
      decoded: Buffer.from('{"body":{"messages":[]},"auth_info":{"signer_infos":[]},"signatures":[]}'),
      decoded_locally: false,
      result: Buffer.from(
        JSON.stringify({ code: 0, events: [{ type: 'a', attributes: [{ key: 'b', value }] }] }),
      ),
    });
    const txs = [names.join(' '), '0x10000 0x5', names.slice(1_000).join(','), '0x10001'].map(material);
    const receipts = Buffer.alloc(0);
    const block = decodeBlock(
      emptyBlock(1),
      { txs, receipts, block_events: Buffer.from('[]') },
      { vm: 'move', account_prefix: 'init' },
    );
    assert.deepEqual(block.problems, []);
    const cut = [0, 2].map((index) => block.txs[index]?.hash);
    await store.writeBlocks([block]);
    const total = async (account: string): Promise<number> => {
      const { pagination } = await listByAccount(reader, 'tx', account, false, page, {});
      return Number(pagination.total);
    };
    assert.deepEqual(
      await Promise.all([0x5, 0x10000, 0x10001, 0x10000 + 2_000].map((number) => total(address(number)))),
      [1, 2, 2, 2],
    );
    const [places] = await query<{ n: number }>(
      `SELECT count() AS n FROM ${reader.tables.of('account_items')}`,
    );
    assert.equal(places?.n, 2 * 100_000 + 2 + 1);
    assert.deepEqual(wide, cut);
  });

  it('leaves nothing of a block behind that it was killed in, at whatever point', async () => {
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
});
