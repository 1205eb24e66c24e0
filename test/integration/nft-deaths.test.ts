import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import { createLog, type DecodeProblem } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { createWriterHealth } from '../../services/common/writer/health.js';
import type { Happening } from '../../services/nft/decode/types.js';
import { followDetails } from '../../services/nft/enrich/follow.js';
import { answer } from '../../services/nft/enrich/outcome.js';
import { createRangePlanner } from '../../services/nft/enrich/ranges.js';
import type { DetailSource } from '../../services/nft/enrich/source.js';
import { defaultTextLimits } from '../../services/nft/text-limits.js';
import { query, testDatabase, uniquePrefix } from '../support/database.js';
import { migrateNft, nftBlock, openNft } from '../support/nft-tables.js';

const collection = 'c'.repeat(40);
const tokens = 30;

const block = nftBlock(1, [
  { what: 'collection', collection, creator: '' },
  ...Array.from({ length: tokens }, (_, index): Happening => {
    const token = { collection, token_id: String(index) };
    return { what: 'mint', token, owner: 'e'.repeat(40) };
  }),
]);

interface Life {
  /** Whether it ended because of what it asked for. */
  readonly died: boolean;
  readonly asked: readonly string[][];
  readonly problems: readonly DecodeProblem[];
}

/** The loop of a process, until there is nothing left to ask for or the process dies of asking about some tokens. */
async function live(
  database: Database,
  prefix: string,
  uriOf: (token_id: string) => string | undefined,
): Promise<Life> {
  const { store, index } = await openNft(database, prefix, { vm: 'evm' });
  await store.recover();
  if (store.position.height === 0) await store.writeBlocks([block]);
  const end = new AbortController();
  const asked: string[][] = [];
  const problems: DecodeProblem[] = [];
  let died = false;
  const source: DetailSource = {
    collections: async (some) =>
      some.map(() => answer({ name: 'Ünïcode'.repeat(200), creator: '' as const })),
    uris: (some) => {
      const ids = some.map(({ token_id }) => token_id);
      asked.push(ids);
      const uris = ids.map(uriOf);
      if (!uris.includes(undefined)) return Promise.resolve(uris.map((uri) => answer(uri)));
      died = true;
      end.abort();
      // Killed: nothing comes after it.
      return new Promise(() => {});
    },
  };
  const { database: _, tables, head, reader } = index;
  const ended = new Promise<void>((resolve) => end.signal.addEventListener('abort', () => resolve()));
  const metrics = createMetrics();
  const report = (problem: DecodeProblem): unknown => problems.push(problem);
  const following = followDetails({
    ranges: createRangePlanner({ database, tables, now: Date.now, refresh_ms: 0, report }),
    ...{ database, tables, head, reader: { ...reader, database }, store, source, attempts: 4, now: Date.now },
    ...{ limits: defaultTextLimits, report },
    ...{ log: createLog('silent'), metrics, signal: end.signal },
    health: createWriterHealth({
      service: 'nft',
      patience_ms: 0,
      onFatal: (error) => assert.fail(String(error)),
      metrics,
    }),
    onAsked: () => end.abort(),
  });
  await Promise.race([following, ended]);
  return { died, asked, problems };
}

describe('details of NFTs that end the process which asks for them', () => {
  it('are tried alone after that, and then given up; all others are learnt', async () => {
    const [database, prefix] = [await testDatabase(), uniquePrefix()];
    await migrateNft(database, prefix);
    const uriOf = (token_id: string) => (token_id === '7' ? undefined : `ipfs://${token_id}`);
    const lives: Life[] = [];
    while (lives.length < 10 && lives.at(-1)?.died !== false) lives.push(await live(database, prefix, uriOf));
    assert.equal(lives.length, 4, 'one death of many, two alone, and a life');
    assert.equal(lives[0]?.asked.at(-1)?.length, tokens);
    assert.deepEqual(lives[1]?.asked.at(-1), ['7']);
    assert.deepEqual(lives[2]?.asked, [['7']]);
    const { index } = await openNft(database, prefix, { vm: 'evm' });
    const uris = await query<{ id_key: string; uri: string }>(
      `SELECT DISTINCT id_key, uri FROM ${index.tables.of('token_uris')}`,
    );
    assert.equal(uris.length, tokens - 1);
    const jobs = await query<{ first_key: string; state: string; error: string }>(
      `SELECT first_key, state, error FROM ${index.tables.of('jobs')} FINAL WHERE state != 'done'`,
    );
    assert.deepEqual(jobs, [
      { first_key: '0017', state: 'failed', error: 'the process has ended while it was asked for' },
    ]);
  });

  it('are cut where they are too long, at the end of a character, and it is said', async () => {
    const [database, prefix] = [await testDatabase(), uniquePrefix()];
    await migrateNft(database, prefix);
    const { problems } = await live(database, prefix, (token_id) => `${token_id}${'🎨'.repeat(10_000)}`);
    const { index } = await openNft(database, prefix, { vm: 'evm' });
    const [longest] = await query<{ uri: number; name: number; valid: number }>(
      `SELECT (SELECT max(length(uri)) FROM ${index.tables.of('token_uris')}) AS uri, (SELECT max(length(name)) FROM ${index.tables.of('collection_names')}) AS name, (SELECT min(isValidUTF8(uri)) FROM ${index.tables.of('token_uris')}) AS valid`,
    );
    // One and two digits, then characters of four bytes.
    assert.deepEqual(longest, { uri: 16_382, name: 1024, valid: 1 });
    assert.deepEqual(
      new Set(problems.map(({ limit }) => limit)),
      new Set(['NFT_NAME_BYTES', 'NFT_URI_BYTES']),
    );
    assert.match(String(problems.at(-1)?.reason), /longer than 16384 bytes: it is cut \(NFT_URI_BYTES\)/);
  });
});
