import { createHash } from 'node:crypto';
import { invalidArgument } from '../runtime/errors.js';

/** Which side of the anchor a page lies on, in the order that the request asks for. */
export type Side = 'after' | 'before';

/** A cursor: the page right after, or right before, the item at a position. */
export interface PageKey {
  readonly side: Side;
  /** The sort key of an item of the list; it says where the item stands among equals too. */
  readonly position: readonly string[];
}

const letters: Readonly<Record<Side, string>> = { after: 'n', before: 'p' };

/**
 * A cursor as text: URL-safe, opaque to clients, and tied to its list by a checksum of the
 * list's name, so that a key of another list is noticed.
 *
 * @param list the list with all its filters, e.g. `txs/by_account/<key>?is_signer`.
 */
export function encodeKey(list: string, side: Side, position: readonly (string | number | bigint)[]): string {
  return (
    tagOf(list) +
    letters[side] +
    position.map((part) => Buffer.from(String(part)).toString('base64url')).join('.')
  );
}

/** Whether a cursor, if it is one, stands for the page before its anchor. */
export const isKeyBefore = (key: string): boolean => key[tagLength] === letters.before;

/** A whole number in a cursor. @throws RpcError INVALID_ARGUMENT when it is none that a number holds exactly. */
export function keyNumber(text: string | undefined): number {
  const number = Number(text);
  if (text === undefined || !/^\d{1,16}$/.test(text) || !Number.isSafeInteger(number))
    throw invalidArgument('pagination.key is not a key of this list');
  return number;
}

/**
 * Reads a cursor.
 *
 * @param parts how many parts a position of this list has.
 * @throws RpcError INVALID_ARGUMENT when it cannot be read or belongs to another list.
 */
export function decodeKey(list: string, key: string, parts: number): PageKey {
  const wrong = (): Error =>
    invalidArgument(`pagination.key ${JSON.stringify(key.slice(0, 200))} is not a key of this list`);
  const side = (Object.keys(letters) as Side[]).find((name) => letters[name] === key[tagLength]);
  if (side === undefined || key.slice(0, tagLength) !== tagOf(list)) throw wrong();
  const position = key
    .slice(tagLength + 1)
    .split('.')
    .map((part) => Buffer.from(part, 'base64url').toString());
  const canonical = position.length === parts && encodeKey(list, side, position) === key;
  if (!canonical) throw wrong();
  return { side, position };
}

const tagLength = 8;

function tagOf(list: string): string {
  return createHash('sha256').update(list).digest('base64url').slice(0, tagLength);
}
