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
