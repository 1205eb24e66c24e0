const word = 64;

/** A number of 32 bytes; undefined when it is too large to be an offset or a length. */
function numberAt(data: string, at: number): number | undefined {
  const text = data.slice(2 + at, 2 + at + word);
  if (text.length !== word || !/^0*[0-9a-f]{0,12}$/i.test(text)) return undefined;
  return Number.parseInt(text.slice(-12), 16);
}

/**
 * The text that a contract returned: a string, or as some old contracts have it 32 bytes that
 * end in zeros. Bytes that are no UTF-8 become replacement characters. undefined for anything
 * else, such as the empty answer of an address without code.
 *
 * @param most bytes that are wanted; of a longer text the beginning is given, somewhat longer than that.
 */
export function decodeText(data: string, most: number): string | undefined {
  if (!data.startsWith('0x') || data.length < word + 2) return undefined;
  if (data.length === word + 2) return textOf(data.slice(2).replace(/(?:00)+$/, ''));
  const offset = numberAt(data, 0);
  const length = offset === undefined ? undefined : numberAt(data, offset * 2);
  if (offset === undefined || length === undefined) return undefined;
  const from = 2 + offset * 2 + word;
  if (from + length * 2 > data.length) return undefined;
  // One byte more tells that it is longer, and a character may lie across the end.
  return textOf(data.slice(from, from + Math.min(length, most + 4) * 2));
}

const textOf = (digits: string): string | undefined =>
  /^[0-9a-f]*$/i.test(digits) ? Buffer.from(digits, 'hex').toString('utf8') : undefined;

/** A token id as an argument. */
export const encodeNumber = (token_id: string): string => BigInt(token_id).toString(16).padStart(word, '0');
