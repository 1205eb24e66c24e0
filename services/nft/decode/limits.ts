import type { DecodeProblem } from '../../common/problem-log.js';
import { cutText, isLonger, type TextLimits } from '../text-limits.js';
import type { Happening } from './types.js';

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
