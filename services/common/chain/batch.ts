import type { Mutex } from '../util/concurrency.js';
import { type AnswerBound, type Endpoints, NodeError, parseNodeJson } from './endpoints.js';
import { sliceMember, splitArray } from './json.js';

/** A JSON-RPC call that may travel together with others. */
export interface BatchedCall<T> {
  readonly method: string;
  readonly params: unknown;
  /** Turns the text of this call's answer into the result. */
  readonly read: (answer: string) => T;
  /** Asks on its own: where there is nothing to join, and when the batch or its answer is no good. */
  readonly alone: () => Promise<T>;
  readonly signal: AbortSignal;
}

/** Sends a call, together with those that others send at the same moment. */
export type SendBatched = <T>(call: BatchedCall<T>) => Promise<T>;

/** For what is not to be joined with anything. */
export const sendAlone: SendBatched = (call) => call.alone();

/** With fewer calls than this there is nothing to gain. */
const fewest = 3;

interface Waiting {
  readonly call: BatchedCall<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/** How large the answer to a batch may be: the answers to ten calls about usual blocks are a tenth of it. */
const batchBound: AnswerBound = { bytes: 8 * 1024 * 1024 };

/** After so many answers that were small enough, more is asked for at once again. */
const growAfter = 4;

/**
 * Asks something of many at once. Where the answer is too large for one message, half as many are asked about, down to
 * single ones, and more again later: so one large answer costs the others little, and many cost not much more.
 *
 * @param ask one request; what it gives for some items is joined, in the order of the items.
 * @throws what `ask` throws for anything else, and for a single item that is too large.
 */
export async function askInHalves<T, R>(
  items: readonly T[],
  ask: (items: readonly T[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const results: R[] = [];
  let [size, small] = [items.length, 0];
  while (results.length < items.length) {
    const some = items.slice(results.length, results.length + size);
    try {
      for (const result of await ask(some)) results.push(result);
      small += 1;
      if (small % growAfter === 0) size *= 2;
    } catch (error) {
      if (!isTooLarge(error) || some.length <= 1) throw error;
      [size, small] = [Math.ceil(some.length / 2), 0];
    }
  }
  return results;
}

/**
 * Joins the calls of one turn of the event loop into JSON-RPC batches, so that catching up
 * costs a fraction of the requests. Batches are an offer: a call whose batch fails, or
 * whose part of it cannot be read, is sent alone, with the retries that go with that; a batch whose
 * answer is too large is sent in halves; and a node that answers batches with something else is sent
 * smaller ones, then none.
 *
 * @param most how many calls go into one batch. CometBFT refuses more than 10 by default.
 */
export function createBatching(endpoints: Endpoints, most: number): SendBatched {
  let limit = most;
  let waiting: Waiting[] = [];

  const send = async (batch: readonly Waiting[]): Promise<void> => {
    const answers = await askInHalves(batch, ask);
    for (const [index, { call, resolve, reject }] of batch.entries()) {
      const answer = answers[index];
      try {
        if (answer !== undefined) {
          resolve(call.read(answer));
          continue;
        }
      } catch {
        // asked alone, where a failure counts against the URL and is tried again
      }
      call.alone().then(resolve, reject);
    }
  };

  /** The answers to calls, in their order; undefined for those that are to be sent alone. @throws NodeError too_large */
  const ask = async (batch: readonly Waiting[]): Promise<readonly (string | undefined)[]> => {
    if (batch.length < fewest) return batch.map(() => undefined);
    const texts = batch.map(({ call: { method, params } }, id) =>
      JSON.stringify({ jsonrpc: '2.0', id, method, params }),
    );
    const request = {
      ...{ path: '', body: `[${texts.join(',')}]`, signal: batch[0]?.call.signal },
      ...{ attempts: 1, bound: batchBound },
    };
    try {
      const answers = await endpoints.ask(request, (status, body) => readBatch(status, body, batch.length));
      return batch.map((_, id) => answers.get(id));
    } catch (error) {
      if (isTooLarge(error)) throw error;
      const reason = error instanceof NodeError ? error.reason : undefined;
      const isRefused = reason === 'timeout' || reason === 'error_answer';
      if (isRefused && batch.length <= limit) limit = Math.floor(batch.length / 2);
      return batch.map(() => undefined);
    }
  };

  const flush = (): void => {
    const calls = waiting;
    waiting = [];
    const size = Math.max(1, limit);
    for (let start = 0; start < calls.length; start += size) void send(calls.slice(start, start + size));
  };

  return <T>(call: BatchedCall<T>) =>
    new Promise<T>((resolve, reject) => {
      if (limit < fewest) {
        call.alone().then(resolve, reject);
        return;
      }
      if (waiting.length === 0) setImmediate(flush);
      waiting.push({ call, resolve: (value) => resolve(value as T), reject });
    });
}

/** What stands between two answers. In a string its quotes would be escaped. */
const between = ',{"jsonrpc":"2.0","id":';

/** How an answer begins as nodes write it; with its id. */
const beginning = /^\{"jsonrpc":"2\.0","id":(\d+),/;

/**
 * Cuts the answer to a batch into the answers of its calls, by their ids. What cannot be
 * read is left out.
 *
 * @throws NodeError error_answer when the node answers something else than a list, as one
 *   that takes no batches does; not_json for what is no JSON.
 */
export function readBatch(status: number, body: string, calls: number): Map<number, string> {
  const text = body.trim();
  if (status !== 200 || !text.startsWith('[')) {
    parseNodeJson(status, text, 'a batch');
    throw new NodeError('error_answer', `a batch: HTTP ${status} ${JSON.stringify(text.slice(0, 200))}`);
  }
  if (!text.endsWith(']')) throw new NodeError('not_json', 'a batch: the answer is cut');
  const quick = text
    .slice(1, -1)
    .split(between)
    .map((part, index) => (index === 0 ? part : between.slice(1) + part));
  const answers = byId(quick);
  // Written in another way, or with that text inside: read with care, which takes longer.
  return answers.size === calls && quick.length === calls ? answers : byId(splitArray(text));
}

function byId(texts: readonly string[]): Map<number, string> {
  const answers = new Map<number, string>();
  for (const text of texts) {
    const id = beginning.exec(text)?.[1] ?? memberOf(text, 'id');
    if (id !== undefined && /^\d+$/.test(id)) answers.set(Number(id), text);
  }
  return answers;
}

function memberOf(text: string, key: string): string | undefined {
  try {
    return sliceMember(text, key);
  } catch {
    return undefined;
  }
}

/** Whether a request failed because its answer is larger than it may be. */
export const isTooLarge = (error: unknown): boolean =>
  error instanceof NodeError && error.reason === 'too_large';

/**
 * Asks for a small answer, as most are. One that is larger is asked for again when no other large one is held: many
 * requests may be under way at once, and each of them could be answered with as much as the bound allows.
 *
 * @param ask sends the request with a bound; without one the usual bound of the endpoints holds.
 * @param alone who holds it may hold a large answer, and what is made of it.
 */
export async function smallFirst<T>(
  small: AnswerBound,
  alone: Mutex,
  ask: (bound?: AnswerBound) => Promise<T>,
): Promise<T> {
  try {
    return await ask(small);
  } catch (error) {
    if (!isTooLarge(error)) throw error;
    return alone(() => ask());
  }
}
