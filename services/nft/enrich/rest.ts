import { type AnswerBound, type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';
import { isObject, stringOf } from '../../common/chain/events.js';
import { smallFirst } from '../../common/chain/small-first.js';
import { heightHeader, stateProblem } from '../../common/chain/state-height.js';
import { createMutex, type Mutex } from '../../common/mutex.js';
import { askUntilThere } from './behind.js';
import { answer, failed, type Outcome, refused, unreached } from './outcome.js';
import { smallAnswer } from './source.js';

/** Questions under way at once. */
export const questionsAtOnce = 8;

/**
 * Asks the REST API for something that may not be there, as it was after a block. An error in
 * JSON is the node's own word, whatever its status: contracts that do not know a question
 * give one of any text.
 */
export type AskRest = (
  path: string,
  height: number,
  signal: AbortSignal,
) => Promise<Outcome<Record<string, unknown>>>;

/**
 * Makes a function that asks. With the height in the question a node that lags behind says so,
 * where it would give an old answer otherwise. Where the state has been pruned the latest one
 * is asked for, and at once for everything older from then on.
 */
export function createAskRest(rest: Endpoints): AskRest {
  let pruned = 0;
  const alone = createMutex();
  return async (path, height, signal) => {
    if (height > pruned) {
      const found = await askAt(rest, alone, path, height, signal);
      if (found !== 'gone') return found;
      pruned = Math.max(pruned, height);
    }
    const found = await askAt(rest, alone, path, 0, signal);
    return found === 'gone' ? unreached('the node does not have its latest state') : found;
  };
}

/** Asks for the state after a block; 0 is the latest. */
async function askAt(
  rest: Endpoints,
  alone: Mutex,
  path: string,
  height: number,
  signal: AbortSignal,
): Promise<Outcome<Record<string, unknown>> | 'gone'> {
  const request = { path, signal, ...(height === 0 ? {} : { headers: { [heightHeader]: String(height) } }) };
  const ask = (bound?: AnswerBound) =>
    rest.ask({ ...request, bound }, (status, body) => {
      const said = parseNodeJson(status, body, path);
      if (status === 200 && isObject(said)) return answer(said);
      const message = isObject(said) ? stringOf(said['message']) : `HTTP ${status}`;
      const problem = stateProblem(message);
      if (problem === 'not yet') throw new NodeError('behind', `${path}: ${message.slice(0, 200)}`);
      return problem === 'gone' ? problem : refused(message);
    });
  return askUntilThere(() => smallFirst(smallAnswer, alone, ask), signal).catch(failed);
}
