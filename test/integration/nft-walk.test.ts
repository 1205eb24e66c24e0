import assert from 'node:assert/strict';
import type { FaultPoint } from '../../services/common/runtime/lifecycle.js';
import type { Happening } from '../../services/nft/decode/types.js';
import { listCollections } from '../../services/nft/read/collections.js';
import { type Reader, startReading } from '../../services/nft/read/reader.js';
import { listTokensByAccount, listTokensByCollection } from '../../services/nft/read/token-lists.js';
import { tokenIdOf } from '../../services/nft/token-key.js';
import { newNft, nftBlock, openNft } from '../support/nft-tables.js';
import { isThorough } from '../support/sample.js';

const [holder, other, art] = ['a1', 'b2', 'd4'].map((pair) => pair.repeat(20)) as [string, string, string];
const count = 120;

/** Tokens that a walk must show: the others are moved or burnt while it goes on. */
const staysPut = (id: number): boolean => id % 3 === 0;

describe('a walk through tokens while the chain goes on', function () {
  this.timeout(120_000);

  for (const order of ['token_id', 'height'] as const)
    for (const reverse of isThorough ? [true, false] : order === 'height' ? [true] : [])
      it(`shows what stays exactly once (by ${order}, ${reverse ? 'down' : 'up'})`, async () => {
        const { index, store, learn } = await newNft();
        let height = 0;
        const write = async (happenings: readonly Happening[]): Promise<void> => {
          height += 1;
          await store.writeBlocks([nftBlock(height, happenings, other)]);
        };
        const token = (id: number) => ({ collection: art, token_id: String(id) });
        // Several share a height, so that a page ends among equals.
        for (let first = 0; first < count; first += 20)
          await write(
            Array.from({ length: 20 }, (_, n) => ({ what: 'mint', token: token(first + n), owner: holder })),
          );
        await learn();
        const restless = Array.from({ length: count }, (_, id) => id).filter((id) => !staysPut(id));
        let undone: number[] = [];
        let turn = 0;
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
          // A block is rolled back now and then: what it had moved is back, and moves again.
          turn += 1;
          if (turn % 4 === 3) {
            await store.unwind(height - 1);
            height -= 1;
            restless.unshift(...undone);
          }
          const some = restless.splice(0, 6);
          undone = some;
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
      });

  it('shows every collection that was there exactly once, whatever comes meanwhile', async () => {
    const { index, store, learn } = await newNft({ vm: 'evm' });
    const addressOf = (n: number): string => `e${String(n).padStart(4, '0')}`.padEnd(40, '0');
    let height = 0;
    const write = async (first: number, last: number): Promise<void> => {
      height += 1;
      const mints = Array.from({ length: last - first }, (_, index): Happening => {
        const token = { collection: addressOf(first + index), token_id: '1' };
        return { what: 'mint', token, owner: holder };
      });
      await store.writeBlocks([nftBlock(height, mints, other)]);
      await learn();
    };
    await write(0, 40);
    for (const reverse of [true, false]) {
      const there = height === 1 ? 40 : 40 + (height - 1) * 3;
      const shown: string[] = [];
      let key = '';
      do {
        const page = { key, offset: 0, limit: 7, count_total: false, reverse };
        const { items, pagination } = await listCollections(startReading(index.reader, {}), page);
        shown.push(...items.map(({ collection }) => collection));
        key = pagination.next_key;
        if (height < 12) await write(40 + (height - 1) * 3, 40 + height * 3);
      } while (key !== '');
      const expected = Array.from({ length: there }, (_, n) => addressOf(n));
      assert.deepEqual(
        shown.filter((collection) => expected.includes(collection)),
        reverse ? expected.toReversed() : expected,
      );
    }
  });

  it('shows a token that moves in one of the two lists, wherever the writer is, or is stopped', async () => {
    let fault: FaultPoint = () => {};
    const { index, store, learn, database, prefix } = await newNft({ fault: (point) => fault(point) });
    const ids = ['1', '2', '3'];
    const tokens = ids.map((token_id) => ({ collection: art, token_id }));
    await store.writeBlocks([
      nftBlock(1, [
        ...tokens.map((token): Happening => ({ what: 'mint', token, owner: holder })),
        { what: 'mint', token: { collection: art, token_id: '9' }, owner: other },
      ]),
    ]);
    await learn();
    const page = { key: '', offset: 0, limit: 10, count_total: true, reverse: false };
    const expectOnce = async (reader: Reader, about: string): Promise<void> => {
      for (const [order, collection] of [
        ['token_id', ''],
        ['height', art],
      ] as const) {
        const query = { token_id: '', order, page };
        const lists = [holder, other].map((owner) =>
          listTokensByAccount(startReading(reader, {}), owner, collection, query),
        );
        const shown = (await Promise.all(lists)).flatMap(({ items }) => items);
        const found = shown.map(({ token }) => tokenIdOf(token.id_key)).sort();
        assert.deepEqual(found, [...ids, '9'], `${about}, ${order}`);
      }
      const all = await listTokensByCollection(startReading(reader, {}), art, {
        ...{ token_id: '', order: 'height', page },
      });
      assert.equal(all.items.length, ids.length + 1, about);
    };
    const move = (height: number, owner: string) =>
      store.writeBlocks([
        nftBlock(
          height,
          tokens.map((token) => ({ what: 'transfer', token, owner })),
        ),
      ]);
    const points: string[] = [];
    fault = async (point) => {
      points.push(point);
      await expectOnce(index.reader, points.join(', '));
    };
    await move(2, other);
    for (let kill = 0; kill < points.length; kill++) {
      let left = kill;
      fault = () => {
        if (left-- === 0) throw new Error('killed');
      };
      await assert.rejects(move(3, holder), /killed/);
      fault = () => {};
      // One that starts while nobody writes.
      const { index: another } = await openNft(database, prefix);
      await expectOnce(another.reader, `killed after ${points.slice(0, kill).join(', ')}`);
      await store.recover();
      if (store.position.height === 3) await store.unwind(2);
    }
  });
});
