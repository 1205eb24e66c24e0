import { wordlists } from 'ethers';

/** As many words as the shortest mnemonic has. */
const leastWords = 12;

/** A text with whatever may be a key in it left out: 64 hex digits or more, and the words of a mnemonic. */
export function withoutKeys(text: string): string {
  return withoutMnemonics(
    text.replaceAll(/(0x)?[0-9a-f]{64,}/gi, '(64 hex digits or more, not shown as they may be a key)'),
  );
}

/** A value as JSON without keys, also where the words of a mnemonic are the items of a list, or lines of a text. */
export function jsonWithoutKeys(value: unknown): string {
  // Within each text first: JSON writes a line's end as letters.
  const json = JSON.stringify(value, (_, inner: unknown) =>
    typeof inner === 'string' ? withoutKeys(inner) : inner,
  );
  return withoutKeys(json ?? String(value));
}

/** The same of messages of which each may quote one word of a mnemonic, such as those about the items of a list. */
export function messagesWithoutKeys(messages: readonly string[]): string[] {
  const masked = messages.map(withoutKeys);
  const quoted = /"([a-z]{3,8})"/gi;
  const known = masked
    .flatMap((message) => [...message.matchAll(quoted)])
    .filter(([, word]) => isKnown(word));
  if (known.length < leastWords) return masked;
  return masked.map((message) =>
    message.replaceAll(quoted, (all, word: string) =>
      isKnown(word) ? '(a word that is not shown: it may be of a mnemonic)' : all,
    ),
  );
}

interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** Whatever stands between the words, if it has no letters: spaces, line ends, quotes, commas, numbers. */
function withoutMnemonics(text: string): string {
  // Of the same length, so that places stay: the letter of an escaped line end is no part of the next word.
  const plain = text.replaceAll(/\\+[nrt]/g, (letters) => ' '.repeat(letters.length));
  let [result, from] = ['', 0];
  for (const words of neighbours(plain)) {
    const [first, last] = [words[0], words.at(-1)];
    if (first === undefined || last === undefined || mostKnown(words) < leastWords) continue;
    result += `${text.slice(from, first.start)}(words that are not shown: they may be a mnemonic)`;
    from = last.end;
  }
  return result + text.slice(from);
}

/** Words in a row that are as long as those of mnemonics. */
function neighbours(text: string): Word[][] {
  const rows: Word[][] = [[]];
  for (const { 0: word, index } of text.matchAll(/\p{L}+/gu)) {
    if (/^[a-z]{3,8}$/i.test(word)) rows.at(-1)?.push({ word, start: index, end: index + word.length });
    else rows.push([]);
  }
  return rows;
}

/** The most words in a row that are on the English list. */
function mostKnown(words: readonly Word[]): number {
  let [most, row] = [0, 0];
  for (const { word } of words) {
    row = isKnown(word) ? row + 1 : 0;
    most = Math.max(most, row);
  }
  return most;
}

function isKnown(word = ''): boolean {
  return (wordlists['en']?.getWordIndex(word.toLowerCase()) ?? -1) >= 0;
}
