import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import { readRowBinary } from '../../services/common/clickhouse/formats.js';
import { checkFollows } from '../../services/common/consumer/consume.js';
import { createLog } from '../../services/common/runtime/log.js';
import { chunks } from '../../services/common/util/chunk.js';
import type { DecodedBlock } from '../../services/tx/decode/types.js';
import { checkTraces, partsOf, splitBlocks } from '../../services/tx/store/batches.js';
import { nothing } from '../../services/tx/store/cursor.js';
import { createEnds } from '../../services/tx/store/list-end-cache.js';
import { type ListEnd, type ListKey, latestKept, listKey } from '../../services/tx/store/list-ends.js';
import { createMsgSets } from '../../services/tx/store/msg-sets.js';
import { createOwners } from '../../services/tx/store/owners.js';
import { type Entry, entriesOfBlocks, entriesOfTraces, startBatch } from '../../services/tx/store/rows.js';
import { tablesOf } from '../../services/tx/store/tables.js';
import { naming } from '../support/tx-model.js';

const block = (height: number, txs: number, bodyLength = 10): DecodedBlock => ({
  height,
  hash: `H${height}`,
  parent_hash: height === 1 ? '' : `H${height - 1}`,
  timestamp: '',
  txs: Array.from({ length: txs }, () => ({
    hash: '',
    body: 'x'.repeat(bodyLength),
    msgs: [],
    named: naming(new Map()),
  })),
  evm_txs: [],
  stores: [],
  problems: [],
});
const heightsOf = (batches: DecodedBlock[][]): number[][] =>
  batches.map((batch) => batch.map(({ height }) => height));

const keyOf = (account: string): ListKey => listKey('tx', account);
/** Ends of lists over a table that has some of them, and what it was asked for. */
function start(capacity: number, ends: readonly (readonly [ListKey, ListEnd])[] = []) {
  const asked: ListKey[][] = [];
  const heads = createEnds(async (keys) => {
    asked.push([...keys]);
    return new Map(ends);
  }, capacity);
  return { heads, asked };
}

describe('the ends of lists in memory', () => {
  const [one, two, three] = ['1', '2', '3'].map(keyOf) as [ListKey, ListKey, ListKey];
  const head: ListEnd = { count: 7, latest: [70] };

  it('are read for lists that are not known', async () => {
    const { heads, asked } = start(10);
    await heads.stage(new Set([one, two]));
    assert.deepEqual(asked, [[one, two]]);
  });

  it('are not read once all are known', async () => {
    const { heads, asked } = start(10);
    heads.clear(new Map([[one, head]]));
    const staged = await heads.stage(new Set([one, two]));
    assert.deepEqual([staged.append(one, 80), staged.append(two, 80)], [8, 1]);
    assert.deepEqual(asked, []);
  });

  it('are read again once one had to make room', async () => {
    const { heads, asked } = start(2);
    heads.clear(new Map([[one, head]]));
    const staged = await heads.stage(new Set([two, three]));
    staged.append(two, 1);
    staged.append(three, 1);
    staged.commit();
    await heads.stage(new Set([one]));
    assert.deepEqual(asked, [[one]]);
  });

  it('are read when there are too many to know them all', async () => {
    const { heads, asked } = start(1);
    heads.clear(new Map([one, two].map((key) => [key, head])));
    await heads.stage(new Set([three]));
    assert.deepEqual(asked, [[three]]);
  });
});

describe('batches of blocks', () => {
  it('hold eight thousand txs or sixteen million characters, and never cut a block', () => {
    assert.deepEqual(heightsOf(splitBlocks([block(1, 4_800), block(2, 3_200), block(3, 1)])), [[1, 2], [3]]);
    assert.deepEqual(heightsOf(splitBlocks([block(1, 9_000), block(2, 0), block(3, 1)])), [[1], [2, 3]]);
    const wide = [block(1, 2, 8_000_000), block(2, 1, 8_000_000), block(3, 1)];
    assert.deepEqual(heightsOf(splitBlocks(wide)), [[1], [2, 3]]);
    const empty = Array.from({ length: 2_500 }, (_, index) => block(index + 1, 0));
    assert.deepEqual(
      splitBlocks(empty).map(({ length }) => length),
      [1_000, 1_000, 500],
    );
    assert.deepEqual(splitBlocks([]), []);
  });

  it('have lines that go into inserts whole and in order', () => {
    const lines = ['a'.repeat(4_000_000), 'b'.repeat(300_000), 'c', 'd'.repeat(9_000_000), 'e'];
    const characters = { most: 4 * 1024 * 1024, of: ({ length }: string) => length };
    assert.deepEqual(
      [...chunks(lines, characters)].map((part) => part.map((line) => line[0]).join('')),
      ['a', 'bc', 'd', 'e'],
    );
    assert.deepEqual([...chunks([], characters)], []);
  });

  it('must follow what is written', () => {
    const at = { ...nothing, height: 5, hash: 'H5' };
    checkFollows(at, [block(6, 0), block(7, 0)]);
    checkFollows(nothing, [block(40, 0), block(41, 0)]);
    const stranger = { ...block(6, 0), parent_hash: 'other' };
    for (const wrong of [[block(7, 0)], [block(5, 0)], [block(6, 0), block(8, 0)], [stranger]])
      assert.throws(() => checkFollows(at, wrong), /does not follow/);
    const trace = (height: number) => ({ height, hash: `H${height}`, length: 0, frames: [] });
    checkTraces({ ...at, internal_height: 3 }, [trace(4), trace(5)]);
    checkTraces(at, [trace(2), trace(3)]);
    assert.throws(() => checkTraces({ ...at, internal_height: 3 }, [trace(5)]), /do not follow/);
    assert.throws(() => checkTraces({ ...at, internal_height: 3 }, [trace(3)]), /do not follow/);
    assert.throws(() => checkTraces(at, [trace(6)]), /before its txs/);
  });
});

describe('the ends of account lists', () => {
  const [key, other] = ['aa', 'bb'].map(keyOf) as [ListKey, ListKey];

  it('count on from what the tables say, and are read once', async () => {
    const { heads, asked } = start(10, [[key, { count: 40, latest: [9, 8] }]]);
    const first = await heads.stage(new Set([key, other]));
    assert.deepEqual([first.append(key, 11), first.append(key, 12), first.append(other, 12)], [41, 42, 1]);
    assert.deepEqual(new Map(first.changed()).get(key), { count: 42, latest: [12, 11, 9, 8] });
    const abandoned = await heads.stage(new Set([key]));
    assert.equal(abandoned.append(key, 11), 41, 'what is not committed does not count');
    first.commit();
    const next = await heads.stage(new Set([key]));
    assert.equal(next.append(key, 13), 43);
    assert.deepEqual(asked, [[key, 'tx/bb'], [key]]);
    heads.clear();
    assert.equal((await heads.stage(new Set([key]))).append(key, 13), 41);
  });

  it('remember as many sequences as a head holds', async () => {
    const staged = await start(10).heads.stage(new Set([key]));
    for (let sequence = 1; sequence <= latestKept + 5; sequence++) staged.append(key, sequence);
    const [[, head] = []] = [...staged.changed()];
    assert.equal(head?.latest.length, latestKept);
    assert.deepEqual(head?.latest.slice(0, 2), [latestKept + 5, latestKept + 4]);
  });
});

describe('sets of message types', () => {
  it('have one number, in whatever order and however often a type comes', () => {
    const sets = createMsgSets();
    const first = sets.stage();
    assert.equal(first.numberOf(['a', 'b'], 2), 1);
    first.commit();
    const staged = sets.stage();
    assert.equal(staged.numberOf([], 9), 0);
    assert.equal(staged.numberOf(['b', 'a', 'b'], 9), 1);
    assert.equal(staged.numberOf(['c'], 9), 2);
    assert.equal(staged.numberOf(['a,b'], 10), 3, 'a comma in a type makes no other set of it');
    assert.equal(staged.numberOf(['c', 'c'], 11), 2);
    assert.deepEqual(staged.added(), [
      { msg_set: 2, msgs: ['c'], first_sequence: 9 },
      { msg_set: 3, msgs: ['a,b'], first_sequence: 10 },
    ]);
    assert.equal(sets.stage().numberOf(['d'], 9), 2, 'what is not committed does not count');
    staged.commit();
    assert.equal(sets.stage().numberOf(['d'], 12), 4);
  });
});

describe('owners of stores', () => {
  const tableWith = (rows: Record<string, string>, asked: string[][] = []): Database =>
    ({
      rows: async (_sql: string, { stores }: { stores: string[] }) => {
        asked.push(stores);
        return stores.flatMap((store) => (store in rows ? [{ store, owner: rows[store] }] : []));
      },
    }) as unknown as Database;
  const tables = tablesOf({ database: 'd', cluster: '' });
  const log = createLog('silent');

  it('come from the batch, then the table, then the node, and are kept', async () => {
    const [asked, resolved]: [string[][], string[][]] = [[], []];
    const owners = createOwners(tableWith({ s2: 'o2' }, asked), tables, log, async (stores) => {
      resolved.push([...stores]);
      return new Map([['s3', 'o3']]);
    });
    const found = await owners.find(new Set(['s1', 's2', 's3', 's4']), new Map([['s1', 'o1']]), 8);
    assert.deepEqual([...found.of].sort(), [
      ['s1', 'o1'],
      ['s2', 'o2'],
      ['s3', 'o3'],
    ]);
    assert.deepEqual(found.learnt, [{ store: 's3', owner: 'o3', height: 8 }]);
    const again = await owners.find(new Set(['s1', 's2', 's3', 's4']), new Map(), 9);
    assert.deepEqual([...again.of.keys()].sort(), ['s1', 's2', 's3']);
    assert.deepEqual([asked, resolved], [[['s2', 's3', 's4'], ['s4']], [['s3', 's4']]]);
  });

  it('are asked for, a thousand at a time: any text can name one that is none', async () => {
    const resolved: number[] = [];
    const owners = createOwners(tableWith({}), tables, log, async (stores) => {
      resolved.push(stores.length);
      return new Map();
    });
    const stores = new Set(Array.from({ length: 2_500 }, (_, index) => `s${index}`));
    await owners.find(stores, new Map(), 7);
    await owners.find(stores, new Map(), 8);
    assert.deepEqual(resolved, [1_000, 1_000]);
  });

  it('are not known when the node fails, and nothing stops', async () => {
    const owners = createOwners(tableWith({}), tables, log, async () => {
      throw new Error('502');
    });
    const found = await owners.find(new Set(['s1']), new Map(), 7);
    assert.deepEqual([found.of.size, found.learnt], [0, []]);
  });
});

describe('parts of a batch', () => {
  const names = (count: number) =>
    naming(new Map(Array.from({ length: count }, (_, index) => [String(index), false])));
  const partsOfBlocks = (...blocks: DecodedBlock[]): number[][] => {
    const entries = entriesOfBlocks(blocks, startBatch(nothing), () => {});
    return [...partsOf(entries)].map((part) => part.map(({ sequence }: Entry) => sequence));
  };

  it('hold so many bodies, characters and names, and are one for ordinary blocks', () => {
    assert.deepEqual(partsOfBlocks(block(1, 3), block(2, 2)), [[1, 2, 3, 4, 5]]);
    assert.deepEqual(
      partsOfBlocks(block(1, 20_000)).map(({ length }) => length),
      [8_000, 8_000, 4_000],
    );
    assert.deepEqual(partsOfBlocks(block(1, 3, 8_000_000)), [[1, 2], [3]]);
    const wide = block(1, 4);
    for (const [index, count] of [30_000, 20_000, 1, 90_000].entries())
      Object.assign(wide.txs[index] as object, { named: names(count) });
    assert.deepEqual(partsOfBlocks(wide), [[1, 2], [3], [4]]);
    assert.deepEqual(partsOfBlocks(block(1, 0)), []);
  });
});

describe('rows of traces', () => {
  it('point to the frames of a tx, and only to the first ones when it is traced twice', async () => {
    const frame = (hash: string, index: number) => ({
      ...{ hash, index, parent_index: -1, body: '{}', accounts: new Map() },
    });
    const end = startBatch({ ...nothing, last: { ...nothing.last, internal_tx: 100 } });
    const frames = [frame('aa', 0), frame('aa', 1), frame('bb', 0), frame('aa', 0)];
    const entries = [...entriesOfTraces([{ height: 3, hash: 'H3', length: 0, frames }], end)];
    assert.deepEqual(
      entries.map(({ sequence }) => sequence),
      [101, 102, 103, 104],
    );
    assert.deepEqual([end.position.internal_height, end.position.last.internal_tx], [3, 104]);
    assert.deepEqual(end.cursor, [{ height: 3, hash: 'H3', last_sequence: 104, frame_count: 4 }]);
    const [bytes = Buffer.of(), ...others] = end.frames.parts();
    assert.deepEqual(others, []);
    const rows: unknown[] = [];
    for (const read = readRowBinary(bytes); read.more(); )
      rows.push([read.fixed(1)[0], String(read.bytes()), read.uint64(), read.uint32()]);
    assert.deepEqual(rows, [
      [3, 'aa', 101, 2],
      [3, 'bb', 103, 1],
    ]);
  });
});
