import { bech32 } from '@scure/base';

/**
 * The one name of an account in tables and messages: lower-case hex without 0x of 20 bytes
 * (40 characters) or 32 bytes (64, Move objects and Wasm contracts). Leading zero bytes are
 * dropped and the rest is padded to 20 bytes, or to 32 when longer, so that 0x1, its padded
 * spellings and the bech32 forms of either length are one key.
 */
export type AccountKey = string;

const MAX_HEX_DIGITS = 64;
/** A bech32 text of 32 bytes and a long prefix stays below this; the checksum holds to 90. */
const MAX_BECH32_LENGTH = 90;

/**
 * The key of an account as people and nodes write it, or undefined when it is none.
 *
 * Accepted: 0x and 1 to 64 hex digits in any case (an odd number too, Move drops zeros);
 * bech32, all lower or all upper case, of 20 or 32 bytes with `prefix` or with the operator
 * form of it, `<prefix>valoper`, which names the same bytes. Consensus addresses (valcons)
 * are made from other keys, and other chains' prefixes name accounts of other chains:
 * neither is an account here.
 */
export function parseAccount(text: string, prefix: string): AccountKey | undefined {
  if (text.length < 3) return undefined;
  if (text.charCodeAt(0) === 0x30) return parseHex(text);
  return parseBech32(text, prefix);
}

/** bech32 of a key, of 20 or 32 bytes as the key is. */
export function toBech32(key: AccountKey, prefix: string): string {
  return bech32.encode(prefix, bech32.toWords(Buffer.from(key, 'hex')), MAX_BECH32_LENGTH);
}

/** 0x hex of a key, lower case, leading zeros written out. */
export function toHex(key: AccountKey): string {
  return `0x${key}`;
}

/**
 * The key of hex digits (no 0x, any case, leading zeros allowed). The caller has made sure
 * that they are 1 to 64 hex digits.
 */
export function keyOfHexDigits(digits: string): AccountKey {
  let start = 0;
  while (start < digits.length && digits.charCodeAt(start) === 0x30) start++;
  const rest = digits.slice(start).toLowerCase();
  return rest.padStart(rest.length > 40 ? 64 : 40, '0');
}

/** The key of 20 or 32 bytes, or of fewer: they are padded on the left. */
export function keyOfBytes(bytes: Uint8Array): AccountKey {
  return keyOfHexDigits(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex'));
}

function parseHex(text: string): AccountKey | undefined {
  const marker = text.charCodeAt(1);
  if (marker !== 0x78 && marker !== 0x58) return undefined;
  const digits = text.slice(2);
  return digits.length <= MAX_HEX_DIGITS && /^[0-9a-fA-F]+$/.test(digits)
    ? keyOfHexDigits(digits)
    : undefined;
}

function parseBech32(text: string, prefix: string): AccountKey | undefined {
  if (text.length > MAX_BECH32_LENGTH) return undefined;
  const separator = text.lastIndexOf('1');
  const human = text.slice(0, Math.max(separator, 0)).toLowerCase();
  if (human !== prefix && human !== `${prefix}valoper`) return undefined;
  const decoded = bech32.decodeUnsafe(text, MAX_BECH32_LENGTH);
  const bytes = decoded && bech32.fromWordsUnsafe(decoded.words);
  return bytes && (bytes.length === 20 || bytes.length === 32) ? keyOfBytes(bytes) : undefined;
}
