import assert from 'node:assert/strict';
import type { Happening, NftBlock, NftEvent } from '../../services/nft/decode/types.js';
import { answer, refused } from '../../services/nft/enrich/outcome.js';
import type { DetailSource } from '../../services/nft/enrich/source.js';
import { nftViews } from '../../services/nft/store/tables.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { randomKills } from '../support/kills.js';
import { checkWhole } from '../support/lists.js';
import { checkPast, checkTokenTxs, everyNftList } from '../support/nft-lists.js';
import { contracts, ids, modelOf, owners, randomNfts } from '../support/nft-model.js';
import { migrateNft, modelSource, type NftTables, openNft } from '../support/nft-tables.js';
import { type Random, randomFrom } from '../support/random.js';
import { histories } from '../support/sample.js';
import { startBefore } from '../support/suite.js';
import { checkViews } from '../support/views.js';

/** How many steps a history has. */
const steps = 24;

/** What says more of collections, and asks for more, than tokens alone do. */
function happeningsOfCollections(random: Random): Happening[] {
  const collection = random.pick(contracts);
  const name = random.pick(['Art', 'Art/7', 'Ünï', '']);
  const token = { collection, token_id: random.pick(ids) };
  return [
    { what: 'collection', collection, creator: random.pick([owners[0] as string, '']), name },
    { what: 'renamed', collection, name: random.pick(['Art/7', 'Later']) },
    { what: 'class', class_name: 'Art/7', origin_name: `Home ${random.integer(3)}` },
    { what: 'refresh_collection', collection },
    { what: 'refresh_tokens', collection, first_id: '0', last_id: '9' },
    { what: 'uri', token },
    { what: 'named', token },
    { what: 'contract', contract: collection },
  ];
}

/** A chain of random events of every kind. */
function everything(seed: number): { next(parent: NftBlock | undefined): NftBlock } {
  const [chain, random] = [randomNfts(seed), randomFrom(seed + 500)];
  return {
    next(parent) {
      const block = chain.next(parent);
      const happenings: Happening[] = [];
      for (const { tx: _, index: __, ...happening } of block.events) {
        if (random.oneIn(3)) happenings.push(random.pick(happeningsOfCollections(random)));
        happenings.push(happening as Happening);
      }
      const tx = { hash: block.hash.toLowerCase(), signer: random.pick(owners) };
      return {
        ...block,
        events: happenings.map((happening, index) => ({ ...happening, tx, index }) as NftEvent),
      };
    },
  };
}

/** A node that says something else each time, or nothing. */
const fickleSource = (random: Random): DetailSource => ({
  collections: async (some) =>
    some.map(() =>
      random.oneIn(4)
        ? refused('no name')
        : answer({ name: random.pick(['Art', 'Art/7', 'Other']), creator: 'f'.repeat(40) }),
    ),
  uris: async (some) => some.map(() => answer(random.oneIn(3) ? undefined : `uri ${random.integer(9)}`)),
});

interface HistoryOptions {
  readonly vm: 'move' | 'wasm' | 'evm';
  readonly chain: ReturnType<typeof randomNfts>;
  readonly sourceOf: (random: Random) => DetailSource;
  readonly onStep?: (step: number, tables: NftTables, blocks: readonly NftBlock[]) => Promise<void>;
}

describe('views of NFTs', () => {
  const database = startBefore(testDatabase);

  /** Any history of blocks, answers, rollbacks and kills. @param onStep told what there is after each step. */
  async function follow(
    seed: number,
    { vm, chain, sourceOf, onStep = async () => {} }: HistoryOptions,
  ): Promise<[tables: NftTables, blocks: NftBlock[]]> {
    const [random, prefix] = [randomFrom(seed * 79), uniquePrefix()];
    await migrateNft(database, prefix);
    const { fault, survive } = randomKills(random);
    const open = (): Promise<NftTables> => openNft(database, prefix, { fault, vm, capacity: 6 });
    let tables = await open();
    await tables.store.recover();
    let blocks: NftBlock[] = [];
    for (let step = 0; step < steps; step++) {
      const more = Array.from({ length: 1 + random.integer(4) }).reduce<NftBlock[]>(
        (all) => [...all, chain.next(all.at(-1))],
        [...blocks],
      );
      const kind = random.integer(5);
      const work = async (): Promise<void> => {
        if (kind === 0) {
          const height = random.integer(blocks.length + 1);
          await tables.store.unwind(height);
          assert.equal(tables.store.position.height, height, 'it goes back no further than it must');
        } else if (kind === 1) await tables.learn(sourceOf(random));
        else await tables.store.writeBlocks(more.slice(blocks.length));
      };
      const recover = async (): Promise<void> => {
        tables = await open();
        await tables.store.recover();
      };
      await survive(work, recover, 20);
      blocks = more.slice(0, tables.store.position.height);
      assert.equal(tables.store.position.hash, blocks.at(-1)?.hash ?? '');
      await checkViews(database, tables.index.tables, tables.store.position, nftViews, random).catch(
        (cause: unknown) => {
          throw new Error(`step ${step}, ${kind}: ${String(cause)}`, { cause });
        },
      );
      await onStep(step, tables, blocks);
    }
    await tables.learn(sourceOf(random));
    await checkViews(database, tables.index.tables, tables.store.position, nftViews, random);
    assert.ok(blocks.length > 0);
    return [tables, blocks];
  }

  for (let seed = histories.first; seed < histories.first + histories.count; seed++) {
    for (const vm of ['move', 'wasm', 'evm'] as const)
      it(`are what the facts say after any history of ${vm} blocks, answers, rollbacks and kills (${seed})`, async () => {
        await follow(seed, { vm, chain: everything(seed), sourceOf: fickleSource });
      });

    it(`lead to the lists of a model, and so do facts of the past (${seed})`, async () => {
      /** Compares lists with the model: every one, or one in `share`, others each time. */
      const expectLists = async (
        tables: NftTables,
        blocks: readonly NftBlock[],
        step: number,
        share: number,
      ) => {
        const lists = everyNftList(tables, modelOf(blocks));
        for (const list of lists.filter((_, index) => index % share === step % share)) await checkWhole(list);
      };
      const [tables, blocks] = await follow(seed, {
        ...{ vm: 'wasm', chain: randomNfts(seed), sourceOf: () => modelSource },
        async onStep(step, now, some) {
          await now.learn();
          if (step % 3 === 2) await expectLists(now, some, step, 5);
        },
      });
      await expectLists(tables, blocks, 0, 1);
      await checkTokenTxs(tables, modelOf(blocks));
      await checkPast(tables, blocks, Math.ceil(blocks.length / 2));
    });
  }
});
