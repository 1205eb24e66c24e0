import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { status } from '@grpc/grpc-js';
import { createHead, type Head } from '../../services/block/head.js';
import { type BlockStore, createBlockStore, type ShownHeader } from '../../services/block/store.js';
import { streamBlocks, streamTraces } from '../../services/block/stream.js';
import { followTables } from '../../services/block/tables.js';
import { createValidators } from '../../services/block/validators.js';
import { migrate, readMigrations } from '../../services/common/clickhouse/migrate.js';
import type { RawBlock, RawTrace } from '../../services/common/gen/indexer/block/v1/block.js';
import { createLog } from '../../services/common/runtime/log.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { soleWriter } from '../../services/common/writer/fence.js';
import { eventually } from '../support/block.js';
import { testDatabase, uniquePrefix } from '../support/database.js';

const MiB = 1024 * 1024;

/** A block with so many bytes of material that no text format carries unharmed. */
const blockOf = (height: number, bytes: number): RawBlock => ({
  height,
  hash: `A${height}`,
  parent_hash: `A${height - 1}`,
  timestamp: '2026-01-02T03:04:05.000000006Z',
  tx_count: 0,
  material: randomBytes(bytes),
  material_bytes: bytes,
});

const headerOf = ({ height, hash, parent_hash, timestamp, material_bytes }: RawBlock): ShownHeader => ({
  height,
  hash,
  parent_hash,
  timestamp,
  time_ns: '1',
  block_time: 0,
  tx_count: 0,
  receipt_count: 0,
  gas_used: '0',
  gas_wanted: '0',
  total_fee: '[]',
  proposer_address: '',
  material_bytes,
});

const traceOf = (height: number, bytes: number): RawTrace => ({
  height,
  block_hash: `A${height}`,
  material: randomBytes(bytes),
  material_bytes: bytes,
});

async function emptyStore(): Promise<BlockStore> {
  const database = await testDatabase();
  const target = { database: `${uniquePrefix()}_block`, cluster: '' };
  await migrate(database, readMigrations(join(packageRoot, 'services/block/schema')), target);
  return createBlockStore(soleWriter(database), target);
}

/** Writes blocks as the follower does. */
async function write(store: BlockStore, blocks: readonly RawBlock[]): Promise<void> {
  for (const block of blocks) await store.write([{ header: headerOf(block), material: block.material }]);
}

/** A head that knows of blocks which only the tables hold. */
function headOf(blocks: readonly RawBlock[], trace_height = 0): Head {
  const head = createHead(MiB);
  const [first, last] = [blocks[0], blocks.at(-1)] as [RawBlock, RawBlock];
  head.reset({ first: headerOf(first), last: headerOf(last) }, trace_height);
  return head;
}

/** The messages of a stream until a height has come. */
async function messages<T extends { readonly height: number }>(
  stream: AsyncGenerator<T[]>,
  to: number,
): Promise<T[][]> {
  const all: T[][] = [];
  for await (const message of stream) {
    all.push(message);
    if ((message.at(-1)?.height ?? 0) >= to) break;
  }
  return all;
}

const never = new AbortController().signal;
const sizes = [1, 2 * MiB, 1.5 * MiB, 0, 5 * MiB, 3 * MiB, 3 * MiB, 10, 20];
const grouped = [[1, 2, 3, 4], [5], [6], [7, 8, 9]];
const heightsOf = (all: readonly { readonly height: number }[][]) =>
  all.map((message) => message.map(({ height }) => height));

describe('the stream of blocks', () => {
  let store: BlockStore;
  const blocks = sizes.map((bytes, i) => blockOf(i + 1, bytes));
  const traces = sizes.map((bytes, i) => traceOf(i + 1, bytes));
  before(async () => {
    store = await emptyStore();
    await write(store, blocks);
    for (const trace of traces) await store.writeTraces([{ trace, state: 'traced' }]);
  });

  it('reads no more from the tables at once than a message holds, but one block at least', async () => {
    // Random bytes do not compress, and count twice.
    const most = { bytes: 8 * MiB, count: 3 };
    const read = async (from: number) => (await store.raws(from, 9, most)).map(({ height }) => height);
    assert.deepEqual(
      [await read(1), await read(4), await read(5), await read(7), await read(10)],
      [[1, 2, 3], [4], [5], [7, 8, 9], []],
    );
    const traced = async (from: number) => (await store.traces(from, 8, most)).map(({ height }) => height);
    assert.deepEqual([await traced(0), await traced(5), await traced(7)], [[1, 2, 3], [5], [7, 8]]);
  });

  it('gives the blocks in messages of bounded size, to the byte', async () => {
    const got = await messages(
      streamBlocks(store, headOf(blocks), { from_height: 0, parent_hash: '' }, never),
      9,
    );
    assert.deepEqual(heightsOf(got), grouped);
    for (const [i, block] of got.flat().entries()) assert.ok(blocks[i]?.material.equals(block.material));
  });

  it('gives the traces in messages of bounded size, to the byte', async () => {
    const got = await messages(streamTraces(store, headOf(blocks, 9), 0, never), 9);
    assert.deepEqual(heightsOf(got), grouped);
    for (const [i, trace] of got.flat().entries()) {
      assert.equal(trace.block_hash, traces[i]?.block_hash);
      assert.ok(traces[i]?.material.equals(trace.material));
    }
  });

  for (const isKnown of [true, false]) {
    it(`goes by what blocks come to uncompressed, ${isKnown ? 'as their headers say' : 'also of versions that did not write it'}`, async () => {
      const own = await emptyStore();
      const bytes = 5 * MiB;
      const events = Array.from({ length: 4 }, (_, i): RawBlock => {
        const material_bytes = isKnown ? bytes : 0;
        return { ...blockOf(i + 1, 0), material: gzipSync(Buffer.alloc(bytes, 'a')), material_bytes };
      });
      await write(own, events);
      await own.writeTraces(
        events.map(({ height, hash, ...rest }) => ({
          ...{ state: 'traced', trace: { height, block_hash: hash, ...rest } },
        })),
      );
      const from = { from_height: 0, parent_hash: '' };
      const alone = [[1], [2], [3], [4]];
      assert.deepEqual(heightsOf(await messages(streamBlocks(own, headOf(events), from, never), 4)), alone);
      assert.deepEqual(heightsOf(await messages(streamTraces(own, headOf(events, 4), 0, never), 4)), alone);
      if (!isKnown) return;
      const most = { bytes: 8 * MiB, count: 400 };
      assert.deepEqual([(await own.raws(1, 4, most)).length, (await own.traces(1, 4, most)).length], [1, 1]);
    });
  }

  it('takes traces from memory as long as memory has them', async () => {
    const head = createHead(64 * MiB);
    head.reset({ first: headerOf(blocks[0]!), last: headerOf(blocks[8]!) }, 2);
    head.appendTraces(traces.slice(2));
    const asked: number[] = [];
    const watched: BlockStore = {
      ...store,
      traces: (from, to, most) => {
        asked.push(from);
        return store.traces(from, to, most);
      },
    };
    const got = await messages(streamTraces(watched, head, 3, never), 9);
    assert.deepEqual(heightsOf(got), [[3, 4], [5], [6], [7, 8, 9]]);
    assert.deepEqual(asked, []);
    await messages(streamTraces(watched, head, 1, never), 9);
    assert.deepEqual(asked, [1]);
  });

  it('tells a consumer that stands below the first block what is wrong', async () => {
    const late = [blockOf(50, 1), blockOf(51, 1)];
    const own = await emptyStore();
    await write(own, late);
    const from = (from_height: number, parent_hash: string) =>
      messages(streamBlocks(own, headOf(late), { from_height, parent_hash }, never), 51);
    await assert.rejects(from(41, 'A40'), { code: status.FAILED_PRECONDITION, message: /41.*begin with 50/ });
    await assert.rejects(from(50, 'B49'), { code: status.ABORTED });
    assert.deepEqual(heightsOf(await from(50, 'A49')), [[50, 51]]);
    assert.deepEqual(heightsOf(await from(41, '')), [[50, 51]]);
  });

  it('fails, rather than looking again and again, where the tables lack a block', async () => {
    const missing = headOf([blocks[0]!, blockOf(10, 1)]);
    const read = messages(streamBlocks(store, missing, { from_height: 10, parent_hash: '' }, never), 10);
    await assert.rejects(read, /block 10 is not in the tables/);
  });
});

describe('blocks whose fees are offered in very many denoms', () => {
  const total_fee = JSON.stringify(
    Array.from({ length: 20_000 }, (_, index) => ({ denom: `evm/${index}`, amount: '1' })),
  );
  const blocks = Array.from({ length: 60 }, (_, index) => blockOf(index + 1, 10));
  const headers = blocks.map((block) => ({ ...headerOf(block), total_fee }));

  it('are kept in memory by what they take', () => {
    const head = createHead(64 * MiB);
    head.append(blocks, headers);
    const kept = headers.filter(({ height }) => head.headers(height, height) !== undefined);
    assert.ok(kept.length > 0 && kept.length * total_fee.length < 4 * MiB, `${kept.length} blocks`);
    assert.equal(head.tail(1)?.length, blocks.length);
  });

  it('are read with their fees where those are shown alone', async () => {
    const store = await emptyStore();
    await store.write(headers.map((header, index) => ({ header, material: blocks[index]!.material })));
    for (const rows of [
      await store.headers(1, 60),
      await store.raws(1, 60, { bytes: MiB, count: 60 }),
      await Promise.all(blocks.map(({ height }) => store.header(height, {}))),
    ]) {
      assert.equal(rows.length, blocks.length);
      assert.ok(JSON.stringify(rows).length < 60_000, 'without fees');
    }
    assert.equal((await store.shownHeader(7, {}))?.total_fee, total_fee);
  });

  it('are taken over from the tables a part at a time', async () => {
    const store = await emptyStore();
    await store.write(headers.map((header, index) => ({ header, material: blocks[index]!.material })));
    const head = createHead(MiB);
    head.reset({ first: headerOf(blocks[0]!), last: headerOf(blocks[0]!) }, 0);
    const [stop, log] = [new AbortController(), createLog('silent')];
    const following = followTables({
      ...{ store, head, log, signal: stop.signal, validators: createValidators(store, log) },
      ...{ onChain: () => {}, onHindrance: (reason: string) => assert.equal(reason, '') },
    });
    await eventually(() => head.last?.height === blocks.length, 'the last block');
    stop.abort();
    await following;
  });
});
