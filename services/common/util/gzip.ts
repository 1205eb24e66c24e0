import { constants } from 'node:buffer';
import { promisify } from 'node:util';
import { gunzip, gunzipSync, gzip, gzipSync } from 'node:zlib';

const inBackground = promisify(gzip);

/** Fast: what is compressed is written once and read seldom. */
const options = { level: 3 };

/**
 * Up to this size the hand-over to another thread costs the event loop as much as the work
 * itself (0.1 to 0.2 ms for 27 kB, measured), and twice the work in all.
 */
const smallBytes = 64 * 1024;

/** Compresses with gzip, without holding up the event loop for long. */
export async function compress(bytes: Uint8Array): Promise<Buffer> {
  return ownMemory(
    bytes.length <= smallBytes ? gzipSync(bytes, options) : await inBackground(bytes, options),
  );
}

/**
 * The same bytes in memory of just their size. What zlib gives is the beginning of a chunk of 16 kB, which
 * stays as long as they do: kept by the thousand, small results would take several times what they seem to.
 */
export function ownMemory(bytes: Buffer): Buffer {
  if (bytes.buffer.byteLength === bytes.length) return bytes;
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

const outOfPlace = promisify(gunzip);

/** What every gzip stream ends with: its uncompressed length, four bytes. */
const lengthBytes = 4;

/** The bytes that {@link compress} was given for a result. */
export function uncompressedLength(bytes: Uint8Array): number {
  if (bytes.length < lengthBytes) return 0;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).readUInt32LE(bytes.length - lengthBytes);
}

/** Above this, what zlib would give in chunks of 16 kB and put together is taken in one piece: else it is held twice. */
const largeBytes = 1024 * 1024;

/** Undoes {@link compress}; small ones in place, for the same reason. */
export async function decompress(bytes: Uint8Array): Promise<Buffer> {
  if (bytes.length <= smallBytes / 4 && uncompressedLength(bytes) <= largeBytes) return gunzipSync(bytes);
  const length = uncompressedLength(bytes);
  return outOfPlace(bytes, length > largeBytes && length < constants.MAX_LENGTH ? { chunkSize: length } : {});
}
