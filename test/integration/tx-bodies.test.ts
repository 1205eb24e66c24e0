import assert from 'node:assert/strict';
import { listAll } from '../../services/tx/read/lists.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { naming, randomChain } from '../support/tx-model.js';
import { migrateTx, openTx } from '../support/tx-tables.js';

describe('bodies in the tables of the tx service', () => {
  it('come back to the byte, whatever is in them', async () => {
    const odd = [
      '',
      '\\',
      '\'"`',
      '{"a":"\\u0000\\n\\t"}',
      ...Array.from({ length: 0x80 }, (_, code) => `<${String.fromCharCode(code)}>`),
      'é ü ß 漢字 🧵 \u2028\u2029 \ufeff \uffff',
      'lone \ud800 and \udc00 surrogates',
      '\r\n\n\t\\N\\0',
      '{{database}} {name:String} FORMAT Null; --',
      'x'.repeat(3 * 1024 * 1024),
      Array.from({ length: 5_000 }, (_, code) => String.fromCodePoint(code * 200)).join(''),
    ];
    const [database, prefix] = [await testDatabase(), uniquePrefix()];
    await migrateTx(database, prefix);
    for (const cacheBytes of [0, 64 * 1024 * 1024]) {
      const { store, reader } = openTx(database, prefix, { cacheBytes });
      await store.recover();
      await store.unwind(0);
      const block = randomChain(3).next(undefined);
      const txs = odd.map((body, index) => ({
        hash: index.toString(16).padStart(64, '0'),
        body,
        msgs: [],
        named: naming(new Map()),
      }));
      await store.writeBlocks([{ ...block, txs }]);
      const page = { key: '', offset: 0, limit: 1000, count_total: true, reverse: false };
      const { bodies, pagination } = await listAll(reader, 'tx', page, {});
      assert.equal(pagination.total, String(odd.length));
      for (const [index, body] of odd.entries()) {
        assert.ok(
          bodies[index]?.equals(Buffer.from(body)),
          `body ${index}: ${JSON.stringify(body.slice(0, 50))}`,
        );
      }
      const stored = await openTx(database, prefix, { cacheBytes: 0 });
      await stored.store.recover();
      const fetched = await listAll(stored.reader, 'tx', page, {});
      assert.ok(fetched.bodies.every((body, index) => body.equals(Buffer.from(odd[index] as string))));
    }
  });
});
