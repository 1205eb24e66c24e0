import { asMatching, orEmpty } from '../../common/config.js';

/** A name that Kubernetes takes. @throws Error that says what one is. */
export const asName = asMatching(
  '[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?',
  'lower-case letters, digits, - and .',
);

/** The same, or nothing. */
export const asOptionalName = orEmpty(asName);

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
