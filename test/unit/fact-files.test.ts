import assert from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import {
  createFactFiles,
  type FactFiles,
  type FactFilesOptions,
} from '../../services/common/util/fact-files.js';
import { mulberry32 } from '../../tools/replay/faults.js';
import { eventually } from '../support/block.js';
import { temporaryFolder } from '../support/folder.js';

describe('facts on local disk', () => {
  let folder: string;
  let identity: string;
  beforeEach(() => {
    [folder, identity] = [join(temporaryFolder('facts'), 'tx'), 'a-0'];
  });

  const start = (max_bytes = 64 * 1024 * 1024, more: Partial<FactFilesOptions> = {}): FactFiles =>
    createFactFiles({
      ...more,
      ...{ folder, max_bytes, identity: () => identity, service: 'tx' },
      ...{ log: createLog('silent'), metrics: createMetrics() },
    });
  const textsOf = async (files: FactFiles, series: string, numbers: readonly number[]) =>
    new Map(
      [...(await files.get(series, numbers, 1e9))].map(([number, bytes]) => [number, bytes.toString()]),
    );
  const filesIn = (): string[] =>
    readdirSync(join(folder, identity)).map((name) => join(folder, identity, name));
  const bytesOnDisk = (): number => filesIn().reduce((sum, file) => sum + statSync(file).size, 0);

  it('are found again as they were put, by this process and the next, each kind apart', async () => {
    const values = new Map<number, string>();
    const random = mulberry32(3);
    let files = start();
    for (let round = 0; round < 60; round++) {
      const some = new Map<number, string>();
      for (let i = 0; i < 50; i++) {
        const number = Math.floor(random() ** 2 * 30_000);
        // What a number stands for never changes.
        const text = values.get(number) ?? `${number}/`.padEnd(random() * 3_000, 'ab€');
        some.set(number, text);
        values.set(number, text);
      }
      files.put('tx', some);
      files.put('evm_tx', new Map([[round, `evm ${round}`]]));
      if (round % 20 === 19) {
        await files.close();
        files = start();
      }
      const wanted = [...values.keys()].filter(() => random() < 0.1);
      for (const [number, text] of await textsOf(files, 'tx', wanted)) assert.equal(text, values.get(number));
    }
    await files.close();
    files = start();
    assert.deepEqual(await textsOf(files, 'tx', [...values.keys()]), values);
    assert.deepEqual([...(await textsOf(files, 'evm_tx', [59, 60, 1])).keys()].sort(), [1, 59]);
    await files.close();
  });

  it('are others after a rollback, and those of before are gone from the disk', async () => {
    const files = start();
    files.put('tx', new Map([[7, 'of before']]));
    await eventually(async () => (await files.get('tx', [7], 1e9)).size === 1, 'the fact');
    identity = '';
    assert.equal((await files.get('tx', [7], 1e9)).size, 0);
    files.put('tx', new Map([[8, 'during a repair']]));
    identity = 'a-2';
    assert.equal((await files.get('tx', [7, 8], 1e9)).size, 0);
    files.put('tx', new Map([[7, 'of after']]));
    await files.close();
    assert.deepEqual(readdirSync(folder), ['a-2']);
    assert.deepEqual([...(await textsOf(start(), 'tx', [7, 8])).values()], ['of after']);
  });

  it('take as much disk as they may, the oldest go first', async () => {
    const files = start(1024 * 1024);
    for (let chunk = 0; chunk < 30; chunk++) files.put('tx', new Map([[chunk * 4_096, 'x'.repeat(100_000)]]));
    await files.close();
    assert.ok(bytesOnDisk() <= 1024 * 1024, `${bytesOnDisk()} bytes`);
    const kept = await textsOf(
      start(1024 * 1024),
      'tx',
      Array.from({ length: 30 }, (_, chunk) => chunk * 4_096),
    );
    assert.deepEqual(
      [...kept.keys()].sort((one, other) => one - other),
      [24, 25, 26, 27, 28, 29].map((chunk) => chunk * 4_096),
    );
  });

  it('are missing, and never wrong, where a file was damaged, cut, or deleted', async () => {
    const files = start();
    const values = new Map(
      Array.from({ length: 100 }, (_, number) => [number, `fact ${number} `.repeat(50)]),
    );
    files.put('tx', values);
    await files.close();
    const [file = ''] = filesIn();
    truncateSync(file, statSync(file).size - 10_000);
    const cut = await textsOf(start(), 'tx', [...values.keys()]);
    assert.ok(cut.size > 50 && cut.size < 100, `${cut.size} left`);
    for (const [number, text] of cut) assert.equal(text, values.get(number));
    // What comes after goes behind what is there, also behind what another process has left half written.
    appendFileSync(file, 'half a fact');
    const next = start();
    next.put('tx', new Map([[99, 'fact 99']]));
    await next.close();
    assert.equal((await textsOf(start(), 'tx', [99])).get(99), 'fact 99');
    for (const [at, left] of [
      [0, 100],
      [30, 100],
      [70_000, 100],
    ] as const) {
      const damaged = start();
      assert.ok((await damaged.get('tx', [0], 1e9)).size <= 1);
      writeFileSync(file, Buffer.alloc(left, 255), { flag: 'r+' });
      void at;
      for (const [number, text] of await textsOf(start(), 'tx', [...values.keys()]))
        assert.equal(text, number === 99 ? 'fact 99' : values.get(number));
      await damaged.close();
    }
    const deleted = start();
    assert.ok((await deleted.get('tx', [50], 1e9)).size <= 1);
    rmSync(folder, { recursive: true });
    await deleted.get('tx', [50, 51], 1e9);
    deleted.put('tx', new Map([[5_000, 'again']]));
    await deleted.close();
    assert.equal((await textsOf(start(), 'tx', [5_000])).get(5_000), 'again');
  });

  it('are missing, and never those of others, where files have changed their names', async () => {
    let files = start();
    const texts = (from: number) =>
      new Map([0, 1, 2].map((entry) => [from + entry, `value ${from + entry}`] as const));
    files.put('tx', texts(0));
    files.put('tx', texts(4_096));
    await files.close();
    const [first = '', second = ''] = filesIn().sort();
    renameSync(first, `${first}.other`);
    renameSync(second, first);
    renameSync(`${first}.other`, second);
    files = start();
    assert.deepEqual(await textsOf(files, 'tx', [0, 1, 2, 4_096, 4_097, 4_098]), new Map());
    files.put('tx', texts(0));
    await files.close();
    files = start();
    assert.deepEqual(await textsOf(files, 'tx', [0, 1, 2, 4_096]), texts(0));
    await files.close();
  });

  it('are not written again where they are there, and are where they were damaged', async () => {
    let files = start();
    const value = 'v'.repeat(1_000);
    const put = async (): Promise<number> => {
      files.put('tx', new Map([[7, value]]));
      await files.close();
      files = start();
      return bytesOnDisk();
    };
    const once = await put();
    assert.equal(await put(), once);
    const [path = ''] = filesIn();
    const bytes = readFileSync(path);
    bytes.fill('w', bytes.length - 10);
    writeFileSync(path, bytes);
    assert.deepEqual(await textsOf(files, 'tx', [7]), new Map());
    assert.equal(await put(), once + value.length);
    assert.deepEqual(await textsOf(files, 'tx', [7]), new Map([[7, value]]));
    await files.close();
  });

  it('have lengths that are known without reading them, and no entry that is damaged', async () => {
    let files = start();
    files.put('tx', new Map([1, 2, 3].map((number) => [number, 'x'.repeat(number * 100)])));
    await files.close();
    const [path = ''] = filesIn();
    const bytes = readFileSync(path);
    const entry = (number: number) => bytes.subarray(number * 16, (number + 1) * 16);
    entry(2).writeUInt32LE(5, 6);
    // Never written, and of no length: what a single bit makes of an empty entry.
    entry(9).writeUIntLE(4_096 * 16, 0, 6);
    writeFileSync(path, bytes);
    files = start();
    assert.deepEqual(
      await files.lengths('tx', [1, 2, 3, 9, 10, 5_000]),
      new Map([
        [1, 100],
        [3, 300],
      ]),
    );
    assert.deepEqual([...(await textsOf(files, 'tx', [1, 2, 3, 9])).keys()], [1, 3]);
    await files.close();
  });

  it('give way on a disk that is nearly full, and are kept again when it is not', async () => {
    const total = 100 * 1024 * 1024;
    let room = total;
    const spaceOf = async () => ({ free: Math.max(0, room - bytesOnDisk()), total });
    const files = start(undefined, { spaceOf, look_ms: 10 });
    const keep = (number: number): void => files.put('tx', new Map([[number, 'x'.repeat(50_000)]]));
    keep(1);
    keep(5_000);
    const isKept = async (number: number): Promise<boolean> =>
      (await textsOf(files, 'tx', [number])).size > 0;
    await eventually(async () => (await isKept(1)) && isKept(5_000), 'two files');
    // 5 MB are to be left: the oldest file is enough.
    room = bytesOnDisk() + 0.05 * total - 60_000;
    await eventually(async () => filesIn().length === 1, 'one file fewer');
    assert.deepEqual([await isKept(1), await isKept(5_000)], [false, true]);
    room = 0;
    await eventually(async () => filesIn().length === 0, 'no file');
    keep(1);
    room = total;
    await eventually(async () => {
      keep(2);
      return isKept(2);
    }, 'a value that is kept again');
    assert.equal(await isKept(1), false, 'it was put while nothing was kept');
    await files.close();
  });

  it('are none where the disk cannot be written, and nothing fails', async () => {
    writeFileSync(join(folder, '..', 'tx'), 'a file where the folder should be');
    const files = start();
    files.put('tx', new Map([[1, 'one']]));
    await files.close();
    assert.equal((await files.get('tx', [1], 1e9)).size, 0);
  });

  it('are none where they may take nothing', async () => {
    const files = start(0);
    files.put('tx', new Map([[1, 'one']]));
    assert.equal((await files.get('tx', [1], 1e9)).size, 0);
    assert.equal(existsSync(folder), false);
  });
});
