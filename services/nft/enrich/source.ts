import type { AccountKey } from '../../common/chain/address.js';
import { smallFirst } from '../../common/chain/batch.js';
import { type AnswerBound, type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';
import { isObject, stringOf } from '../../common/chain/events.js';
import { heightHeader, stateProblem } from '../../common/chain/rest.js';
import { createMutex, type Mutex } from '../../common/util/concurrency.js';
import { answer, askUntilThere, failed, type Outcome, refused, unreached } from './outcome.js';

/**
 * What answers about details are read up to while several questions are under way. A hundred uris of some kilobytes
 * fit.
 */
export const smallAnswer: AnswerBound = { bytes: 1024 * 1024 };

/** What the node says of a collection. */
export interface CollectionAnswer {
  readonly name: string;
  /** Where the node says it; '' elsewhere. */
  readonly creator: AccountKey | '';
}

/** A token to ask about. */
export interface TokenQuestion {
  readonly collection: AccountKey;
  readonly token_id: string;
  /** Move: its object. */
  readonly object: string;
}

/** How the node of a virtual machine is asked for details. */
export interface DetailSource {
  /**
   * @param height what is asked for is the state after this block, or a later one: a node that
   *   does not have the block yet has not answered.
   */
  collections(
    collections: readonly AccountKey[],
    height: number,
    signal: AbortSignal,
  ): Promise<Outcome<CollectionAnswer>[]>;
  /** Uris; undefined where the node has none to say: what the chain said stands. */
  uris(
    tokens: readonly TokenQuestion[],
    height: number,
    signal: AbortSignal,
  ): Promise<Outcome<string | undefined>[]>;
}

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
