import assert from 'node:assert/strict';
import type { Happening, NftBlock } from '../../services/nft/decode/types.js';
import { answer, refused } from '../../services/nft/enrich/outcome.js';
import { countJobs, retryFailed } from '../../services/nft/enrich/queue.js';
import { listCollectionsNamed } from '../../services/nft/read/collections.js';
import { startReading } from '../../services/nft/read/reader.js';
import { listTokensByAccount, listTokensByCollection } from '../../services/nft/read/token-lists.js';
import { tokenIdOf } from '../../services/nft/token-key.js';
import { grow } from '../support/grow.js';
import { checkPages, checkWhole } from '../support/lists.js';
import { checkPast, checkTokenTxs, everyNftList } from '../support/nft-lists.js';
import { modelOf, nameless, owners, randomNfts } from '../support/nft-model.js';
import { type NftTables, newNft, nftBlock } from '../support/nft-tables.js';
import { wholeIt } from '../support/sample.js';

const firstPage = { key: '', offset: 0, limit: 1000, count_total: true, reverse: true };

describe('the tables of the nft service', () => {
  wholeIt(
    'show every list by every filter, in both orders, forward and back, with offsets and totals',
    async () => {
      const tables = await newNft({ capacity: 7 });
      const [chain, blocks]: [ReturnType<typeof randomNfts>, NftBlock[]] = [randomNfts(7), []];
      for (let batch = 0; batch < 8; batch++) {
        const some = grow(chain, blocks, 7);
        await tables.store.writeBlocks(some);
      }
      await tables.learn();
      const state = modelOf(blocks);
      const lists = everyNftList(tables, state);
      assert.ok(lists.filter(({ items }) => items.length > 8).length >= 6);
      // The longest of every kind, and one in eight of the others.
      for (const [index, list] of lists.entries())
        if (list.items.length > 20 || index % 8 === 0)
          await checkPages(list, [3, 7, 11, 40][index % 4] as number);
      await checkTokenTxs(tables, state);
      for (const height of [1, 20, 55]) await checkPast(tables, blocks, height);
    },
  );

  it('hide the tokens of what has no name, count none of them, and show them once it has one', async () => {
    const tables = await newNft({ vm: 'evm' });
    const [chain, blocks]: [ReturnType<typeof randomNfts>, NftBlock[]] = [randomNfts(11), []];
    grow(chain, blocks, 30);
    await tables.store.writeBlocks(blocks);
    const state = modelOf(blocks);
    // Nobody has a name yet.
    const none = everyNftList(tables, { tokens: new Map(), births: new Map() });
    for (const list of none.filter((_, index) => index % 9 === 0)) await checkWhole(list);
    await tables.learn();
    const owner = owners[0] as string;
    const ofAccount = async (): Promise<string> => {
      const query = { token_id: '', order: 'token_id', page: firstPage } as const;
      const { pagination } = await listTokensByAccount(
        startReading(tables.index.reader, {}),
        owner,
        '',
        query,
      );
      return pagination.total;
    };
    const mine = [...state.tokens.values()].filter((token) => !token.burnt && token.owner === owner);
    const hidden = mine.filter(({ collection }) => collection === nameless).length;
    assert.ok(hidden > 0);
    assert.equal(await ofAccount(), String(mine.length - hidden));
    // It answers when it is asked again, and then its tokens are asked for.
    const asked: string[] = [];
    assert.equal(await retryFailed(tables.index, tables.store, ''), 1);
    await tables.learn({
      collections: async (some) => some.map(() => answer({ name: 'Late', creator: '' })),
      uris: async (some) => {
        asked.push(...some.map(({ token_id }) => token_id));
        return some.map(({ token_id }) => answer(`late/${token_id}`));
      },
    });
    assert.equal(await ofAccount(), String(mine.length));
    const alive = [...state.tokens.values()].filter((token) => !token.burnt && token.collection === nameless);
    assert.deepEqual(asked.sort(), alive.map(({ token_id }) => token_id).sort());
    const reading = startReading(tables.index.reader, {});
    const { items } = await listCollectionsNamed(reading, 'LATE', firstPage);
    assert.deepEqual(
      items.map(({ collection }) => collection),
      [nameless],
    );
    const query = { token_id: '', order: 'token_id', page: firstPage } as const;
    const page = await listTokensByCollection(reading, nameless, query);
    assert.ok(page.items.every(({ token }) => token.uri === `late/${tokenIdOf(token.id_key)}`));
  });

  it('have the uris of tokens that came before the chain told of their collection again', async () => {
    const tables = await newNft({ vm: 'evm' });
    const [collection, owner] = ['c'.repeat(40), owners[1] as string];
    const write = (height: number, happenings: readonly Happening[]): Promise<void> =>
      tables.store.writeBlocks([nftBlock(height, happenings, owner)]);
    const uris = async (some: readonly { token_id: string }[]) =>
      some.map((t) => answer(`uri/${t.token_id}`));
    const mint = (id: number): Happening => ({
      what: 'mint',
      token: { collection, token_id: `${id}` },
      owner,
    });
    await write(1, [mint(1), mint(2)]);
    await tables.learn({ collections: async (some) => some.map(() => refused('no name')), uris });
    assert.equal((await countJobs(tables.database, tables.index.tables)).failed, 1);
    await write(2, [{ what: 'refresh_collection', collection }, mint(3)]);
    const named = async (some: readonly string[]) =>
      some.map(() => answer({ name: 'Late', creator: '' as const }));
    await tables.learn({ collections: named, uris });
    const query = { token_id: '', order: 'token_id', page: { ...firstPage, reverse: false } } as const;
    const reading = startReading(tables.index.reader, {});
    const { items } = await listTokensByCollection(reading, collection, query);
    assert.deepEqual(
      items.map(({ token }) => token.uri),
      ['uri/1', 'uri/2', 'uri/3'],
    );
    // What was given up is no longer: the node has answered since.
    assert.deepEqual(await countJobs(tables.database, tables.index.tables), { pending: 0, failed: 0 });
  });

  it('take nothing that was asked for while blocks were being removed', async () => {
    const details = { names: [], uris: [], jobs: [] };
    const begun: Promise<boolean>[] = [];
    let isCutting = false;
    const tables: NftTables = await newNft({
      fault: () => {
        if (isCutting) begun.push(tables.store.writeDetails(details, tables.store.revision));
      },
    });
    const [chain, blocks]: [ReturnType<typeof randomNfts>, NftBlock[]] = [randomNfts(3), []];
    grow(chain, blocks, 20);
    await tables.store.writeBlocks(blocks);
    isCutting = true;
    await tables.store.unwind(10);
    isCutting = false;
    assert.ok(begun.length > 5);
    assert.ok((await Promise.all(begun)).every((isKept) => !isKept));
    assert.equal(await tables.store.writeDetails(details, tables.store.revision), true);
  });

  it('find pages far in by offset, also after the list has changed', async () => {
    const tables = await newNft({ vm: 'evm' });
    const collection = 'c'.repeat(40);
    const [small, blocks]: [string, NftBlock[]] = [owners[1] as string, []];
    const add = async (happenings: readonly Happening[]): Promise<void> => {
      blocks.push(nftBlock(blocks.length + 1, happenings, small));
      await tables.store.writeBlocks(blocks.slice(-1));
    };
    const token = (id: number) => ({ collection, token_id: String(id) });
    const mint = (id: number): Happening => ({ what: 'mint', token: token(id), owner: small });
    await add(Array.from({ length: 6_000 }, (_, id) => mint(id * 2)));
    await tables.learn();
    const check = async (about: string): Promise<void> => {
      const alive = [...modelOf(blocks).tokens.values()].filter(({ burnt }) => !burnt);
      const ids = alive.map(({ token_id }) => Number(token_id)).sort((a, b) => a - b);
      for (const reverse of [true, false]) {
        const ordered = reverse ? ids.toReversed() : ids;
        for (const offset of [999, 1_001, 2_345, 5_000, ids.length - 3, ids.length, ids.length + 9]) {
          const query = {
            token_id: '',
            order: 'token_id',
            page: { ...firstPage, limit: 7, offset, reverse },
          } as const;
          const reading = startReading(tables.index.reader, {});
          const { items, pagination } = await listTokensByCollection(reading, collection, query);
          assert.deepEqual(
            items.map(({ token: found }) => Number(tokenIdOf(found.id_key))),
            ordered.slice(offset, offset + 7),
            `${about}, offset ${offset}, reverse ${reverse}`,
          );
          assert.equal(pagination.total, String(ids.length));
        }
      }
    };
    await check('as it was made');
    await add([
      mint(4_001),
      mint(99_999),
      { what: 'burn', token: token(0) },
      { what: 'burn', token: token(8_000) },
    ]);
    await tables.learn();
    await check('after a few changes');
    await add(
      Array.from({ length: 2_500 }, (_, id) =>
        id % 5 === 0 ? { what: 'burn', token: token(id * 4) } : mint(id * 4 + 1),
      ),
    );
    await check('after many changes');
    await tables.store.unwind(2);
    blocks.length = 2;
    await check('after a rollback');
  });
});
