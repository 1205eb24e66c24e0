import { type Endpoints, parseNodeJson } from '../../common/chain/endpoints.js';
import { isObject, stringOf } from '../../common/chain/events.js';
import { messageOf } from '../../common/errors.js';
import { answer, type Outcome, refused, unreached } from './outcome.js';

/** Questions under way at once. */
export const questionsAtOnce = 8;

/**
 * Asks the REST API for something that may not be there. An error in JSON is the node's own
 * word, whatever its status: contracts that do not know a question give one of any text.
 */
export async function askRest(
  rest: Endpoints,
  path: string,
  signal: AbortSignal,
): Promise<Outcome<Record<string, unknown>>> {
  try {
    return await rest.ask({ path, signal }, (status, body) => {
      const said = parseNodeJson(status, body, path);
      if (status === 200 && isObject(said)) return answer(said);
      return refused(isObject(said) ? stringOf(said['message']) : `HTTP ${status}`);
    });
  } catch (error) {
    return unreached(messageOf(error));
  }
}
