import { closeSync, existsSync, fstatSync, openSync, readSync } from 'node:fs';
import type { ChainSource } from '../types.js';
import { fingerprint, footerSize, type PackMeta, type PartName, partNames } from './format.js';

/** A pack that is open. */
export interface Pack extends PackMeta {
  /** bytes of a part; the height must be one of first..last */
  size(height: number, part: PartName): number;
  /** copies a part into a buffer */
  copy(height: number, part: PartName, into: Buffer, at: number): void;
  close(): void;
}

/** What a file says of itself; undefined when there is none, or when it is no pack. */
export function readMeta(path: string): PackMeta | undefined {
  if (!existsSync(path)) return undefined;
  const file = openSync(path, 'r');
  try {
    return layoutOf(file).meta;
  } catch {
    return undefined;
  } finally {
    closeSync(file);
  }
}

/**
 * Opens the pack of a chain. Parts are read from the file at every request: what the system keeps in its page cache is read
 * in microseconds, and a chain need not fit into the memory of the process.
 *
 * @throws Error when the file is no pack, or that of another chain.
 */
export function openPack(path: string, source: ChainSource): Pack {
  if (readMeta(path)?.fingerprint !== fingerprint(source))
    throw new Error(`${path} is not a pack of chain ${source.chainId} as it is now`);
  const file = openSync(path, 'r');
  const { meta, offsets } = layoutOf(file);
  const indexOf = (height: number, part: PartName): number =>
    (height - meta.first) * partNames.length + partNames.indexOf(part);
  return {
    ...meta,
    size(height, part) {
      const index = indexOf(height, part);
      return offsets[index + 1]! - offsets[index]!;
    },
    copy(height, part, into, at) {
      const index = indexOf(height, part);
      fill(file, into.subarray(at, at + offsets[index + 1]! - offsets[index]!), offsets[index]!);
    },
    close: () => closeSync(file),
  };
}

function layoutOf(file: number): { meta: PackMeta; offsets: Float64Array } {
  const { size } = fstatSync(file);
  const [offsetsAt, metaAt] = numbers(file, size - footerSize, footerSize) as unknown as [number, number];
  const metaSize = size - footerSize - metaAt;
  const text = fill(file, Buffer.alloc(metaSize), metaAt).toString('utf8');
  return { meta: JSON.parse(text) as PackMeta, offsets: numbers(file, offsetsAt, metaAt - offsetsAt) };
}

function numbers(file: number, at: number, size: number): Float64Array {
  const bytes = fill(file, Buffer.alloc(size), at);
  return new Float64Array(bytes.buffer, bytes.byteOffset, size / Float64Array.BYTES_PER_ELEMENT);
}

/** Fills a buffer from a position of the file. Throws when the file ends before. */
function fill(file: number, into: Buffer, from: number): Buffer {
  for (let done = 0; done < into.length; ) {
    const read = readSync(file, into, done, into.length - done, from + done);
    if (read === 0) throw new Error('the pack ends early');
    done += read;
  }
  return into;
}
