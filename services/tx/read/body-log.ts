/*
 * A bounded memory of bodies. They are not kept one by one: millions of small buffers cost
 * half as much again in objects, and the holes that they leave when they are dropped, in
 * another order than they came, stay with the process. They stand one behind the other in a
 * few large segments, of which the oldest is dropped as a whole.
 */

/** Bodies by number, the newest and the most wanted of them. */
export interface BodyLog {
  /** A body, as a view that stays valid; undefined when it is not kept. */
  get(key: number): Buffer | undefined;
  /** Keeps a body. One that does not fit into a segment is not kept. */
  put(key: number, body: string | Buffer): void;
  clear(): void;
  /** Bytes of memory in use; never more than asked for. */
  readonly size: number;
}

interface Segment {
  readonly bytes: Buffer;
  /** Where the next body goes. */
  used: number;
  /** The keys that were put here. */
  readonly keys: number[];
}

/** A body has its length in front of it. */
const lengthSize = 4;

/** How many segments there are; each drop takes this part of what is kept. */
const segmentCount = 32;

/** Makes an empty log. @param maxBytes memory for all of it. */
export function createBodyLog(maxBytes: number): BodyLog {
  const segmentSize = Math.floor(maxBytes / segmentCount);
  let segments: Segment[] = [];
  /** How many segments were dropped before the first. */
  let dropped = 0;
  /** Where a body stands: bytes since the beginning of the first segment there ever was. */
  const places = new Map<number, number>();

  const indexOf = (place: number): number => Math.floor(place / segmentSize) - dropped;

  const drop = (): void => {
    const oldest = segments.shift();
    dropped += 1;
    for (const key of oldest?.keys ?? []) {
      const place = places.get(key);
      if (place !== undefined && indexOf(place) < 0) places.delete(key);
    }
  };

  /** The segment that has room for so many bytes. */
  const segmentFor = (size: number): Segment => {
    const last = segments.at(-1);
    if (last !== undefined && last.used + size <= segmentSize) return last;
    if (segments.length === segmentCount) drop();
    // Not from a pool, and not cleared: only what was written is read.
    const segment = { bytes: Buffer.allocUnsafeSlow(segmentSize), used: 0, keys: [] };
    segments.push(segment);
    return segment;
  };

  const put = (key: number, body: string | Buffer): void => {
    const length = Buffer.byteLength(body);
    if (lengthSize + length > segmentSize) {
      places.delete(key);
      return;
    }
    const segment = segmentFor(lengthSize + length);
    const { bytes, used } = segment;
    bytes.writeUInt32LE(length, used);
    if (typeof body === 'string') bytes.write(body, used + lengthSize);
    else body.copy(bytes, used + lengthSize);
    places.set(key, (dropped + segments.length - 1) * segmentSize + used);
    segment.keys.push(key);
    segment.used = used + lengthSize + length;
  };

  return {
    get(key) {
      const place = places.get(key);
      if (place === undefined) return undefined;
      const index = indexOf(place);
      const { bytes } = segments[index] as Segment;
      const at = place % segmentSize;
      const body = bytes.subarray(at + lengthSize, at + lengthSize + bytes.readUInt32LE(at));
      // What is wanted again moves to the end before its turn to be dropped comes.
      if (index < segments.length - segmentCount / 2) put(key, body);
      return body;
    },
    put,
    clear() {
      dropped += segments.length;
      segments = [];
      places.clear();
    },
    get size() {
      return segments.length * segmentSize;
    },
  };
}
