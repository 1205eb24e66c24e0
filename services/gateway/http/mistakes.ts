import type { IncomingMessage } from 'node:http';
import { status } from '@grpc/grpc-js';
import { ProblemError } from '../errors.js';

/** What is wrong with the head of a request, which Node lets through or would refuse without a body of ours. */
export function mistakeIn({ headers, httpVersion, rawHeaders }: IncomingMessage): ProblemError | undefined {
  if (headers.host === undefined)
    return httpVersion === '1.0' ? undefined : refusal(400, 'the request has no Host header');
  // Of several ones Node takes the first, and a proxy in front may have taken another.
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) if (rawHeaders[i]?.toLowerCase() === 'host') hosts += 1;
  if (hosts > 1) return refusal(400, 'the request has more than one Host header');
  const { expect } = headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    return refusal(417, 'the expectation of the Expect header cannot be met');
  return undefined;
}

const refusal = (http: number, message: string): ProblemError =>
  new ProblemError({
    http,
    code: status.INVALID_ARGUMENT,
    message,
    headers: { connection: 'close' },
  });
