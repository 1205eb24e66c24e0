import {
  close,
  constants,
  mkdirSync,
  open as openFd,
  read,
  readdirSync,
  statSync,
  unlink,
  write,
} from 'node:fs';
import { mkdir, rm, statfs } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { messageOf } from '../runtime/errors.js';
import type { Log } from '../runtime/log.js';
import type { Metrics } from '../runtime/metrics.js';
import { createMutex } from './concurrency.js';

/*
 * A cache of facts on local disk: values that are numbered and never change, such as the bodies of txs. It spares the two
 * milliseconds of a statement. Nothing depends on it: it may be deleted at any time, and what it lacks is in the tables.
 *
 * Values lie in files of some thousand consecutive numbers: an index of fixed size, then the values in the order in which they
 * came. Every entry carries a checksum, so that what a kill or another process leaves half written is a value that is missing.
 * A folder of files belongs to one identity, in which the number of rollbacks has its part: after a rollback the same numbers
 * stand for other facts, and the folder of before is removed.
 */

/** The cache of one service. */
export interface FactFiles {
  /**
   * The values of numbers, those that are kept.
   *
   * @param most_bytes how much is read: those of the first numbers that come to no more.
   */
  get(series: string, numbers: readonly number[], most_bytes: number): Promise<Map<number, Buffer>>;
  /** Bytes of the values of numbers, those that are kept. No value is read for this, and one that is damaged has a length. */
  lengths(series: string, numbers: readonly number[]): Promise<Map<number, number>>;
  /** Keeps values. They may be found a moment later. */
  put(series: string, values: ReadonlyMap<number, string | Buffer>): void;
  /** Bytes on disk, about. */
  readonly size: number;
  /** Resolves when everything that was put is on disk, and closes the files. */
  close(): Promise<void>;
}

/** Space of a disk in bytes. */
export interface Space {
  readonly free: number;
  readonly total: number;
}

export interface FactFilesOptions {
  /** Made where it is missing; everything in it is the cache's. */
  readonly folder: string;
  readonly max_bytes: number;
  /** Whose facts numbers stand for now, see `factsOf`; '' for nobody's. Files of all others are removed. */
  readonly identity: () => string;
  /** Its name in metrics. */
  readonly service: string;
  readonly log: Log;
  readonly metrics: Pick<Metrics, 'facts' | 'factBytes'>;
  /** Ends it as `close` does: where tables are replaced, nobody reads those of before any more. */
  readonly signal?: AbortSignal;
  /** Space of the disk that a folder is on, in bytes, and how often it is looked at. */
  readonly spaceOf?: (folder: string) => Promise<Space>;
  readonly look_ms?: number;
}

/** Numbers of one file. */
const perFile = 4_096;

/** An entry of the index: where the value begins (6 bytes), how long it is (4), its checksum (4), and one of the entry (2). */
const entrySize = 16;
const indexSize = perFile * entrySize;

/** Files that are open, each with its index in memory: 16 MiB. */
const mostOpen = 256;

/** Bytes that wait to be written; more are not kept. */
const mostPending = 32 * 1024 * 1024;

/** Space on the disk that is left to others: so much, or this part of a small disk. */
const reserve = { bytes: 512 * 1024 * 1024, part: 0.05 };

/** How often the free space is looked at, in milliseconds. */
const lookEvery_ms = 5_000;

const spaceOnDisk = async (folder: string): Promise<Space> => {
  const { bsize, blocks, bavail } = await statfs(folder);
  return { free: bavail * bsize, total: blocks * bsize };
};

/** Above this what a call reads is read alone. */
const largeRead = 1024 * 1024;

/** Values are read together where they are so near each other. */
const [nearby, mostTogether] = [4_096, 1024 * 1024];

const io = {
  open: promisify(openFd),
  close: promisify(close),
  read: promisify(read),
  write: promisify(write),
  unlink: promisify(unlink),
};

/**
 * The checksum of a value: also of which file and entry it is for, so that one of another number is never taken for it, even
 * where files have changed their names.
 *
 * @param name the file's.
 */
const checksumOf = (value: Uint8Array, name: string, entry: number): number =>
  crc32(value, (crc32(name) ^ entry) >>> 0);

/** What an entry of an index says. */
interface Entry {
  readonly at: number;
  readonly length: number;
  readonly sum: number;
}

/** Where an entry has the checksum of itself. */
const ownSum = 14;

const ownSumOf = (index: Buffer, place: number, name: string, entry: number): number =>
  checksumOf(index.subarray(place, place + ownSum), name, entry) & 0xffff;

/** Reads an entry. @returns undefined where there is none, or it is damaged. */
function readEntry(
  index: Buffer,
  { name, end }: Pick<File, 'name' | 'end'>,
  entry: number,
): Entry | undefined {
  const place = entry * entrySize;
  const [at, length] = [index.readUIntLE(place, 6), index.readUInt32LE(place + 6)];
  if (at < indexSize || length === 0 || at + length > end) return undefined;
  if (index.readUInt16LE(place + ownSum) !== ownSumOf(index, place, name, entry)) return undefined;
  return { at, length, sum: index.readUInt32LE(place + 10) };
}

/** Makes an entry one that is missing, so that its value is written again. */
const forgetEntry = (index: Buffer, entry: number): unknown =>
  index.fill(0, entry * entrySize, (entry + 1) * entrySize);

function writeEntry(index: Buffer, name: string, entry: number, { at, length, sum }: Entry): void {
  const place = entry * entrySize;
  index.writeUIntLE(at, place, 6);
  index.writeUInt32LE(length, place + 6);
  index.writeUInt32LE(sum, place + 10);
  index.writeUInt16LE(ownSumOf(index, place, name, entry), place + ownSum);
}

/** A file of the cache. */
interface File {
  readonly name: string;
  readonly path: string;
  /** Undefined while it is not open. */
  handle: Promise<{ readonly fd: number; readonly index: Buffer }> | undefined;
  /** Where the next value goes. */
  end: number;
  /** Readers and the writer of now: it is not closed under them, since its descriptor may be another file's at once. */
  users: number;
  /** Whether it is closed once nobody uses it. */
  isLeft: boolean;
}

/** Opens the cache of a service where its settings say. */
export const openFactFiles = (
  config: { readonly DATA_DIR: string; readonly FACT_CACHE_MB: number; readonly ROLE: string },
  service: string,
  identity: () => string,
  environment: Pick<FactFilesOptions, 'log' | 'metrics' | 'signal'>,
): FactFiles =>
  createFactFiles({
    // A process that serves beside the one that writes has files of its own.
    folder: join(config.DATA_DIR, 'facts', config.ROLE === 'serve' ? `${service}-serve` : service),
    max_bytes: config.FACT_CACHE_MB * 1024 * 1024,
    ...{ identity, service, ...environment },
  });

/** A cache that keeps nothing. */
export const noFactFiles: FactFiles = {
  get: async () => new Map(),
  lengths: async () => new Map(),
  put: () => {},
  size: 0,
  close: async () => {},
};

/** Opens a cache: nothing is read or written before it is used. */
export function createFactFiles({
  folder,
  max_bytes,
  identity,
  service,
  log,
  metrics,
  signal,
  spaceOf = spaceOnDisk,
  look_ms = lookEvery_ms,
}: FactFilesOptions): FactFiles {
  if (max_bytes === 0) return noFactFiles;
  /** By name, those that were written last at the end. */
  let files = new Map<string, File>();
  let current = '';
  let [size, pending, open] = [0, 0, 0];
  let isOff = false;
  /** Whether the disk is nearly full: then nothing more is kept. */
  let isTight = false;
  const oneByOne = createMutex();
  /** Much is read by one caller at a time: what is read is memory. */
  const oneLarge = createMutex();

  /** @param isWritten whether it is made where it is missing; who only reads must not bring back what is being removed. */
  const openFile = async (path: string, isWritten: boolean): Promise<{ fd: number; index: Buffer }> => {
    // The folder may have been deleted.
    if (isWritten) await mkdir(dirname(path), { recursive: true });
    const fd = await io.open(path, isWritten ? constants.O_RDWR | constants.O_CREAT : constants.O_RDWR);
    const index = Buffer.alloc(indexSize);
    await io.read(fd, index, 0, indexSize, 0);
    return { fd, index };
  };

  const closeFile = (file: File): void => {
    file.isLeft = true;
    const { handle } = file;
    if (file.users > 0 || handle === undefined) return;
    open -= 1;
    file.handle = undefined;
    handle.then(({ fd }) => io.close(fd)).catch(() => {});
  };

  /** Runs something with an open file. */
  const using = async <T>(
    file: File,
    work: (fd: number, index: Buffer) => Promise<T>,
    isWritten = false,
  ): Promise<T> => {
    file.users += 1;
    try {
      if (file.handle === undefined) {
        file.isLeft = false;
        open += 1;
        file.handle = openFile(file.path, isWritten);
        file.handle.catch(() => {
          open -= 1;
          file.handle = undefined;
        });
      }
      const { fd, index } = await file.handle;
      return await work(fd, index);
    } finally {
      file.users -= 1;
      if (file.isLeft) closeFile(file);
      else if (open > mostOpen) closeUnused();
    }
  };

  const closeUnused = (): void => {
    for (const file of files.values()) {
      if (open <= mostOpen) return;
      if (file.handle !== undefined && file.users === 0) closeFile(file);
    }
  };

  const remove = async (name: string, file: File): Promise<void> => {
    files.delete(name);
    size -= file.end;
    await io.unlink(file.path).catch(() => {});
    closeFile(file);
  };

  const makeRoom = async (): Promise<void> => {
    for (const [name, file] of files) {
      if (size <= max_bytes) return;
      if (file.users === 0) await remove(name, file);
    }
  };

  /** Gives space back while the disk is nearly full: what the engine cannot write is lost, a fact on disk is not. */
  const leaveSpace = async (): Promise<void> => {
    const { free: before, total } = await spaceOf(folder);
    const wanted = Math.min(reserve.bytes, total * reserve.part);
    let free = before;
    if (!isTight && free < wanted)
      log.warn({ folder, free_bytes: free }, 'the disk is nearly full: the cache of facts on disk gives way');
    isTight = free < wanted;
    for (const [name, file] of files) {
      if (free >= wanted) break;
      if (file.users > 0) continue;
      free += file.end;
      await remove(name, file);
    }
    metrics.factBytes.set({ service }, size);
  };
  const looking = setInterval(() => {
    if (files.size > 0 || isTight) oneByOne(leaveSpace).catch(() => {});
  }, look_ms);
  looking.unref();

  /** Begins with the files of another identity, those of an earlier process if they are there. */
  const follow = (): void => {
    const now = identity();
    if (isOff || now === current) return;
    current = now;
    for (const file of files.values()) closeFile(file);
    files = new Map();
    size = 0;
    if (now === '') return;
    try {
      mkdirSync(join(folder, now), { recursive: true });
      const others = readdirSync(folder).filter((other) => other !== now);
      // After what is being written there.
      void oneByOne(async () => {
        for (const other of others)
          await rm(join(folder, other), { recursive: true, force: true, maxRetries: 5 }).catch(leave);
      });
      const kept = readdirSync(join(folder, now)).map((name) => {
        const path = join(folder, now, name);
        const { size: end, mtimeMs } = statSync(path);
        return { name, path, end: Math.max(end, indexSize), mtimeMs };
      });
      kept.sort((one, other) => one.mtimeMs - other.mtimeMs);
      for (const { name, path, end } of kept) {
        files.set(name, { name, path, end, handle: undefined, users: 0, isLeft: false });
        size += end;
      }
    } catch (error) {
      turnOff(error);
    }
  };

  /** What is left in the folder of another identity goes with the next one. */
  const leave = (error: unknown): void =>
    log.warn(
      { folder, error: messageOf(error) },
      'facts of before a rollback could not be removed from disk',
    );

  /** A cache that cannot be written is none: the tables have everything. */
  const turnOff = (error: unknown): void => {
    if (isOff) return;
    isOff = true;
    log.warn({ folder, error: messageOf(error) }, 'the cache of facts on disk is off: it cannot be written');
    for (const file of files.values()) closeFile(file);
    files = new Map();
    size = 0;
    void rm(folder, { recursive: true, force: true }).catch(() => {});
  };

  /** Writes values of one file: first the values, then where they are. */
  const append = async (
    name: string,
    path: string,
    values: readonly (readonly [number, Buffer])[],
  ): Promise<void> => {
    const file = files.get(name) ?? {
      name,
      path,
      handle: undefined,
      end: indexSize,
      users: 0,
      isLeft: false,
    };
    if (!files.has(name)) size += file.end;
    files.delete(name);
    files.set(name, file);
    await using(
      file,
      async (fd, index) => {
        // What is there already is not written again: readers put what they had no room to read.
        const added = values
          .map(([number, value]) => ({ value, entry: number % perFile }))
          .map(({ value, entry }) => ({ value, entry, sum: checksumOf(value, name, entry) }))
          .filter(({ value, entry, sum }) => {
            const before = readEntry(index, file, entry);
            return value.length > 0 && (before?.length !== value.length || before.sum !== sum);
          });
        if (added.length === 0) return;
        const bytes = Buffer.concat(added.map(({ value }) => value));
        await io.write(fd, bytes, 0, bytes.length, file.end);
        let [at, least, most] = [file.end, perFile, 0];
        for (const { value, entry, sum } of added) {
          writeEntry(index, name, entry, { at, length: value.length, sum });
          at += value.length;
          [least, most] = [Math.min(least, entry), Math.max(most, entry)];
        }
        file.end = at;
        size += bytes.length;
        const [from, to] = [least * entrySize, (most + 1) * entrySize];
        await io.write(fd, index, from, to - from, from);
      },
      true,
    );
    await makeRoom();
    metrics.factBytes.set({ service }, size);
  };

  /** Reads entries of one file, those beside each other together. */
  const readFrom = async (
    file: File,
    numbers: readonly number[],
    found: Map<number, Buffer>,
    allow: (bytes: number) => boolean,
  ): Promise<void> =>
    using(file, async (fd, index) => {
      const entries = numbers.flatMap((number) => {
        const entry = readEntry(index, file, number % perFile);
        return entry !== undefined && allow(entry.length) ? [{ number, ...entry }] : [];
      });
      entries.sort((one, other) => one.at - other.at);
      const runs: (typeof entries)[] = [];
      for (const entry of entries) {
        const run = runs.at(-1);
        const [first, last] = [run?.[0], run?.at(-1)];
        const isNear = last !== undefined && entry.at - last.at - last.length <= nearby;
        if (isNear && first !== undefined && entry.at + entry.length - first.at <= mostTogether)
          run?.push(entry);
        else runs.push([entry]);
      }
      const read = (): Promise<unknown> =>
        Promise.all(
          runs.map(async (run) => {
            const from = run[0]?.at as number;
            const last = run.at(-1) as (typeof run)[number];
            const bytes = Buffer.allocUnsafe(last.at + last.length - from);
            const { bytesRead } = await io.read(fd, bytes, 0, bytes.length, from);
            for (const { number, at, length, sum } of run) {
              const value = bytes.subarray(at - from, at - from + length);
              const isWhole = at - from + length <= bytesRead;
              const entry = number % perFile;
              if (isWhole && checksumOf(value, file.name, entry) === sum) found.set(number, value);
              else if (readEntry(index, file, entry)?.at === at) forgetEntry(index, entry);
            }
          }),
        );
      const bytes = entries.reduce((sum, { length }) => sum + length, 0);
      await (bytes > largeRead ? oneLarge(read) : read());
    });

  const end = async (): Promise<void> => {
    clearInterval(looking);
    await oneByOne(async () => {});
    isOff = true;
    for (const file of files.values()) closeFile(file);
    files = new Map();
  };
  signal?.addEventListener('abort', () => void end(), { once: true });

  const chunksOf = (numbers: Iterable<number>): Map<number, number[]> => {
    const chunks = new Map<number, number[]>();
    for (const number of numbers) {
      const chunk = Math.floor(number / perFile);
      const some = chunks.get(chunk);
      if (some === undefined) chunks.set(chunk, [number]);
      else some.push(number);
    }
    return chunks;
  };

  return {
    get size() {
      return size;
    },
    async get(series, numbers, most_bytes) {
      let left = most_bytes;
      const allow = (bytes: number): boolean => {
        left -= bytes;
        return left >= 0;
      };
      const found = new Map<number, Buffer>();
      follow();
      if (files.size === 0) return found;
      try {
        await Promise.all(
          [...chunksOf(numbers)].map(([chunk, some]) => {
            const file = files.get(`${series}-${chunk}`);
            return file === undefined ? undefined : readFrom(file, some, found, allow);
          }),
        );
      } catch {
        // Deleted meanwhile, or a disk that fails: the tables have it.
      }
      metrics.facts.inc({ service, result: 'hit' }, found.size);
      metrics.facts.inc({ service, result: 'miss' }, numbers.length - found.size);
      return found;
    },
    async lengths(series, numbers) {
      const lengths = new Map<number, number>();
      follow();
      const lookUp = ([chunk, some]: readonly [number, readonly number[]]): Promise<void> | undefined => {
        const file = files.get(`${series}-${chunk}`);
        if (file === undefined) return undefined;
        return using(file, async (_, index) => {
          for (const number of some) {
            const entry = readEntry(index, file, number % perFile);
            if (entry !== undefined) lengths.set(number, entry.length);
          }
        });
      };
      // Deleted meanwhile, or a disk that fails: the tables have it.
      await Promise.all([...chunksOf(numbers)].map(lookUp)).catch(() => {});
      return lengths;
    },
    put(series, values) {
      follow();
      if (isOff || isTight || current === '') return;
      const own = current;
      for (const [chunk, numbers] of chunksOf(values.keys())) {
        const some = numbers.map((number) => {
          const value = values.get(number) as string | Buffer;
          return [number, typeof value === 'string' ? Buffer.from(value) : value] as const;
        });
        const bytes = some.reduce((sum, [, value]) => sum + value.length, 0);
        if (pending + bytes > mostPending || bytes > max_bytes / 4) continue;
        pending += bytes;
        const name = `${series}-${chunk}`;
        void oneByOne(async () => {
          pending -= bytes;
          if (!isOff && own === current) await append(name, join(folder, own, name), some);
        }).catch(turnOff);
      }
    },
    close: end,
  };
}
