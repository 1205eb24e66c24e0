import { taking } from '../../common/config.js';

const pattern = '[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?';
const isName = new RegExp(`^${pattern}$`);

/** A name that Kubernetes takes. @throws Error that says what one is. */
export const asName = taking({ pattern }, (text): string => {
  if (!isName.test(text)) throw new Error('must be lower-case letters, digits, - and .');
  return text;
});

/** The same, or nothing. */
export const asOptionalName = (text: string): string => (text === '' ? '' : asName(text));

/** Names, separated by commas. @throws Error that says what one is. */
export function asNames(text: string): readonly string[] {
  const names = text.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '').map(asName);
}

/** One of some words as Kubernetes writes them, in any case, or nothing. @throws Error that names them. */
export const asWord =
  <const T extends string>(...words: readonly T[]) =>
  (text: string): T | '' => {
    const word = words.find((one) => one.toLowerCase() === text.toLowerCase());
    if (text !== '' && word === undefined) throw new Error(`must be one of ${words.join(', ')}`);
    return word ?? '';
  };
