import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request and the answer to it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Raw target as it was sent. */
  readonly url: string;
  readonly request_id: string;
  /** Address that it came from, as limits count it. */
  readonly client: string;
  /** When the request came, by performance.now(). */
  readonly started_ms: number;
  /** Path of the route for metrics and the log; `unknown` until one is found. */
  route: string;
}

/** Opens an exchange: takes over a sane request id or makes one. */
export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  client: string,
  newId: () => string,
): Exchange {
  const given = request.headers['x-request-id'];
  return {
    request,
    response,
    url: request.url ?? '/',
    request_id: typeof given === 'string' && isSaneId(given) ? given : newId(),
    client,
    started_ms: performance.now(),
    route: 'unknown',
  };
}

/** An id that can go into a log line and a header as it is. */
const isSaneId = (id: string): boolean => /^[A-Za-z0-9._:/+=@-]{1,128}$/.test(id);

/** Makes request ids: a random part per process and a count, since a random id each is dear. */
export function requestIds(): () => string {
  const prefix = randomBytes(8).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}
