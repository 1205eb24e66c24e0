import { type AccountKey, keyOfHexDigits, parseAccount } from '../../common/chain/address.js';
import type { DecodeOptions } from './types.js';

/** Calls `found` with every account that a text names, in order, repeats included. */
export type NameScanner = (text: string, found: (key: AccountKey) => void) => void;

/** JSON in JSON in JSON is seen (packets, hooks); deeper nesting than this is an attack. */
const MAX_DEPTH = 16;

/**
 * Finds the accounts that are named in an attribute's value.
 *
 * An address counts wherever it stands as a word of its own, that is with no letter or digit
 * on either side: as the whole value, as a part between commas, in JSON at any depth, in
 * Move's Go-like lists (`[0x1 0x2]`), in `address/sequence`, in a denom
 * (`factory/<address>/gold`), in a sentence. Words are:
 * - bech32 of 20 or 32 bytes with the rollup's prefix, all lower or all upper case, and a
 *   right checksum;
 * - 0x hex of 20 bytes on EVM, of 20 or 32 on Wasm; on Move of 1 to 64 digits, since
 *   Move drops leading zeros. 32-byte words on EVM are hashes and numbers, not accounts
 *   (topics of logs are read elsewhere);
 * - on Move, the address in front of `::` names a module's code, not a party of the tx: type
 *   tags such as `0x63ba...::lab::Shout` do not count.
 *
 * A scanner remembers what it has seen: use one for a block and let it go.
 */
export function nameScanner(options: DecodeOptions): NameScanner {
  const words = wordPattern(options);
  const known = new Map<string, AccountKey | undefined>();
  const keyOf = (word: string): AccountKey | undefined => {
    if (word.charCodeAt(0) === 0x30) return keyOfHexDigits(word.slice(2));
    let key = known.get(word);
    if (key === undefined && !known.has(word)) {
      key = parseAccount(word, options.account_prefix);
      known.set(word, key);
    }
    return key;
  };
  const scan = (text: string, found: (key: AccountKey) => void, depth: number): void => {
    if (text.length < 3) return;
    // An escape next to an address would hide where the word begins: "\u0020init1...".
    if (text.includes('\\') && depth < MAX_DEPTH) {
      const value = parseJson(text);
      if (value !== undefined) return forEachString(value, (inner) => scan(inner, found, depth + 1));
    }
    words.lastIndex = 0;
    for (let match = words.exec(text); match; match = words.exec(text)) {
      const key = keyOf(match[0]);
      if (key !== undefined) found(key);
    }
  };
  return (text, found) => scan(text, found, 0);
}

/** Characters of bech32 data: no 1, b, i, o. */
const BECH32 = '02-9ac-hj-np-z';

function wordPattern({ vm, account_prefix }: DecodeOptions): RegExp {
  const hex = {
    evm: '0x[0-9a-fA-F]{40}',
    wasm: '0x(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40})',
    move: '0x[0-9a-fA-F]{1,64}(?!::)',
  }[vm];
  const human = `${account_prefix.replace(/[^a-z0-9]/g, '\\$&')}(?:valoper)?1`;
  const lower = `${human}(?:[${BECH32}]{58}|[${BECH32}]{38})`;
  const upper = lower.replace(/[a-z]/g, (letter) => letter.toUpperCase());
  return new RegExp(`(?<![0-9A-Za-z])(?:${hex}|${lower}|${upper})(?![0-9A-Za-z])`, 'g');
}

function parseJson(text: string): unknown {
  if (!/^\s*["[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Visits every string of a parsed value, keys of objects included, without recursion. */
function forEachString(root: unknown, visit: (text: string) => void): void {
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value === 'string') visit(value);
    else if (Array.isArray(value)) for (const item of value) stack.push(item);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) stack.push(key, member);
    }
  }
}
