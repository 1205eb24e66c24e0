import { randomUUID } from 'node:crypto';
import { Metadata, type StatusObject, type status } from '@grpc/grpc-js';
import type { Call } from '../clickhouse/database.js';

/** Metadata key that carries the request id from HTTP to SQL. */
export const requestIdKey = 'x-request-id';

/** Metadata key that names the client of the HTTP API behind a call, so that clients take turns at the database. */
export const clientKey = 'x-weft-client';

/** What a handler knows about the call it answers. */
export interface CallContext {
  /** When the caller stops waiting, in milliseconds since the epoch; undefined without a deadline. */
  readonly deadline: number | undefined;
  /** The id of the HTTP request behind the call, or a new one. */
  readonly request_id: string;
  /** Aborted when the caller went away or the deadline passed. */
  readonly signal: AbortSignal;
  /** Who is behind the call: the client that the caller names, else the caller's address; empty within a process. */
  readonly client: string;
}

/** What every statement of a call carries on. */
export const forward = ({ deadline, request_id, signal, client }: CallContext): Call => ({
  deadline,
  request_id,
  isWanted: () => !signal.aborted,
  client,
});

/** The address of a peer, without its port. */
export const addressOf = (peer: string): string => peer.replace(/:\d+$/, '');

/** Reads the context of a server-side call. */
export function contextOf(
  call: { metadata: Metadata; getDeadline(): Date | number; getPeer?: () => string },
  signal: AbortSignal,
): CallContext {
  const given = call.metadata.get(requestIdKey)[0];
  const client = call.metadata.get(clientKey)[0];
  const deadline = call.getDeadline();
  const at = deadline instanceof Date ? deadline.getTime() : deadline;
  return {
    deadline: Number.isFinite(at) ? at : undefined,
    request_id: typeof given === 'string' && given !== '' ? given : randomUUID(),
    signal,
    client: typeof client === 'string' ? client : addressOf(call.getPeer?.() ?? ''),
  };
}

/** Metadata key of a status that a handler gave, and not a connection that broke under it. */
export const answeredKey = 'x-weft-answered';

/**
 * Longest text of a status, in characters. It travels in a header, percent-encoded, and headers above 64 kB never arrive.
 */
const maxDetails = 2_000;

/** A status that a server answers a call with; as an error, since a stream emits it as one. */
export function answeredStatus(code: status, text: string): StatusObject & Error {
  const details = text.length > maxDetails ? `${text.slice(0, maxDetails)}...` : text;
  const metadata = new Metadata();
  metadata.set(answeredKey, '1');
  return Object.assign(new Error(details), { code, details, metadata });
}
