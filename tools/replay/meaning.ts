import { bech32 } from '@scure/base';

/**
 * Two spellings of one question get one key: percent-encoding, the case and leading zeros of hex, bech32 or
 * hex for an account, spaces and key order inside a Wasm query, the order of query parameters. Pagination is
 * no part of the meaning: lists are paged when they are answered.
 */
export function canonicalPath(path: string): string {
  const segments = path.split('/').map(decode);
  return segments
    .map((s, i) => (segments[i - 1] === 'smart' ? canonicalQueryMessage(s) : canonicalWord(s)))
    .join('/');
}

/** The query without pagination, words canonical, sorted by name. */
export function canonicalQuery(query: URLSearchParams): string {
  return [...query]
    .filter(([name]) => !name.startsWith('pagination.'))
    .map(([name, value]) => `${name}=${canonicalWord(value)}`)
    .sort()
    .join('&');
}

/** Whether an answer is a page of a list: it has a `pagination` member. */
export function isPaged(body: string): boolean {
  return body.startsWith('{') && body.includes('"pagination":{"next_key":');
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function canonicalWord(word: string): string {
  if (/^0x[0-9a-f]+$/i.test(word)) return shortHex(word.slice(2));
  if (/^evm\/[0-9a-f]{40}$/i.test(word)) return word.toLowerCase();
  // a Move struct tag: only the address in front has several spellings
  const tag = /^0x([0-9a-f]+)(::.*)$/i.exec(word);
  if (tag) return `${shortHex(tag[1]!)}${tag[2]}`;
  if (/^[a-z]+val(oper|cons)1/i.test(word)) return word;
  const hex = accountHex(word);
  return hex ? shortHex(hex) : word;
}

/** The bytes of a bech32 account as hex without 0x; undefined when the text is none. */
export function accountHex(account: string): string | undefined {
  if (!/^[a-z]+1[02-9ac-hj-np-z]{38,}$/i.test(account)) return undefined;
  try {
    const { words } = bech32.decode(account.toLowerCase() as `${string}1${string}`, 200);
    return Buffer.from(bech32.fromWords(words)).toString('hex');
  } catch {
    return undefined;
  }
}

function shortHex(digits: string): string {
  return `0x${digits.toLowerCase().replace(/^0+(?=.)/, '')}`;
}

function canonicalQueryMessage(base64: string): string {
  try {
    return JSON.stringify(sorted(JSON.parse(Buffer.from(base64, 'base64').toString('utf8'))));
  } catch {
    return base64;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([k, v]) => [k, sorted(v)]),
  );
}
