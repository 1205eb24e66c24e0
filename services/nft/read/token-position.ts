import { createHash } from 'node:crypto';
import { invalidArgument } from '../../common/errors.js';
import { keyNumber } from '../../common/page/key.js';
import { afterAllKeys, beforeAllKeys } from '../token-key.js';
import type { Item } from './items.js';
import type { Position } from './moving-page.js';

/** Positions before and after every token. */
export const ends = [
  [0, beforeAllKeys, ''],
  [Number.MAX_SAFE_INTEGER, afterAllKeys, 'g'],
] as const;

export const positionOf = ({ height, id_key, collection }: Item): Position => [height, id_key, collection];

/** Longer ids stand in page keys by their hash, which begins as no id does: keys have to fit into URLs. */
const [longest, mark] = [64, '#'];

const hashOf = (id_key: string): string => createHash('sha256').update(id_key).digest('hex');

/** A position as a page key carries it. */
export function shorten([height, id_key, collection]: Position): Position {
  const text = String(id_key);
  return [height as number, text.length <= longest ? text : mark + hashOf(text), collection as string];
}

/** Finds the id of a hash among the tokens of a list; undefined when there is none. */
export type FindLongId = (height: number, hash: string) => Promise<string | undefined>;

/** The position that a page key carries. @throws RpcError INVALID_ARGUMENT when it can be none. */
export async function parsePosition(parts: readonly string[], find: FindLongId): Promise<Position> {
  const [height = '', id = '', collection = ''] = parts;
  const at = keyNumber(height);
  if (!id.startsWith(mark)) return [at, id, collection];
  const id_key = await find(at, id.slice(mark.length));
  if (id_key === undefined) throw invalidArgument('pagination.key is not a key of this list');
  return [at, id_key, collection];
}

/** Finds an id among items that are in memory. */
export const findAmong =
  (load: () => Promise<readonly Item[]>): FindLongId =>
  async (height, hash) =>
    (await load()).find((item) => item.height === height && hashOf(item.id_key) === hash)?.id_key;
