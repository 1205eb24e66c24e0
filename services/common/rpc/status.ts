import { Metadata, type StatusObject, type status } from '@grpc/grpc-js';

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
