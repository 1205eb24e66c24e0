import assert from 'node:assert/strict';
import type { Database, Params } from '../../services/common/clickhouse/database.js';
import type { Happening, NftBlock } from '../../services/nft/decode/types.js';
import { answer, refused } from '../../services/nft/enrich/outcome.js';
import type { DetailSource } from '../../services/nft/enrich/source.js';
import { listCollectionsOf } from '../../services/nft/read/collections.js';
import { startReading } from '../../services/nft/read/reader.js';
import { listTokensByAccount } from '../../services/nft/read/token-lists.js';
import { readTokenSizes } from '../../services/nft/read/tokens.js';
import { lookUpTokens } from '../../services/nft/store/lookups.js';
import { createNftIndex } from '../../services/nft/tables.js';
import { testDatabase } from '../support/database.js';
import { newNft, nftBlock } from '../support/nft-tables.js';

/** What a server takes for the text of one parameter: `http_max_field_value_size`. */
const parameterBytes = 128 * 1024;

/** The engine, which notes the largest parameter that it is given. */
function watched(database: Database): Database & { largest: number; statements: number } {
  const note = (params: Params): void => {
    own.statements += 1;
    // Quotes and backslashes are escaped in a parameter as they are in JSON.
    for (const value of Object.values(params))
      own.largest = Math.max(own.largest, Buffer.byteLength(JSON.stringify(value) ?? ''));
  };
  const own = {
    ...database,
    largest: 0,
    statements: 0,
    rows: <T>(sql: string, params: Params, options: Parameters<Database['rows']>[2]) => {
      note(params);
      return database.rows<T>(sql, params, options);
    },
    bytes: (...[sql, format, params, options]: Parameters<Database['bytes']>) => {
      note(params);
      return database.bytes(sql, format, params, options);
    },
  };
  return own;
}

const victim = 'e'.repeat(40);
const spam = 900;
const wanted = 1_300;
const addressOf = (letter: string, n: number): string => `${letter}${n.toString(16).padStart(39, '0')}`;
const mine = addressOf('a', 1);

describe('an account that was sent tokens of hundreds of collections that are not shown', () => {
  let own: ReturnType<typeof watched>;
  let prefix = '';
  let block: NftBlock;

  before(async function () {
    this.timeout(120_000);
    const mint = (collection: string, token_id: string): Happening => ({
      ...{ what: 'mint', token: { collection, token_id }, owner: victim },
    });
    own = watched(await testDatabase());
    const tables = await newNft({ vm: 'evm', capacity: 10 }, own);
    prefix = tables.prefix;
    const source: DetailSource = {
      collections: async (some) =>
        some.map((one) =>
          one === mine ? answer({ name: 'Mine', creator: '' as const }) : refused('no name'),
        ),
      uris: async (some) => some.map(({ token_id }) => answer(`ipfs://${token_id}`)),
    };
    block = nftBlock(1, [
      ...Array.from({ length: wanted }, (_, n) => mint(mine, String(n))),
      ...Array.from({ length: spam }, (_, n) => mint(addressOf('b', n), '5')),
    ]);
    await tables.store.writeBlocks([block]);
    await tables.learn(source);
  });

  const reading = () => {
    const index = createNftIndex(own, { database: `${prefix}_nft`, cluster: '' });
    index.head.advance({ height: 1, hash: block.hash, details: 0 });
    return startReading(index.reader, {});
  };
  const query = (offset: number, order: 'token_id' | 'height', token_id = '') => ({
    ...{ token_id, order },
    page: { key: '', offset, limit: 100, count_total: true, reverse: false },
  });

  it('sees all of its other tokens, at every offset, and how many there are', async () => {
    for (const order of ['token_id', 'height'] as const) {
      for (const offset of [0, 1_150, 1_250]) {
        const { items, pagination } = await listTokensByAccount(reading(), victim, '', query(offset, order));
        assert.equal(pagination.total, String(wanted));
        assert.deepEqual(
          items.map(({ token }) => token.id_key.slice(3)),
          Array.from({ length: Math.min(100, wanted - offset) }, (_, n) => String(offset + n)),
        );
      }
    }
    const ofId = await listTokensByAccount(reading(), victim, '', query(0, 'token_id', '5'));
    assert.deepEqual(
      ofId.items.map(({ collection }) => collection.collection),
      [mine],
    );
  });

  it('sees its collections', async () => {
    const { items } = await listCollectionsOf(reading(), victim, query(0, 'token_id').page);
    assert.deepEqual(
      items.map(({ collection }) => collection),
      [mine],
    );
  });

  it('needs no statement with a parameter that a server refuses, neither does writing it', () => {
    assert.ok(own.largest > 10_000 && own.largest < parameterBytes, `the largest has ${own.largest} bytes`);
  });

  it('keeps neither the writer from looking up tokens with long ids, nor anybody from listing them', async () => {
    const { tables } = createNftIndex(own, { database: `${prefix}_nft`, cluster: '' });
    const places = Array.from({ length: 400 }, (_, n) => ({
      ...{ collection: 'f'.repeat(64), id_key: `1${n}${'"'.repeat(4_000)}` },
    }));
    own.largest = 0;
    assert.equal((await lookUpTokens(own, tables, places)).size, 0);
    assert.equal((await readTokenSizes(reading(), places)).length, places.length);
    assert.ok(own.largest < parameterBytes, `the largest has ${own.largest} bytes`);
  });
});
