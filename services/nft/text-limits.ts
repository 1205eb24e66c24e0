import type { DecodeProblem } from '../common/runtime/log.js';
import type { Happening } from './decode/types.js';

/** How long texts of contracts may be, in bytes of UTF-8; each is a setting of the same name. */
export interface TextLimits {
  /** A longer uri is cut. */
  readonly NFT_URI_BYTES: number;
  /** A longer name of a collection, or text in place of an owner, is cut. */
  readonly NFT_NAME_BYTES: number;
  /** A token whose id is longer is left out. */
  readonly NFT_ID_BYTES: number;
}

/** The limits where nothing else is set. */
export const defaultTextLimits: TextLimits = {
  NFT_URI_BYTES: 16 * 1024,
  NFT_NAME_BYTES: 1024,
  NFT_ID_BYTES: 4 * 1024,
};

/** The longest beginning of a text that has so many bytes of UTF-8 at most, and ends with a whole character. */
export function cutText(text: string, most: number): string {
  // No character has more than three bytes for each unit of a JavaScript string.
  if (text.length * 3 <= most) return text;
  // The beginning is enough to look at: no unit has less than one byte.
  const bytes = Buffer.from(text.slice(0, most + 1));
  if (bytes.length <= most) return text;
  let end = most;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.toString('utf8', 0, end);
}

/** Whether a text has more bytes of UTF-8 than that. */
export const isLonger = (text: string, most: number): boolean =>
  text.length > most || (text.length * 3 > most && Buffer.byteLength(text) > most);

type Text = 'uri' | 'name' | 'owner' | 'class_name' | 'origin_name';

/** What bounds which text of a happening. */
const limitOf: Readonly<Record<Text, keyof TextLimits>> = {
  uri: 'NFT_URI_BYTES',
  name: 'NFT_NAME_BYTES',
  owner: 'NFT_NAME_BYTES',
  class_name: 'NFT_NAME_BYTES',
  origin_name: 'NFT_NAME_BYTES',
};

const texts = Object.keys(limitOf) as Text[];

/**
 * Bounds the texts of a happening: anybody can put anything there.
 *
 * @param report takes what was cut or left out.
 * @returns undefined when it is about a token whose id is too long.
 */
export function limited(
  happening: Happening,
  limits: TextLimits,
  report: (problem: DecodeProblem) => void,
): Happening | undefined {
  const token = 'token' in happening ? happening.token : undefined;
  if (token?.token_id !== undefined && isLonger(token.token_id, limits.NFT_ID_BYTES)) {
    const reason = `a token id is longer than ${limits.NFT_ID_BYTES} bytes: the token is left out (NFT_ID_BYTES)`;
    report({ source: token.collection, reason, limit: 'NFT_ID_BYTES' });
    return undefined;
  }
  let result = happening;
  for (const name of texts) {
    const text = (happening as Partial<Record<Text, string>>)[name];
    const limit = limitOf[name];
    if (text === undefined || !isLonger(text, limits[limit])) continue;
    result = Object.assign(result, { [name]: cutText(text, limits[limit]) });
    const source = token?.collection ?? ('collection' in happening ? happening.collection : 'a token');
    const reason = `${name} is longer than ${limits[limit]} bytes: it is cut (${limit})`;
    report({ source: source ?? 'a token', reason, limit });
  }
  return result;
}
