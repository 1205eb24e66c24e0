import type { PageRequest } from '../../../services/common/gen/indexer/common/v1/common.js';
import type { MovingPage } from '../../../services/common/page/moving.js';
import {
  describeCollections,
  listCollections,
  listCollectionsNamed,
  listCollectionsOf,
} from '../../../services/nft/read/collections.js';
import { readOwner } from '../../../services/nft/read/past.js';
import { type Reading, startReading } from '../../../services/nft/read/reader.js';
import { listTokensByAccount, listTokensByCollection } from '../../../services/nft/read/token-lists.js';
import { listTokenTxs } from '../../../services/nft/read/token-txs.js';
import type { NftStore } from '../../../services/nft/store/store.js';
import type { NftIndex } from '../../../services/nft/tables.js';
import { tokenKey } from '../../../services/nft/token-key.js';
import { large, whale } from './chain.js';

/** How long a question took. */
export interface ReadTime {
  readonly name: string;
  /** Milliseconds. */
  readonly median: number;
  readonly least: number;
  /** Processor time of this process for one question, in milliseconds: the same on a busy machine. */
  readonly processor: number;
}

const rounds = 25;

/** Shows every collection under a name of its own, as if the node had named them. */
export async function nameAll(index: NftIndex, store: NftStore): Promise<void> {
  const { database, tables } = index;
  const births = await database.rows<{ collection: string; at: number }>(
    `SELECT collection, at FROM ${tables.of('births')}`,
    {},
    { name: 'bench.births' },
  );
  const names = births.map((birth) => ({
    ...birth,
    creator: whale,
    name: `Collection ${birth.collection.slice(0, 6)}`,
    origin_name: '',
  }));
  await store.writeDetails({ names, uris: [], jobs: [] }, store.revision);
}

const page = (request: Partial<PageRequest> = {}): PageRequest => ({
  ...{ key: '', offset: 0, limit: 100, count_total: true, reverse: true },
  ...request,
});

type Ask = (reading: Reading, request: PageRequest) => Promise<MovingPage<unknown>>;

/**
 * Asks every question that must not get slower with the size of what it is about.
 *
 * @param onTime told of each as soon as it is measured.
 */
export async function measureReads(
  index: NftIndex,
  tokens: number,
  onTime: (time: ReadTime) => void,
): Promise<void> {
  const begin = (): Reading => startReading(index.reader, {});
  const byId = { token_id: '', order: 'token_id' } as const;
  const byHeight = { token_id: '', order: 'height' } as const;
  const lists: readonly (readonly [string, Ask])[] = [
    ['tokens of a collection', (r, p) => listTokensByCollection(r, large, { ...byId, page: p })],
    [
      'tokens of a collection by height',
      (r, p) => listTokensByCollection(r, large, { ...byHeight, page: p }),
    ],
    ['tokens of an account', (r, p) => listTokensByAccount(r, whale, '', { ...byId, page: p })],
    ['tokens of an account by height', (r, p) => listTokensByAccount(r, whale, '', { ...byHeight, page: p })],
    [
      'tokens of an account in a collection',
      (r, p) => listTokensByAccount(r, whale, large, { ...byId, page: p }),
    ],
  ];
  const measure = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const taken: number[] = [];
    const used = process.cpuUsage();
    for (let round = 0; round < rounds; round++) {
      const before = performance.now();
      await work();
      taken.push(performance.now() - before);
    }
    taken.sort((a, b) => a - b);
    const { user, system } = process.cpuUsage(used);
    onTime({
      ...{ name, median: taken[rounds >> 1] as number, least: taken[0] as number },
      processor: (user + system) / 1_000 / rounds,
    });
  };
  for (const [name, ask] of lists) {
    const far = Math.floor(tokens / 4);
    const { next_key } = (await ask(begin(), page({ offset: far }))).pagination;
    await measure(`${name}, first page`, () => ask(begin(), page()));
    await measure(`${name}, total`, () => ask(begin(), page({ limit: 1 })));
    await measure(`${name}, far by key`, () => ask(begin(), page({ key: next_key })));
    await measure(`${name}, far by offset`, () => ask(begin(), page({ offset: far })));
  }
  await measure('one token of a collection', () =>
    listTokensByCollection(begin(), large, { token_id: String(tokens), order: 'token_id', page: page() }),
  );
  await measure('txs of a token', () => listTokenTxs(begin(), large, '7', page()));
  await measure('collections, first page', async () => {
    const reading = begin();
    await describeCollections(reading, (await listCollections(reading, page())).items);
  });
  await measure('collections of an account', () => listCollectionsOf(begin(), whale, page()));
  await measure('collections by name, one', () => listCollectionsNamed(begin(), 'collection c00000', page()));
  await measure('collections by name, all', () => listCollectionsNamed(begin(), 'LECT', page()));
  await measure('owner at a past block', () =>
    readOwner({ ...begin(), end: 2 ** 21 * 2 }, large, tokenKey('7')),
  );
}
