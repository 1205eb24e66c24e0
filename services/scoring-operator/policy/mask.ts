import { wordlists } from 'ethers';

/** As many words as the shortest mnemonic has, and how many of so many in a row are on its list: two may be misspelt. */
const [leastWords, leastKnown] = [12, 10];

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
  const quoted = /"([a-z]{2,10})"/gi;
  const known = masked
    .flatMap((message) => [...message.matchAll(quoted)])
    .filter(([, word]) => isKnown(word));
  if (known.length < leastKnown) return masked;
  // The others too: one may be of it, misspelt.
  return masked.map((message) =>
    message.replaceAll(quoted, '(a word that is not shown: it may be of a mnemonic)'),
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
    if (first === undefined || last === undefined || mostKnown(words) < leastKnown) continue;
    result += `${text.slice(from, first.start)}(words that are not shown: they may be a mnemonic)`;
    from = last.end;
  }
  return result + text.slice(from);
}

/** Words in a row that are as long as those of mnemonics, or those misspelt. */
function neighbours(text: string): Word[][] {
  const rows: Word[][] = [[]];
  for (const { 0: word, index } of text.matchAll(/\p{L}+/gu)) {
    if (/^[a-z]{2,10}$/i.test(word)) rows.at(-1)?.push({ word, start: index, end: index + word.length });
    else rows.push([]);
  }
  return rows;
}

/** The most of so many words in a row that are on the English list; 0 where there are fewer words. */
function mostKnown(words: readonly Word[]): number {
  const known = words.map(({ word }) => (isKnown(word) ? 1 : 0) as number);
  let most = 0;
  for (let end = leastWords; end <= known.length; end++)
    most = Math.max(
      most,
      known.slice(end - leastWords, end).reduce((sum, one) => sum + one, 0),
    );
  return most;
}

function isKnown(word = ''): boolean {
  return (wordlists['en']?.getWordIndex(word.toLowerCase()) ?? -1) >= 0;
}
