import assert from 'node:assert/strict';
import { checkWalk } from '../support/lists.js';
import {
  type CollectionTruth,
  readNftTruth,
  type ShownToken,
  type TokenPage,
  type TokenTruth,
} from '../support/nft-facts.js';
import { recordedStack } from '../support/recorded-stack.js';
import { chosen, sampled } from '../support/sample.js';
import { startBefore } from '../support/suite.js';
import type { ListAnswer } from '../support/walk.js';
import { checkWalks, listAt } from '../support/walked-list.js';

const nft = '/indexer/nft/v1';

interface Collection {
  readonly object_addr: string;
  readonly collection: {
    readonly creator: string;
    readonly name: string;
    readonly origin_name: string;
    readonly nfts: { readonly handle: string; readonly length: number };
  };
  readonly height: number;
  readonly timestamp: string;
}

type TxList = ListAnswer & { readonly txs: readonly { readonly txhash: string; readonly height: string }[] };

/** As the API asks: numbers by value and before other ids, those by code point. */
function compareIds(a: string, b: string): number {
  const isNumber = (id: string): boolean => /^(0|[1-9]\d*)$/.test(id) && BigInt(id) < 2n ** 256n;
  if (isNumber(a) && isNumber(b)) return BigInt(a) < BigInt(b) ? -1 : BigInt(a) > BigInt(b) ? 1 : 0;
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  const [left, right] = [[...a], [...b]];
  for (const [index, letter] of left.entries()) {
    const difference = (letter.codePointAt(0) ?? 0) - (right[index]?.codePointAt(0) ?? -1);
    if (difference !== 0) return difference;
  }
  return left.length - right.length;
}

const byId = (a: TokenTruth, b: TokenTruth): number =>
  compareIds(a.token_id, b.token_id) || (a.addr < b.addr ? -1 : a.addr > b.addr ? 1 : 0);
const byHeight = (a: TokenTruth, b: TokenTruth): number => a.height - b.height || byId(a, b);

for (const name of chosen('evm')) {
  describe(`every NFT of the ${name} recording`, () => {
    const { facts, collections, tokens, burnt, pretenders } = readNftTruth(name);
    const stack = startBefore(() => recordedStack(name));

    const shownCollection = (collection: CollectionTruth) => ({
      object_addr: collection.addr,
      collection: {
        creator: collection.creator,
        name: collection.name,
        origin_name: collection.origin_name,
        nfts: { handle: '', length: collection.length },
      },
      height: collection.height,
    });
    const shownToken = (token: TokenTruth) => {
      const of = collections.find(({ addr }) => addr === token.addr);
      return {
        collection_addr: token.addr,
        collection_name: of?.name,
        collection_origin_name: of?.origin_name,
        object_addr: token.object_addr,
        owner: token.owner,
        nft: { token_id: token.token_id, uri: token.uri },
        height: token.height,
      };
    };
    const untimed = <T extends { readonly timestamp: string }>({ timestamp, ...rest }: T) => {
      assert.match(timestamp, /^2026-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z$/);
      return rest;
    };

    /** Walks a list in both orders, forward and back. @param items oldest first */
    const expectCollections = (path: string, items: readonly CollectionTruth[], limit: number) => {
      const list = { path, member: 'collections', items: items.map(shownCollection), shown: untimed };
      return checkWalks<Collection>(stack, list, limit);
    };

    /** The same of tokens, by id and by height. */
    const expectTokens = async (path: string, all: readonly TokenTruth[], limit: number): Promise<void> => {
      const list = { member: 'tokens', shown: untimed<ShownToken> };
      const byHeightPath = `${path}${path.includes('?') ? '&' : '?'}order_by=height`;
      const [ids, heights] = [[...all].sort(byId), [...all].sort(byHeight)];
      await checkWalks(stack, { ...list, path, items: ids.map(shownToken) }, limit);
      await checkWalks(stack, { ...list, path: byHeightPath, items: heights.map(shownToken) }, limit + 1);
    };

    const byCreation = [...collections].sort((a, b) => a.height - b.height);

    it('collections stand in the order of their creation', () =>
      expectCollections(`${nft}/collections`, byCreation, 2));

    it('a collection is found by its address in every spelling, a pretender is none', async () => {
      for (const collection of collections) {
        for (const spelling of [collection.addr, collection.addr.toUpperCase().replace('0X', '0x')]) {
          const found = await stack.get<{ collection: Collection }>(`${nft}/collections/${spelling}`);
          assert.deepEqual(untimed(found.collection), shownCollection(collection));
        }
      }
      for (const pretender of pretenders) {
        await stack.get(`${nft}/collections/${pretender}`, 404);
        for (const path of [
          `tokens/by_collection/${pretender}`,
          `txs/${pretender}/1`,
          `txs/${pretender}/f1`,
        ]) {
          const { pagination } = await stack.get<ListAnswer>(`${nft}/${path}`);
          assert.equal(pagination.total, '0', path);
        }
      }
    });

    it('a collection is found by its name, by a part of it, and by its origin name', async () => {
      for (const { name: called, origin_name } of sampled(collections, 3)) {
        for (const asked of [called, called.toUpperCase(), called.slice(1, 4).toLowerCase(), origin_name]) {
          if (asked === '') continue;
          const matches = (text: string) => text.toLowerCase().includes(asked.toLowerCase());
          const isSame = (c: CollectionTruth) =>
            [c.name, c.origin_name].some((text) => text.toLowerCase() === asked.toLowerCase());
          const found = byCreation.filter((c) => matches(c.name) || matches(c.origin_name));
          for (const reverse of [true, false]) {
            const ordered = reverse ? found.toReversed() : found;
            const expected = [...ordered.filter(isSame), ...ordered.filter((c) => !isSame(c))];
            const path = `${nft}/collections/by_name/${encodeURIComponent(asked)}`;
            const items = expected.map(({ addr }) => addr);
            const list = listAt<Collection>(stack, {
              ...{ path, member: 'collections', shown: ({ object_addr }) => object_addr },
              items: reverse ? items.toReversed() : items,
            });
            await checkWalk(list, 1, reverse);
          }
        }
      }
    });

    it('the tokens of every collection, by id and by height', async () => {
      for (const { addr, length } of sampled(collections, 6)) {
        const own = tokens.filter((token) => token.addr === addr);
        assert.equal(own.length, length);
        const path = `${nft}/tokens/by_collection/${addr}`;
        await expectTokens(path, own, 4);
      }
    });

    const owners = [...new Set(tokens.map(({ owner }) => owner))].filter((owner) =>
      owner.startsWith('init1'),
    );

    it('the tokens of every account, by id and by height, in all collections and in one', async () => {
      for (const owner of sampled(owners, 2)) {
        const own = tokens.filter((token) => token.owner === owner);
        const path = `${nft}/tokens/by_account/${owner}`;
        await expectTokens(path, own, 3);
        for (const addr of sampled([...new Set(own.map((token) => token.addr))], 2)) {
          const some = own.filter((token) => token.addr === addr);
          await expectTokens(`${path}?collection_addr=${addr}`, some, 2);
        }
      }
    });

    it('the collections of every account', async () => {
      for (const owner of owners) {
        const held = byCreation.filter(({ addr }) =>
          tokens.some((t) => t.owner === owner && t.addr === addr),
        );
        const path = `${nft}/collections/by_account/${owner}`;
        await expectCollections(path, held, 2);
      }
    });

    it('every token by its id, however often the id is encoded', async () => {
      for (const token of sampled(
        tokens.filter(({ token_id }) => token_id !== ''),
        15,
      )) {
        const once = encodeURIComponent(token.token_id);
        for (const id of [once, encodeURIComponent(once)]) {
          const inCollection = await stack.get<TokenPage>(
            `${nft}/tokens/by_collection/${token.addr}?token_id=${id}`,
          );
          assert.deepEqual(inCollection.tokens.map(untimed), [shownToken(token)]);
          assert.equal(inCollection.pagination.total, '1');
          if (!token.owner.startsWith('init1')) continue;
          const path = `${nft}/tokens/by_account/${token.owner}?token_id=${id}`;
          const mine = tokens.filter(
            ({ owner, token_id }) => owner === token.owner && token_id === token.token_id,
          );
          const ofAccount = await stack.get<TokenPage>(`${path}&pagination.reverse=false`);
          assert.deepEqual(ofAccount.tokens.map(untimed), mine.sort(byId).map(shownToken));
          const both = await stack.get<TokenPage>(`${path}&collection_addr=${token.addr}`);
          assert.deepEqual(both.tokens.map(untimed), [shownToken(token)]);
        }
      }
    });

    it('the txs of every token, and of those that were burnt', async () => {
      for (const { addr, token_id, txs } of sampled(
        tokens.filter((token) => token.token_id !== ''),
        15,
      )) {
        const path = `${nft}/txs/${addr}/${encodeURIComponent(token_id)}`;
        const found = (await stack.get<TxList>(`${path}?pagination.limit=1000`)).txs;
        assert.equal(found.length, txs, path);
        const places = found.map(({ txhash }) => facts.txs.findIndex((tx) => tx.hash === txhash));
        assert.deepEqual(
          places,
          [...new Set(places)].sort((a, b) => b - a),
          path,
        );
        await checkWalk(listAt(stack, { path, member: 'txs', items: found.toReversed() }), 2, true);
      }
      for (const { addr, token_id } of burnt) {
        const id = encodeURIComponent(token_id);
        const { tokens: left } = await stack.get<TokenPage>(
          `${nft}/tokens/by_collection/${addr}?token_id=${id}`,
        );
        assert.deepEqual(left, []);
        const { txs } = await stack.get<TxList>(`${nft}/txs/${addr}/${id}`);
        assert.ok(txs.length >= 1, `${addr}/${token_id}`);
      }
    });
  });
}
