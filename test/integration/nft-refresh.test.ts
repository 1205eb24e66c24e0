import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import type { Happening } from '../../services/nft/decode/types.js';
import { answer } from '../../services/nft/enrich/outcome.js';
import { readAsks, readDueJobs } from '../../services/nft/enrich/queue.js';
import { createRangePlanner } from '../../services/nft/enrich/ranges.js';
import type { DetailSource } from '../../services/nft/enrich/source.js';
import { workOff } from '../../services/nft/enrich/work.js';
import { startReading } from '../../services/nft/read/reader.js';
import { readTokens } from '../../services/nft/read/tokens.js';
import { readAsked } from '../../services/nft/store/details.js';
import { lookUpOrigins } from '../../services/nft/store/lookups.js';
import { endOf, withBirth } from '../../services/nft/store/token.js';
import type { Birth, Origin } from '../../services/nft/store/types.js';
import { defaultTextLimits } from '../../services/nft/text-limits.js';
import { tokenKey } from '../../services/nft/token-key.js';
import { query } from '../support/database.js';
import { newNft, nftBlock } from '../support/nft-tables.js';
import { randomFrom } from '../support/random.js';

const collection = 'c'.repeat(40);
const owner = 'e'.repeat(40);
const tokens = 700;
/** How long the next pass waits, in milliseconds of the test's own clock. */
const refresh_ms = 60_000;

const blockOf = (height: number, happenings: readonly Happening[]) => nftBlock(height, happenings, owner);

const mints = Array.from(
  { length: tokens },
  (_, id): Happening => ({ what: 'mint', token: { collection, token_id: String(id) }, owner }),
);

/** Ranges that all contain every token, and differ. */
const refreshes = (count: number, from: number): Happening[] =>
  Array.from({ length: count }, (_, index) => ({
    ...{ what: 'refresh_tokens', collection, first_id: '0' },
    last_id: String(2 ** 40 + from + index),
  }));

/** A writer of details whose node and clock are the test's. */
async function openWorld() {
  const { database, index, store } = await newNft({ vm: 'evm' });
  const { tables, head } = index;
  let [now, asked, uri] = [1_000_000, 0, 'ipfs://first'];
  const limits: string[] = [];
  const source: DetailSource = {
    collections: async (some) => some.map(() => answer({ name: 'Art', creator: '' as const })),
    uris: async (some) => {
      asked += some.length;
      return some.map(() => answer(uri));
    },
  };
  const ranges = createRangePlanner({
    ...{ database, tables, refresh_ms, now: () => now },
    report: ({ limit }) => limits.push(limit ?? ''),
  });
  const signal = new AbortController().signal;
  return {
    store,
    index,
    limits,
    /** Works off all that is due. @returns how many tokens the node was asked about. */
    async learn(): Promise<number> {
      asked = 0;
      for (;;) {
        const { at } = await readAsked(database, tables);
        const asks = await readAsks(database, tables, at, endOf(head.position.height), 500);
        const tasks = asks.length > 0 ? asks : await readDueJobs(database, tables, now, 500);
        if (tasks.length === 0) return asked;
        const options = {
          ...{ database, tables, source, ranges, signal, attempts: 1, now: () => now },
          ...{ limits: defaultTextLimits, report: () => {} },
        };
        const { details } = await workOff(options, tasks, asks.length === 0, startReading(index.reader, {}));
        await store.writeDetails({ ...details, asked: asks.at(-1)?.at ?? at }, store.revision);
      }
    },
    pass(ms: number) {
      now += ms;
    },
    say(text: string) {
      uri = text;
    },
    async uris(): Promise<Set<string | undefined>> {
      const places = mints.map((_, id) => ({ collection, id_key: tokenKey(String(id)) }));
      const found = await readTokens(startReading(index.reader, {}), places);
      assert.equal(found.size, tokens);
      return new Set([...found.values()].map((token) => token.uri));
    },
    rows: async (): Promise<number> =>
      (await query<{ n: number }>(`SELECT count() AS n FROM ${tables.of('token_uris')}`))[0]?.n ?? 0,
  };
}

describe('uris that contracts ask to be read again', () => {
  it('of many ranges at once: each token is asked about once, and then not before the pause is over', async () => {
    const world = await openWorld();
    await world.store.writeBlocks([blockOf(1, mints)]);
    assert.equal(await world.learn(), tokens);
    assert.equal(await world.rows(), tokens);

    // More ranges than are worked off in one go, and more tokens than are asked about in one.
    await world.store.writeBlocks([blockOf(2, refreshes(1_200, 0))]);
    assert.equal(await world.learn(), tokens);
    assert.equal(await world.rows(), tokens, 'what has not changed is not written again');
    assert.ok(world.limits.includes('NFT_REFRESH_MS'));

    world.say('ipfs://second');
    world.pass(refresh_ms / 2);
    await world.store.writeBlocks([blockOf(3, refreshes(1, 5_000))]);
    assert.equal(await world.learn(), 0);
    assert.deepEqual(await world.uris(), new Set(['ipfs://first']));
    world.pass(refresh_ms);
    assert.equal(await world.learn(), tokens);
    assert.deepEqual(await world.uris(), new Set(['ipfs://second']));
    assert.equal(await world.rows(), 2 * tokens);

    world.pass(10 * refresh_ms);
    assert.equal(await world.learn(), 0, 'nothing is left to ask');
  });

  it('of a token that was minted again since: what it had before is void', async () => {
    const world = await openWorld();
    await world.store.writeBlocks([blockOf(1, mints)]);
    await world.learn();
    const token = { collection, token_id: '0' };
    await world.store.writeBlocks([
      blockOf(2, [
        { what: 'burn', token },
        { what: 'mint', token, owner },
      ]),
    ]);
    assert.equal(await world.learn(), 1);
    assert.equal(await world.rows(), tokens + 1, 'the same uri is said of another token');
    assert.deepEqual(await world.uris(), new Set(['ipfs://first']));
  });
});

describe('where collections began', () => {
  it('is what all of its rows say together, and is read without them', async () => {
    const random = randomFrom(7);
    const { database, index } = await newNft({ vm: 'move' });
    const { tables } = index;
    const births: Birth[] = Array.from({ length: 3_000 }, (_, n) => ({
      collection: `d${random.integer(60)}`.padEnd(40, '0'),
      kind: (['seen', 'certain', 'renamed', 'renamed', 'renamed'] as const)[random.integer(5)] ?? 'seen',
      ...{ born_at: n, creator: owner, name: `Name ${n}`, timestamp: '', at: n + 1 },
    }));
    await database.insert(tables.of('births'), births.map((row) => JSON.stringify(row)).join('\n'), {
      name: 'test',
    });
    const expected = new Map<string, Origin>();
    for (const birth of births) {
      const origin = withBirth(expected.get(birth.collection), birth);
      if (origin !== undefined) expected.set(birth.collection, origin);
    }
    const read = { ...database, rows: counted(database) };
    const all = [...new Set(births.map((birth) => birth.collection))];
    assert.deepEqual(sorted(await lookUpOrigins(read, tables, all)), sorted(expected));
  });

  const sorted = (origins: ReadonlyMap<string, Origin>): unknown[] =>
    [...origins].sort(([a], [b]) => (a < b ? -1 : 1));
  /** Reads, and fails where there are more rows than three a collection. */
  const counted =
    (database: Database): Database['rows'] =>
    async (...statement) => {
      const rows = await database.rows(...statement);
      assert.ok(rows.length <= 180, `${rows.length} rows`);
      return rows as never;
    };
});
