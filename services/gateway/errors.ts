import { status } from '@grpc/grpc-js';
import { RpcError } from '../common/runtime/errors.js';

/** An answer that is no success: what the client sees of it, and nothing else. */
export interface Problem {
  readonly http: number;
  /** gRPC code number for the body. */
  readonly code: status;
  readonly message: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the process had no room for the request: nothing is wrong that the log would tell of. */
  readonly refused?: boolean;
}

/** A client's text for a message: long ones are cut. */
export const shown = (text: string): string => (text.length > 100 ? `${text.slice(0, 100)}...` : text);

/** A problem that the gateway itself found; its message is meant for the client. */
export class ProblemError extends Error {
  override name = 'ProblemError';

  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

interface Row {
  readonly http: number;
  /** What the client reads instead of the service's own words, which may show internals. */
  readonly message?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

const unavailable: Row = {
  http: 503,
  message: 'a part of the service is not available, try again later',
  headers: { 'retry-after': '1' },
};

/** The one table from gRPC codes to HTTP. A code that is not here is a 500. */
const table: Partial<Record<status, Row>> = {
  [status.INVALID_ARGUMENT]: { http: 400 },
  [status.NOT_FOUND]: { http: 404 },
  [status.UNIMPLEMENTED]: { http: 501, message: 'this rollup does not have that' },
  [status.UNAVAILABLE]: unavailable,
  [status.DEADLINE_EXCEEDED]: { http: 504, message: 'the query ran out of time' },
};

/**
 * gRPC itself uses RESOURCE_EXHAUSTED, for messages over its size and for peers that had
 * enough. Neither is the client sending too much: 429 is for the gateway's own limit.
 */
function exhausted(message: string): Row {
  if (/larger than max/i.test(message))
    return {
      http: 500,
      message: 'the answer is too large to be sent: ask for fewer items with pagination.limit',
    };
  if (message.includes('QUERY_MEMORY_MB'))
    return {
      http: 503,
      message:
        'the query takes too much memory: ask for fewer items, or use pagination.key instead of offset',
    };
  return unavailable;
}

const internal: Problem = { http: 500, code: status.INTERNAL, message: 'internal error' };

/**
 * What a client sees of anything that was thrown. Only messages about the client's own
 * input (400, 404) pass; every other one is a fixed sentence.
 */
export function problemOf(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem;
  if (!(error instanceof RpcError)) return internal;
  const row = error.code === status.RESOURCE_EXHAUSTED ? exhausted(error.message) : table[error.code];
  if (row === undefined) return internal;
  return { ...row, code: error.code, message: row.message ?? error.message };
}

/** The JSON of a problem. */
export function problemBody(problem: Problem): Buffer {
  return Buffer.from(JSON.stringify({ code: problem.code, message: problem.message, details: [] }));
}

/** 501 for what the virtual machine of this rollup does not have. */
export const notOnThisVm = (vm: string, what: string): ProblemError =>
  new ProblemError({
    http: 501,
    code: status.UNIMPLEMENTED,
    message: `${what} are not available on a rollup with the ${vm} virtual machine`,
  });
