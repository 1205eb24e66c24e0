import { wordlists } from 'ethers';

/** As many words as the shortest mnemonic has. */
const leastWords = 12;

/** A text with whatever may be a key in it left out: 64 hex digits or more, and the words of a mnemonic. */
export function withoutKeys(text: string): string {
  return text
    .replaceAll(/(0x)?[0-9a-f]{64,}/gi, '(64 hex digits or more, not shown as they may be a key)')
    .replaceAll(/[a-z]{3,8}(?:\s+[a-z]{3,8}){11,}/gi, (words) =>
      countKnown(words) < leastWords ? words : '(words that are not shown: they may be a mnemonic)',
    );
}

/** The most words in a row that are on the English list. */
function countKnown(words: string): number {
  let [most, row] = [0, 0];
  for (const word of words.toLowerCase().split(/\s+/)) {
    row = (wordlists['en']?.getWordIndex(word) ?? -1) >= 0 ? row + 1 : 0;
    most = Math.max(most, row);
  }
  return most;
}
