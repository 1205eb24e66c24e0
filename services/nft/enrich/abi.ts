/** Longest text that is taken from a contract, in bytes: uris can hold whole pictures. */
const mostBytes = 1024 * 1024;

const word = 64;

/** A number of 32 bytes; undefined when it is too large to be an offset or a length. */
function numberAt(digits: string, at: number): number | undefined {
  const text = digits.slice(at, at + word);
  if (text.length !== word || !/^0*[0-9a-f]{0,12}$/.test(text)) return undefined;
  return Number.parseInt(text.slice(-12), 16);
}

/**
 * The text that a contract returned: a string, or as some old contracts have it 32 bytes that
 * end in zeros. Bytes that are no UTF-8 become replacement characters. undefined for anything
 * else, such as the empty answer of an address without code.
 */
export function decodeText(data: string): string | undefined {
  const digits = data.slice(2).toLowerCase();
  if (!data.startsWith('0x') || !/^[0-9a-f]*$/.test(digits) || digits.length < word) return undefined;
  if (digits.length === word) return textOf(digits.replace(/(?:00)+$/, ''));
  const offset = numberAt(digits, 0);
  const length = offset === undefined ? undefined : numberAt(digits, offset * 2);
  if (offset === undefined || length === undefined || length > mostBytes) return undefined;
  const from = offset * 2 + word;
  const bytes = digits.slice(from, from + length * 2);
  return bytes.length === length * 2 ? textOf(bytes) : undefined;
}

const textOf = (digits: string): string => Buffer.from(digits, 'hex').toString('utf8');

/** A token id as an argument. */
export const encodeNumber = (token_id: string): string => BigInt(token_id).toString(16).padStart(word, '0');
