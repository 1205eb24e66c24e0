/*
 * Token ids in the order of the API: numbers by value, then everything else by code point.
 * A key is a text whose bytes compare like that, so that one column sorts, in ClickHouse
 * and here: `0`, the number of digits in two digits, the digits; or `1` and the id itself.
 */

/** 2^256 - 1 has this many digits. */
const mostDigits = 78;
const tooLarge = (2n ** 256n).toString();

/** Whether an id is a number: all digits, without a leading zero, below 2^256. */
function isNumber(token_id: string): boolean {
  if (!/^(?:0|[1-9]\d*)$/.test(token_id) || token_id.length > mostDigits) return false;
  return token_id.length < mostDigits || token_id < tooLarge;
}

/** The key of a token id. A lone surrogate has no UTF-8; the replacement character stands for it. */
export function tokenKey(token_id: string): string {
  if (!isNumber(token_id)) return `1${token_id.toWellFormed()}`;
  return `0${String(token_id.length).padStart(2, '0')}${token_id}`;
}

/** The token id of a key. */
export function tokenIdOf(id_key: string): string {
  return id_key.startsWith('0') ? id_key.slice(3) : id_key.slice(1);
}

/** Smaller than every key, and larger than every key. */
export const [beforeAllKeys, afterAllKeys] = ['', '2'];

/** Compares texts as ClickHouse does: by their UTF-8 bytes, which is by code point. */
export function compareBytes(a: string, b: string): number {
  if (a === b) return 0;
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

/**
 * A name as it is searched: upper and lower case are the same, in every script. The final
 * sigma is a letter of its own in lower case, and which one it is depends on what follows.
 */
export const fold = (name: string): string => name.toLowerCase().replaceAll('ς', 'σ');
