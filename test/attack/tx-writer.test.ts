import assert from 'node:assert/strict';
import { oneLarge } from '../../services/common/util/material.js';
import { decodeBlock } from '../../services/tx/decode/block.js';
import { listByAccount, listByHeight } from '../../services/tx/read/lists.js';
import { memoryOf } from '../support/attack/memory.js';
import { address, emptyBlock, traceOf, wideTrace } from '../support/attack/wide-traces.js';
import { query } from '../support/database.js';
import { newTx } from '../support/tx-tables.js';

const page = { key: '', offset: 0, limit: 1, count_total: true, reverse: true };
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
});
