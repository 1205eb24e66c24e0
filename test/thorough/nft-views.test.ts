import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import type { Happening, NftBlock, NftEvent } from '../../services/nft/decode/types.js';
import { answer, refused } from '../../services/nft/enrich/outcome.js';
import type { DetailSource } from '../../services/nft/enrich/source.js';
import { nftViews } from '../../services/nft/store/views.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { contracts, ids, owners, randomNfts } from '../support/nft-model.js';
import { migrateNft, type NftTables, openNft } from '../support/nft-tables.js';
import { checkNftViews, nftViewDifferences } from '../support/nft-views.js';
import { type Random, randomFrom } from '../support/random.js';
import { isWhole } from '../support/sample.js';

/** How many steps a history has, how many are tried, and the first: SEED and HISTORIES try others. */
const [steps, histories, first] = [
  24,
  Number(process.env['HISTORIES'] ?? (isWhole ? 3 : 1)),
  Number(process.env['SEED'] ?? 1),
];

const options = { name: 'test.alter' };

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

describe('views of NFTs', function () {
  this.timeout(240_000);
  let database: Database;
  before(async () => {
    database = await testDatabase();
  });

  for (let seed = first; seed < first + histories; seed++)
    for (const vm of ['move', 'wasm', 'evm'] as const)
      it(`are what the facts say after any history of ${vm} blocks, answers, rollbacks and kills (${seed})`, async () => {
        const [random, prefix, chain] = [randomFrom(seed * 77), uniquePrefix(), everything(seed)];
        await migrateNft(database, prefix);
        let left = Number.POSITIVE_INFINITY;
        const fault = (): void => {
          left -= 1;
          if (left < 0) throw new Error('killed');
        };
        const open = (): Promise<NftTables> => openNft(database, prefix, { fault, vm, capacity: 6 });
        let tables = await open();
        await tables.store.recover();
        let blocks: NftBlock[] = [];
        for (let step = 0; step < steps; step++) {
          const more = Array.from({ length: 1 + random.integer(4) }).reduce<NftBlock[]>(
            (all) => [...all, chain.next(all.at(-1))],
            [...blocks],
          );
          if (random.oneIn(3)) left = random.integer(20);
          const kind = random.integer(5);
          try {
            if (kind === 0) await tables.store.unwind(random.integer(blocks.length + 1));
            else if (kind === 1) await tables.learn(fickleSource(random));
            else await tables.store.writeBlocks(more.slice(blocks.length));
          } catch (error) {
            assert.match(String(error), /killed/);
            for (;;) {
              tables = await open();
              left = random.oneIn(2) ? random.integer(12) : Number.POSITIVE_INFINITY;
              if (
                await tables.store.recover().then(
                  () => true,
                  () => false,
                )
              )
                break;
            }
          }
          left = Number.POSITIVE_INFINITY;
          blocks = more.slice(0, tables.store.position.height);
          await checkNftViews(database, tables, random).catch((cause: unknown) => {
            throw new Error(`step ${step}, ${kind}: ${String(cause)}`, { cause });
          });
        }
        await tables.learn(fickleSource(random));
        await checkNftViews(database, tables, random);
        assert.ok(blocks.length > 0);
      });

  it('are told from what the facts say, whichever row is altered', async () => {
    const [prefix, chain] = [uniquePrefix(), everything(5)];
    await migrateNft(database, prefix);
    const tables = await openNft(database, prefix);
    await tables.store.recover();
    const blocks: NftBlock[] = [];
    while (blocks.length < 20) blocks.push(chain.next(blocks.at(-1)));
    await tables.store.writeBlocks(blocks);
    await tables.learn();
    const { index, store } = tables;
    const differences = () => nftViewDifferences(database, index, store.position);
    assert.deepEqual(await differences(), []);
    for (const { table, key, values } of new Map(
      nftViews.flatMap(({ views }) => views.map((view) => [view.table, view] as const)),
    ).values()) {
      const name = index.tables.of(table);
      const columns = [...key, ...values];
      const [found] = await database.rows<Record<string, unknown> & { newest: string }>(
        `SELECT ${columns.join(', ')}, toString(v.version) AS newest FROM ${name} AS v FINAL ORDER BY ${key.join(', ')} LIMIT 1`,
        {},
        options,
      );
      const { newest = '0', ...row } = found ?? {};
      const write = (some: object, is_deleted: 0 | 1, later: bigint) =>
        database.insert(
          name,
          JSON.stringify({ ...some, is_deleted, version: String(BigInt(newest) + later) }),
          options,
        );
      // A row that is gone, and one that is another: its last value, or where there is none its place.
      await write(row, 1, 1n);
      assert.deepEqual(
        (await differences()).map((each) => [each.table, each.kind]),
        // Collections follow from two tables of facts.
        Array.from({ length: /collection/.test(table) ? 2 : 1 }, () => [table, 'missing']),
      );
      await write(row, 0, 2n);
      assert.deepEqual(await differences(), []);
      const last = values.at(-1) ?? 'height';
      const value = (row as Record<string, unknown>)[last];
      const altered = { ...row, [last]: typeof value === 'number' ? value + 1 : `${value}x` };
      await write(altered, 0, 3n);
      const seen = await differences();
      assert.ok(
        seen.some((each) => each.table === table && each.kind === 'foreign'),
        table,
      );
      if (values.length > 0) await write(row, 0, 4n);
      else await write(altered, 1, 4n);
      assert.deepEqual(await differences(), []);
    }
  });
});
