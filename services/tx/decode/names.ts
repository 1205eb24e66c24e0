import { type AccountKey, parseAccount } from '../../common/chain/address.js';
import { parseInnerJson } from '../../common/util/bounded-input.js';
import type { DecodeOptions } from './types.js';

/** Reads addresses out of texts. */
export interface NameScanner {
  /** Calls `found` with every account that a text names, repeats included, until it says that it wants no more. */
  scan(text: string, found: Found): void;
  /** The account that a text is, as a whole. */
  keyOf(text: string): AccountKey | undefined;
}

/** Takes an account. @returns whether it wants more. */
export type Found = (key: AccountKey) => boolean;

/** JSON in JSON in JSON is seen (packets, hooks); deeper nesting than this is an attack. */
const MAX_DEPTH = 16;

/**
 * Finds the accounts that are named in an attribute's value.
 *
 * An address counts wherever it stands as a word of its own, that is with no letter or digit
 * on either side: as the whole value, as a part between commas, in JSON at any depth, in
 * Move's Go-like lists (`[0x1 0x2]`), in `address/sequence`, in a denom
 * (`factory/<address>/gold`), in a sentence, in a Move type tag (`0x63ba...::lab::Shout`:
 * an entry function names its module's address in `module_addr` too). Words are:
 * - bech32 of 20 or 32 bytes with the rollup's prefix, all lower or all upper case, and a
 *   right checksum;
 * - 0x hex of 20 bytes on EVM, of 20 or 32 on Wasm; on Move of 1 to 64 digits, since
 *   Move drops leading zeros. 32-byte words on EVM are hashes and numbers, not accounts
 *   (topics of logs are read elsewhere).
 *
 * Pure for the caller; it keeps a bounded memory of addresses that it has checked.
 */
export function nameScanner(options: DecodeOptions): NameScanner {
  const { words, known } = vocabularyOf(options);
  const keyOf = (word: string): AccountKey | undefined => {
    if (word.charCodeAt(0) === ZERO) return parseAccount(word, options.account_prefix);
    const key = known.get(word) ?? parseAccount(word, options.account_prefix);
    if (key !== undefined && !known.has(word)) {
      if (known.size >= MAX_KNOWN) known.clear();
      // A copy: a slice would keep the whole text alive that it was found in.
      known.set(Buffer.from(word).toString(), key);
    }
    return key;
  };
  /** Says whether more is wanted. */
  const scan = (text: string, found: Found, depth: number): boolean => {
    // An escape next to an address would hide where the word begins: "\u0020init1...".
    if (text.includes('\\') && depth < MAX_DEPTH) {
      const value = parseJson(text);
      if (value !== undefined) return everyString(value, (inner) => scan(inner, found, depth + 1));
    }
    words.lastIndex = 0;
    for (let match = words.exec(text); match; match = words.exec(text)) {
      // Asked here rather than by a look-behind, which would be tried at every character.
      const key = isWordCharacter(text.charCodeAt(match.index - 1)) ? undefined : keyOf(match[0]);
      if (key !== undefined && !found(key)) return false;
    }
    return true;
  };
  return {
    keyOf,
    scan(text, found) {
      scan(text, found, 0);
    },
  };
}

function isWordCharacter(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || (code >= 0x61 && code <= 0x7a);
}

/** Characters of bech32 data: no 1, b, i, o. */
const BECH32 = '02-9ac-hj-np-z';

/** The first character of 0x hex. */
const ZERO = 0x30;

interface Vocabulary {
  words: RegExp;
  /** Addresses seen lately: the same few stand in most txs, and a checksum costs microseconds. */
  known: Map<string, AccountKey>;
}

const MAX_KNOWN = 10_000;

/** One for the rollup of this process; tests have a few. */
const vocabularies = new Map<string, Vocabulary>();

function vocabularyOf(options: DecodeOptions): Vocabulary {
  const name = `${options.vm} ${options.account_prefix}`;
  const vocabulary = vocabularies.get(name) ?? { words: wordPattern(options), known: new Map() };
  vocabularies.set(name, vocabulary);
  return vocabulary;
}

function wordPattern({ vm, account_prefix }: DecodeOptions): RegExp {
  const hex = {
    evm: '0x[0-9a-fA-F]{40}',
    wasm: '0x(?:[0-9a-fA-F]{64}|[0-9a-fA-F]{40})',
    move: '0x[0-9a-fA-F]{1,64}',
  }[vm];
  const human = `${account_prefix.replace(/[^a-z0-9]/g, '\\$&')}(?:valoper)?1`;
  const lower = `${human}(?:[${BECH32}]{58}|[${BECH32}]{38})`;
  const upper = lower.replace(/[a-z]/g, (letter) => letter.toUpperCase());
  return new RegExp(`(?:${hex}|${lower}|${upper})(?![0-9A-Za-z])`, 'g');
}

function parseJson(text: string): unknown {
  if (!/^\s*["[{]/.test(text)) return undefined;
  try {
    return parseInnerJson(text);
  } catch {
    return undefined;
  }
}

/** Whether something holds for every string of a parsed value, keys of objects included, without recursion. */
function everyString(root: unknown, holds: (text: string) => boolean): boolean {
  const stack: unknown[] = [root];
  while (stack.length > 0) {
    const value = stack.pop();
    if (typeof value === 'string') {
      if (!holds(value)) return false;
    } else if (Array.isArray(value)) for (const item of value) stack.push(item);
    else if (typeof value === 'object' && value !== null) {
      for (const [key, member] of Object.entries(value)) stack.push(key, member);
    }
  }
  return true;
}
