import { status } from '@grpc/grpc-js';
import { RpcError } from '../common/errors.js';

/**
 * A text with its percent-encoding taken away once more, for clients that encode twice;
 * undefined where that gives nothing else.
 */
export function decodedAgain(text: string): string | undefined {
  if (!text.includes('%')) return undefined;
  try {
    const decoded = decodeURIComponent(text);
    return decoded === text ? undefined : decoded;
  } catch {
    return undefined; // a percent sign that encodes nothing
  }
}

/**
 * Asks for a text as it came, and when that finds nothing, as it is decoded once more. A key
 * of the one is no key of the other: then the other is asked too.
 *
 * @param isFound whether an answer holds anything.
 */
export async function asEitherSpelling<T>(
  text: string,
  ask: (text: string) => Promise<T>,
  isFound: (answer: T) => boolean,
): Promise<T> {
  const other = decodedAgain(text);
  if (other === undefined) return ask(text);
  try {
    const answer = await ask(text);
    if (isFound(answer)) return answer;
    const again = await ask(other).catch(() => answer);
    return isFound(again) ? again : answer;
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== status.INVALID_ARGUMENT) throw error;
    return ask(other);
  }
}
