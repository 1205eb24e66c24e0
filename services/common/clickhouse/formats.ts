/** Lines of an insert, collected. */
export interface Lines {
  add(line: string): void;
  /** Everything that was added, in a few long texts of whole lines. */
  texts(): readonly string[];
}

/** Above this length V8 keeps a string where the collector of young garbage does not copy it. */
const textLength = 256 * 1024;

/** Lines that are joined at once. */
const linesAtOnce = 1_000;

/**
 * Starts collecting. Lines are joined into long texts as they come: hundreds of thousands
 * of short strings that live until the insert would be copied by the garbage collector
 * again and again (a tenth of the time of a catch-up).
 */
export function createLines(): Lines {
  const texts: string[] = [];
  let lines: string[] = [];
  let length = 0;
  const join = (): void => {
    if (lines.length > 0) texts.push(lines.join('\n'));
    [lines, length] = [[], 0];
  };
  return {
    add(line) {
      lines.push(line);
      length += line.length;
      if (length >= textLength || lines.length >= linesAtOnce) join();
    },
    texts() {
      join();
      return texts;
    },
  };
}

/**
 * Rows of an insert in the format RowBinary, collected as bytes: the fields of a row in the order of its columns. Cheaper
 * than text on both sides, and no long strings are left to the garbage collector.
 */
export interface BinaryRows {
  /** UInt8, and the number of a value of an Enum8. */
  uint8(value: number): void;
  uint32(value: number): void;
  uint64(value: number | bigint): void;
  /** String: bytes, or a text as UTF-8. A lone surrogate has none: the replacement character stands for it. */
  string(value: string | Uint8Array): void;
  /** Array(UInt64). */
  uint64s(values: readonly number[]): void;
  /** Ends a row. */
  end(): void;
  /** Everything that was added, in parts of whole rows. */
  parts(): readonly Buffer[];
}

/** Bytes that a part has room for at first. */
const firstRoom = 16 * 1024;

/** Starts collecting. @param most bytes and rows of a part; one row may be larger. */
export function createBinaryRows(most: { readonly bytes: number; readonly rows: number }): BinaryRows {
  const parts: Buffer[] = [];
  let part = Buffer.allocUnsafe(0);
  let [used, rows] = [0, 0];

  const makeRoom = (bytes: number): void => {
    if (used + bytes <= part.length) return;
    const larger = Buffer.allocUnsafeSlow(Math.max(firstRoom, used + bytes, 2 * part.length));
    part.copy(larger, 0, 0, used);
    part = larger;
  };
  const cut = (): void => {
    if (used > 0) parts.push(part.subarray(0, used));
    [part, used, rows] = [Buffer.allocUnsafe(0), 0, 0];
  };
  const length = (value: number): void => {
    makeRoom(10);
    let rest = value;
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) part[used++] = (rest % 0x80) | 0x80;
    part[used++] = rest;
  };
  const uint64 = (value: number | bigint): void => {
    makeRoom(8);
    if (typeof value === 'bigint') part.writeBigUInt64LE(value, used);
    else {
      part.writeUInt32LE(value % 2 ** 32, used);
      part.writeUInt32LE(Math.floor(value / 2 ** 32), used + 4);
    }
    used += 8;
  };

  return {
    uint8(value) {
      makeRoom(1);
      part[used++] = value;
    },
    uint32(value) {
      makeRoom(4);
      used = part.writeUInt32LE(value, used);
    },
    uint64,
    string(value) {
      const bytes = Buffer.byteLength(value);
      length(bytes);
      makeRoom(bytes);
      if (typeof value === 'string') part.write(value, used);
      else part.set(value, used);
      used += bytes;
    },
    uint64s(values) {
      length(values.length);
      for (const value of values) uint64(value);
    },
    end() {
      rows += 1;
      if (used >= most.bytes || rows >= most.rows) cut();
    },
    parts() {
      cut();
      return parts;
    },
  };
}

/**
 * Reads an answer in the format RowBinary, column by column. Unlike text formats it needs no
 * unescaping, and every byte of a String comes through as it is.
 */
export interface RowBinary {
  /** Whether there are more rows. */
  more(): boolean;
  /** UInt64 as a number: sequences and heights stay below 2^53. */
  uint64(): number;
  uint32(): number;
  /** String: the bytes as they lie in the answer, not copied. */
  bytes(): Buffer;
  /** FixedString(n), not copied. */
  fixed(length: number): Buffer;
}

/** Starts reading an answer. @throws RangeError when it ends within a value. */
export function readRowBinary(answer: Buffer): RowBinary {
  let at = 0;
  const fixed = (length: number): Buffer => {
    if (at + length > answer.length) throw new RangeError('the answer ends within a value');
    at += length;
    return answer.subarray(at - length, at);
  };
  const varint = (): number => {
    let [value, scale] = [0, 1];
    for (;;) {
      const byte = fixed(1)[0] as number;
      value += (byte & 0x7f) * scale;
      if (byte < 0x80) return value;
      scale *= 128;
    }
  };
  return {
    more: () => at < answer.length,
    uint64() {
      const bytes = fixed(8);
      return bytes.readUInt32LE(0) + bytes.readUInt32LE(4) * 2 ** 32;
    },
    uint32: () => fixed(4).readUInt32LE(0),
    bytes: () => fixed(varint()),
    fixed,
  };
}
