import assert from 'node:assert/strict';
import { type AccountKey, parseAccount, toBech32 } from '../../../services/common/chain/address.js';
import type { PageRequest, PageResponse } from '../../../services/common/gen/indexer/common/v1/common.js';
import { type NftServiceClient, TokenOrder } from '../../../services/common/gen/indexer/nft/v1/nft.js';
import { callRpc, streamRpc } from '../../../services/common/rpc/client.js';
import { compareBytes, tokenKey } from '../../../services/nft/token-key.js';
import type { Random } from '../random.js';
import type { MadeChain } from './chain.js';
import { alive, type MadeContract, type MadePlace, type MadeToken, type MadeWorld } from './world.js';

/** What is compared with what. */
export interface MadeCheck {
  readonly client: NftServiceClient;
  readonly chain: MadeChain;
  readonly vm: 'evm' | 'move' | 'wasm';
  /** Chooses page sizes and what is looked at in samples. */
  readonly random: Random;
}

type Paged = { readonly pagination: PageResponse | undefined };

const addressOf = (vm: string, key: AccountKey): string => `0x${key.padStart(vm === 'evm' ? 40 : 64, '0')}`;

/** bech32, or the text as it came. */
function ownerOf(owner: string): string {
  if (owner === '') return '';
  return owner.startsWith('?') ? owner.slice(1) : toBech32(owner, 'init');
}

const placeOf = ({ born, seen }: MadeContract): MadePlace => (born ?? seen) as MadePlace;

/** The collections that are shown, by creation. */
function shownOf({ contracts }: MadeWorld): MadeContract[] {
  return [...contracts.values()]
    .filter(({ name, born, seen }) => name !== undefined && (born ?? seen) !== undefined)
    .sort((a, b) => placeOf(a).height - placeOf(b).height || placeOf(a).order - placeOf(b).order);
}

interface OwnedToken {
  readonly contract: MadeContract;
  readonly token: MadeToken;
}

const byId = (a: OwnedToken, b: OwnedToken): number =>
  compareBytes(tokenKey(a.token.id), tokenKey(b.token.id)) ||
  compareBytes(a.contract.address, b.contract.address);
const byHeight = (a: OwnedToken, b: OwnedToken): number => a.token.height - b.token.height || byId(a, b);

/** Every list of a walk, page by page, and back by previous_key; totals too. */
async function walk<T>(
  read: (page: PageRequest) => Promise<Paged & { readonly items: readonly T[] }>,
  reverse: boolean,
  limit: number,
): Promise<readonly T[]> {
  const ask = (key: string) => read({ key, offset: 0, limit, count_total: true, reverse });
  const pages = [await ask('')];
  for (let key = pages[0]?.pagination?.next_key ?? ''; key !== ''; ) {
    const page = await ask(key);
    pages.push(page);
    key = page.pagination?.next_key ?? '';
    assert.ok(pages.length < 2_000, 'the walk ends');
  }
  const items = pages.flatMap((page) => page.items);
  assert.ok(
    pages.every(({ pagination }) => pagination?.total === String(items.length)),
    'totals',
  );
  let back = pages.length - 1;
  for (let key = pages.at(-1)?.pagination?.previous_key ?? ''; key !== ''; back -= 1) {
    const page = await ask(key);
    assert.deepEqual(page.items, pages[back - 1]?.items, 'the page before');
    key = page.pagination?.previous_key ?? '';
  }
  assert.equal(back, 0);
  return items;
}

/** Compares what the index says with what is true after the chain's last block: all of it, or one part. */
export async function checkMade(check: MadeCheck, all: boolean): Promise<void> {
  const world = check.chain.worldAt(check.chain.height);
  const parts = [checkCollections, checkTokens, checkTokenTxs, checkPast];
  for (const part of all ? parts : [check.random.pick(parts)]) await part(check, world);
}

async function checkCollections({ client, chain, vm, random }: MadeCheck, world: MadeWorld): Promise<void> {
  const expected = (contract: MadeContract) => ({
    object_addr: addressOf(vm, contract.address),
    collection: {
      creator: contract.creator === '' ? '' : toBech32(contract.creator, 'init'),
      name: contract.name,
      origin_name: world.classes.get(contract.name ?? '') ?? '',
      nfts: { handle: '', length: alive(contract).length },
    },
    height: placeOf(contract).height,
    timestamp: placeOf(contract).timestamp,
  });
  const shown = shownOf(world);
  for (const reverse of [true, false]) {
    const found = await walk(
      async (pagination) => {
        const page = await callRpc(client.listCollections.bind(client), { pagination });
        return { items: page.collections, pagination: page.pagination };
      },
      reverse,
      1 + random.integer(5),
    );
    assert.deepEqual(found, (reverse ? shown.toReversed() : shown).map(expected), 'collections');
  }
  for (const contract of world.contracts.values()) {
    const asked = callRpc(client.getCollection.bind(client), {
      collection_addr: random.oneIn(2) ? toBech32(contract.address, 'init') : addressOf(vm, contract.address),
    });
    if (shown.includes(contract)) assert.deepEqual((await asked).collection, expected(contract));
    else await assert.rejects(asked, /there is no collection/);
  }
  for (const account of chain.accounts) {
    const held = shown.filter((contract) => alive(contract).some(({ owner }) => owner === account));
    const found = await walk(
      async (pagination) => {
        const page = await callRpc(client.listCollectionsByAccount.bind(client), {
          account: toBech32(account, 'init'),
          pagination,
        });
        return { items: page.collections, pagination: page.pagination };
      },
      true,
      1 + random.integer(3),
    );
    assert.deepEqual(found, held.toReversed().map(expected), `collections of ${account}`);
  }
  for (const name of new Set(shown.map((contract) => contract.name as string))) {
    if (name === '') continue;
    const wanted = name.toUpperCase().toLowerCase();
    const texts = (contract: MadeContract) =>
      [contract.name ?? '', world.classes.get(contract.name ?? '') ?? ''].map((text) => fold(text));
    const equal = shown.filter((contract) => texts(contract).includes(fold(wanted)));
    const containing = shown.filter(
      (contract) => !equal.includes(contract) && texts(contract).some((text) => text.includes(fold(wanted))),
    );
    const found = await callRpc(client.listCollectionsByName.bind(client), {
      name: wanted,
      pagination: { key: '', offset: 0, limit: 1000, count_total: true, reverse: false },
    });
    assert.deepEqual(found.collections, [...equal, ...containing].map(expected), `by name ${name}`);
  }
}

const fold = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ');

async function checkTokens({ client, chain, vm, random }: MadeCheck, world: MadeWorld): Promise<void> {
  const shown = shownOf(world);
  const all = shown.flatMap((contract) => alive(contract).map((token) => ({ contract, token })));
  const expected = ({ contract, token }: OwnedToken) => ({
    collection_addr: addressOf(vm, contract.address),
    collection_name: contract.name,
    collection_origin_name: world.classes.get(contract.name ?? '') ?? '',
    object_addr: token.object === '' ? '' : addressOf(vm, token.object),
    owner: ownerOf(token.owner),
    nft: { token_id: token.id, uri: token.uri ?? token.said },
    height: token.height,
    timestamp: token.timestamp,
  });
  const holders = new Set([
    ...chain.accounts,
    ...all.map(({ token }) => token.owner).filter((owner) => owner.length === 64),
  ]);
  for (const order_by of [TokenOrder.TOKEN_ID, TokenOrder.HEIGHT]) {
    const reverse = random.oneIn(2);
    const expect = (tokens: readonly OwnedToken[]) => {
      const sorted = [...tokens].sort(order_by === TokenOrder.HEIGHT ? byHeight : byId).map(expected);
      return reverse ? sorted.reverse() : sorted;
    };
    const limit = random.pick([11, 30, 1000]);
    for (const contract of world.contracts.values()) {
      const own = all.filter((one) => one.contract === contract);
      const found = await walk(
        async (pagination) => {
          const request = {
            collection_addr: addressOf(vm, contract.address),
            token_id: '',
            order_by,
            pagination,
          };
          const page = await callRpc(client.listTokensByCollection.bind(client), request);
          return { items: page.tokens, pagination: page.pagination };
        },
        reverse,
        limit,
      );
      assert.deepEqual(found, expect(own), `tokens of ${contract.kind} ${contract.address} by ${order_by}`);
    }
    for (const account of holders) {
      const own = all.filter(({ token }) => token.owner === account);
      const only = random.oneIn(2) ? random.pick([...world.contracts.values()]) : undefined;
      const found = await walk(
        async (pagination) => {
          const collection_addr = only === undefined ? '' : addressOf(vm, only.address);
          const request = { account: `0x${account}`, collection_addr, token_id: '', order_by, pagination };
          const page = await callRpc(client.listTokensByAccount.bind(client), request);
          return { items: page.tokens, pagination: page.pagination };
        },
        reverse,
        limit,
      );
      const wanted = only === undefined ? own : own.filter(({ contract }) => contract === only);
      assert.deepEqual(found, expect(wanted), `tokens of ${account} by ${order_by}`);
    }
  }
}

async function checkTokenTxs({ client, vm, random }: MadeCheck, world: MadeWorld): Promise<void> {
  const shown = shownOf(world);
  const pagination = { key: '', offset: 0, limit: 1000, count_total: true, reverse: false };
  for (const contract of world.contracts.values())
    for (const token of contract.tokens.values()) {
      if (token.burnt ? random.oneIn(2) : !random.oneIn(4)) continue;
      const request = { collection_addr: addressOf(vm, contract.address), token_id: token.id, pagination };
      const found = await callRpc(client.listTokenTxs.bind(client), request);
      const expected = shown.includes(contract) ? token.txs : [];
      assert.deepEqual(found.tx_hashes, expected, `txs of ${token.id.slice(0, 50)} in ${contract.address}`);
    }
}

/** Owners after earlier blocks, some of them. */
async function checkPast({ client, chain, vm, random }: MadeCheck): Promise<void> {
  for (let n = 0; n < 2; n++) {
    const height = 1 + random.integer(chain.height);
    const world = chain.worldAt(height);
    for (const contract of world.contracts.values()) {
      const collection_addr = addressOf(vm, contract.address);
      const found: string[] = [];
      for await (const { tokens } of streamRpc(client.streamCollectionTokens.bind(client), {
        collection_addr,
        height,
      }))
        found.push(...tokens.map(({ token_id, owner }) => JSON.stringify([token_id, owner])));
      const expected = alive(contract).map(({ id, owner }) => JSON.stringify([id, ownerOf(owner)]));
      assert.deepEqual(found.sort(), expected.sort(), `${collection_addr} after ${height}`);
      for (const { id: token_id, owner, burnt } of [...contract.tokens.values()].slice(0, 3)) {
        const asked = callRpc(client.getTokenOwner.bind(client), { collection_addr, token_id, height });
        if (burnt) await assert.rejects(asked, /there was no token/);
        else assert.equal((await asked).owner, ownerOf(owner));
      }
    }
    for (const account of chain.accounts.filter((key) => parseAccount(`0x${key}`, 'init') === key)) {
      const found: string[] = [];
      const request = { account: `0x${account}`, height };
      for await (const { tokens } of streamRpc(client.streamAccountTokens.bind(client), request))
        found.push(...tokens.map((token) => JSON.stringify([token.collection_addr, token.token_id])));
      const expected = [...world.contracts.values()].flatMap((contract) =>
        alive(contract)
          .filter(({ owner }) => owner === account)
          .map(({ id }) => JSON.stringify([addressOf(vm, contract.address), id])),
      );
      assert.deepEqual(found.sort(), expected.sort(), `${account} after ${height}`);
    }
  }
}
