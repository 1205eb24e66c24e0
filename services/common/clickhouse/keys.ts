import { atMost, chunks } from '../chunk.js';

/**
 * Keys that go into one statement, and their characters. A server takes 128 KiB for the text of a parameter
 * (`http_max_field_value_size`), in which a character can take four bytes, and a quote two.
 */
export const [keysAtOnce, charactersAtOnce] = [1_000, 30_000];

/** What a key takes of a parameter beside its texts: quotes, brackets, commas. */
const framing = 8;

/** How many characters keys take in a parameter. */
export const charactersOf = (keys: readonly string[]): number =>
  keys.reduce((sum, key) => sum + key.length + framing, 0);

/**
 * Reads what belongs to keys, in as many statements as their parameters need, one after the other. One key may be of
 * any size.
 *
 * @param textsOf the texts that a key has in the parameter.
 * @param read reads what belongs to some of the keys.
 */
export async function inParts<K, R>(
  keys: readonly K[],
  textsOf: (key: K) => readonly string[],
  read: (some: readonly K[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const rows: R[] = [];
  const characters = { most: charactersAtOnce, of: (key: K) => charactersOf(textsOf(key)) };
  for (const some of chunks(keys, atMost(keysAtOnce), characters))
    for (const row of await read(some)) rows.push(row);
  return rows;
}
