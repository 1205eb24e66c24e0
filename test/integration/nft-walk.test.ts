import assert from 'node:assert/strict';
import type { NftBlock, NftEvent } from '../../services/nft/decode/types.js';
import { startReading } from '../../services/nft/read/reader.js';
import { listTokensByAccount, listTokensByCollection } from '../../services/nft/read/token-lists.js';
import { tokenIdOf } from '../../services/nft/token-key.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { migrateNft, openNft } from '../support/nft-tables.js';
import { isThorough } from '../support/sample.js';

const [holder, other, art] = ['a1', 'b2', 'd4'].map((pair) => pair.repeat(20)) as [string, string, string];
const count = 120;

/** Tokens that a walk must show: the others are moved or burnt while it goes on. */
const staysPut = (id: number): boolean => id % 3 === 0;

describe('a walk through tokens while the chain goes on', function () {
  this.timeout(120_000);

  for (const order of ['token_id', 'height'] as const)
    for (const reverse of isThorough ? [true, false] : order === 'height' ? [true] : [])
      it(`shows what stays exactly once (by ${order}, ${reverse ? 'down' : 'up'}), also when lists are written anew`, async () => {
        const database = await testDatabase();
        const prefix = uniquePrefix();
        await migrateNft(database, prefix);
        const { index, store, learn } = await openNft(database, prefix, { vm: 'wasm', fewGone: 1 });
        await store.recover();
        let height = 0;
        const write = async (events: readonly object[]): Promise<void> => {
          height += 1;
          const hashAt = (h: number) => String(h).padStart(64, 'A');
          const tx = { hash: hashAt(height).toLowerCase(), signer: other };
          const block = {
            ...{ height, hash: hashAt(height), parent_hash: height === 1 ? '' : hashAt(height - 1) },
            ...{ timestamp: '2026-11-21T09:20:10Z', problems: [] },
            events: events.map((event, n) => ({ ...event, tx, index: n })) as NftEvent[],
          } satisfies NftBlock;
          await store.writeBlocks([block]);
        };
        const token = (id: number) => ({ collection: art, token_id: String(id) });
        // Several share a height, so that a page ends among equals.
        for (let first = 0; first < count; first += 20)
          await write(
            Array.from({ length: 20 }, (_, n) => ({ what: 'mint', token: token(first + n), owner: holder })),
          );
        await learn();
        const restless = Array.from({ length: count }, (_, id) => id).filter((id) => !staysPut(id));
        const shown: Record<'account' | 'collection', string[]> = { account: [], collection: [] };
        const keys: Record<string, string> = { account: '', collection: '' };
        const open = new Set(['account', 'collection'] as const);
        while (open.size > 0) {
          for (const list of open) {
            const page = { key: keys[list] ?? '', offset: 0, limit: 7, count_total: false, reverse };
            const reading = startReading(index.reader, {});
            const query = { token_id: '', order, page };
            const { items, pagination } =
              list === 'account'
                ? await listTokensByAccount(reading, holder, '', query)
                : await listTokensByCollection(reading, art, query);
            shown[list].push(...items.map((item) => tokenIdOf(item.token.id_key)));
            keys[list] = pagination.next_key;
            if (pagination.next_key === '') open.delete(list);
          }
          const some = restless.splice(0, 6);
          if (some.length > 0)
            await write(
              some.map((id) =>
                id % 2 === 0
                  ? { what: 'transfer', token: token(id), owner: other }
                  : { what: 'burn', token: token(id) },
              ),
            );
        }
        const stay = Array.from({ length: count }, (_, id) => id)
          .filter(staysPut)
          .map(String);
        for (const list of ['account', 'collection'] as const) {
          const seen = shown[list].filter((id) => staysPut(Number(id)));
          assert.equal(seen.length, stay.length, list);
          assert.deepEqual([...seen].sort(), [...stay].sort(), list);
        }
        const [editions] = await database.rows<{ n: number }>(
          `SELECT count() AS n FROM ${prefix}_nft.editions`,
          {},
          { name: 'test' },
        );
        assert.ok((editions?.n ?? 0) > 2);
      });
});
