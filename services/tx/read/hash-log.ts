/*
 * A bounded memory of where hashes are. A hash takes 16 bytes: 96 bits of it, which nobody makes another hash agree with,
 * and a number. As objects they would take ten times as much, and each collection of garbage would walk through them.
 */

/** Numbers by hash, the newest of them. */
export interface HashLog {
  /** The highest number of a hash; undefined when it is not kept. @param hash hex digits. */
  get(hash: string): number | undefined;
  put(hash: string, number: number): void;
  clear(): void;
  /** Bytes of memory in use. */
  readonly size: number;
}

/** Slots of a segment, each of four words: three of the hash, and the number plus one; 0 where it is free. */
const slots = 2 ** 18;
const width = 4;

/** Hashes of a segment: more would stand far from their place. */
const perSegment = slots / 2;

/** Slots that are looked at for one hash. Whoever makes hashes that all belong in one place is not remembered. */
const mostProbes = 64;

/** Hashes that so many segments hold; each takes 4 MiB. */
export const hashesIn = (segments: number): number => segments * perSegment;

const wordsOf = (hash: string): [number, number, number] => [
  Number.parseInt(hash.slice(0, 8), 16),
  Number.parseInt(hash.slice(8, 16), 16),
  Number.parseInt(hash.slice(16, 24), 16),
];

interface Segment {
  readonly words: Uint32Array;
  used: number;
}

/** Makes an empty log. @param most how many segments there are at most: then the oldest is dropped as a whole. */
export function createHashLog(most: number): HashLog {
  let segments: Segment[] = [];

  /** Where a hash stands in a segment, or would stand; undefined where all places for it are taken. */
  const slotOf = (words: Uint32Array, [a, b, c]: readonly [number, number, number]): number | undefined => {
    for (let probe = 0; probe < mostProbes; probe++) {
      const at = ((a + probe) % slots) * width;
      if (words[at + 3] === 0) return at;
      if (words[at] === a && words[at + 1] === b && words[at + 2] === c) return at;
    }
    return undefined;
  };

  /** The slot stays taken: a look-up would end at a free one before those that stand behind it. */
  const forget = (words: Uint32Array, key: readonly [number, number, number]): void => {
    const at = slotOf(words, key);
    if (at !== undefined && words[at + 3] !== 0) words.fill(0xffffffff, at, at + width - 1);
  };

  const segmentFor = (): Segment => {
    const last = segments.at(-1);
    if (last !== undefined && last.used < perSegment) return last;
    if (segments.length === most) segments.shift();
    const segment = { words: new Uint32Array(slots * width), used: 0 };
    segments.push(segment);
    return segment;
  };

  return {
    get(hash) {
      const key = wordsOf(hash);
      let newest = 0;
      for (const { words } of segments) {
        const at = slotOf(words, key);
        if (at !== undefined) newest = Math.max(newest, words[at + 3] as number);
      }
      return newest === 0 ? undefined : newest - 1;
    },
    put(hash, number) {
      if (number >= 2 ** 32 - 1) return;
      const key = wordsOf(hash);
      const segment = segmentFor();
      const { words } = segment;
      const at = slotOf(words, key);
      if (at === undefined) {
        // What is known of before would count for the newest.
        for (const older of segments) forget(older.words, key);
        return;
      }
      if (words[at + 3] === 0) segment.used += 1;
      words.set([...key, Math.max(words[at + 3] as number, number + 1)], at);
    },
    clear() {
      segments = [];
    },
    get size() {
      return segments.length * slots * width * Uint32Array.BYTES_PER_ELEMENT;
    },
  };
}
