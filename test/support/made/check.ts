import assert from 'node:assert/strict';
import { type AccountKey, parseAccount, toBech32 } from '../../../services/common/chain/address.js';
import type { PageRequest } from '../../../services/common/gen/indexer/common/v1/common.js';
import {
  type ListTokensByAccountResponse,
  type NftServiceClient,
  TokenOrder,
} from '../../../services/common/gen/indexer/nft/v1/nft.js';
import { compareBytes, tokenKey } from '../../../services/nft/token-key.js';
import { checkWalk } from '../lists.js';
import type { Random } from '../random.js';
import { ask, collect, stream } from '../rpc.js';
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
    const list = {
      name: 'collections',
      items: shown.map(expected),
      async read(pagination: PageRequest) {
        const page = await ask(client).listCollections({ pagination });
        return { items: page.collections, pagination: page.pagination! };
      },
    };
    await checkWalk(list, 1 + random.integer(5), reverse);
  }
  for (const contract of world.contracts.values()) {
    const asked = ask(client).getCollection({
      collection_addr: random.oneIn(2) ? toBech32(contract.address, 'init') : addressOf(vm, contract.address),
    });
    if (shown.includes(contract)) assert.deepEqual((await asked).collection, expected(contract));
    else await assert.rejects(asked, /there is no collection/);
  }
  for (const account of chain.accounts) {
    const held = shown.filter((contract) => alive(contract).some(({ owner }) => owner === account));
    const list = {
      name: `collections of ${account}`,
      items: held.map(expected),
      async read(pagination: PageRequest) {
        const request = { account: toBech32(account, 'init'), pagination };
        const page = await ask(client).listCollectionsByAccount(request);
        return { items: page.collections, pagination: page.pagination! };
      },
    };
    await checkWalk(list, 1 + random.integer(3), true);
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
    const found = await ask(client).listCollectionsByName({
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
    const expect = (
      name: string,
      tokens: readonly OwnedToken[],
      ask: (pagination: PageRequest) => Promise<ListTokensByAccountResponse>,
    ) => {
      const list = {
        name: `${name} by ${order_by}`,
        items: [...tokens].sort(order_by === TokenOrder.HEIGHT ? byHeight : byId).map(expected),
        async read(request: PageRequest) {
          const page = await ask(request);
          return { items: page.tokens, pagination: page.pagination! };
        },
      };
      return checkWalk(list, limit, reverse);
    };
    const limit = random.pick([11, 30, 1000]);
    for (const contract of world.contracts.values()) {
      const own = all.filter((one) => one.contract === contract);
      const collection_addr = addressOf(vm, contract.address);
      await expect(`tokens of ${contract.kind} ${contract.address}`, own, (pagination) =>
        ask(client).listTokensByCollection({ ...{ collection_addr, token_id: '', order_by, pagination } }),
      );
    }
    for (const account of holders) {
      const own = all.filter(({ token }) => token.owner === account);
      const only = random.oneIn(2) ? random.pick([...world.contracts.values()]) : undefined;
      const wanted = only === undefined ? own : own.filter(({ contract }) => contract === only);
      const collection_addr = only === undefined ? '' : addressOf(vm, only.address);
      await expect(`tokens of ${account}`, wanted, (pagination) =>
        ask(client).listTokensByAccount({
          ...{ account: `0x${account}`, collection_addr, token_id: '', order_by, pagination },
        }),
      );
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
      const found = await ask(client).listTokenTxs(request);
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
      const held = stream(client).streamCollectionTokens({ collection_addr, height });
      const found = await collect(held, ({ tokens }) =>
        tokens.map(({ token_id, owner }) => JSON.stringify([token_id, owner])),
      );
      const expected = alive(contract).map(({ id, owner }) => JSON.stringify([id, ownerOf(owner)]));
      assert.deepEqual(found.sort(), expected.sort(), `${collection_addr} after ${height}`);
      for (const { id: token_id, owner, burnt } of [...contract.tokens.values()].slice(0, 3)) {
        const asked = ask(client).getTokenOwner({ collection_addr, token_id, height });
        if (burnt) await assert.rejects(asked, /there was no token/);
        else assert.equal((await asked).owner, ownerOf(owner));
      }
    }
    for (const account of chain.accounts.filter((key) => parseAccount(`0x${key}`, 'init') === key)) {
      const owned = stream(client).streamAccountTokens({ account: `0x${account}`, height });
      const found = await collect(owned, ({ tokens }) =>
        tokens.map((token) => JSON.stringify([token.collection_addr, token.token_id])),
      );
      const expected = [...world.contracts.values()].flatMap((contract) =>
        alive(contract)
          .filter(({ owner }) => owner === account)
          .map(({ id }) => JSON.stringify([addressOf(vm, contract.address), id])),
      );
      assert.deepEqual(found.sort(), expected.sort(), `${account} after ${height}`);
    }
  }
}
