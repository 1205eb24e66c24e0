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

// The engine takes a carriage return at the end of the first line for a file of Windows, and refuses it.
const special = /[\\\t\n\r]/;

/** A string as a field of the format TabSeparated. A lone surrogate has no UTF-8: the replacement character stands for it. */
export function tsvField(text: string): string {
  const whole = text.toWellFormed();
  if (!special.test(whole)) return whole;
  return whole
    .replaceAll('\\', '\\\\')
    .replaceAll('\t', '\\t')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r');
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
