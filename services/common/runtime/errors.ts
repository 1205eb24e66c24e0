import { status } from '@grpc/grpc-js';

/**
 * The one error that crosses the wire: a gRPC status code and a message for the caller.
 * `cause` is for the log and is never sent.
 */
export class RpcError extends Error {
  readonly code: status;

  constructor(code: status, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'RpcError';
    this.code = code;
  }
}

/** The caller sent something that cannot be right; the message names it. */
export const invalidArgument = (message: string): RpcError => new RpcError(status.INVALID_ARGUMENT, message);

/** What was asked for is well-formed but not there. */
export const notFound = (message: string): RpcError => new RpcError(status.NOT_FOUND, message);

/** This rollup does not have what was asked for. */
export const unimplemented = (message: string): RpcError => new RpcError(status.UNIMPLEMENTED, message);

/** The user's mistake: printed as it stands, without a stack, and the process ends with code 1. */
export class UserError extends Error {
  override name = 'UserError';
}

/** Something outside failed that may work when tried again: printed as it stands, and the process ends with code 75. */
export class TryAgainError extends Error {
  override name = 'TryAgainError';
}

/** This process cannot go on, whatever it tries: it stops and ends with code 75, so that its supervisor starts another one. */
export class FatalError extends Error {
  override name = 'FatalError';
}

/**
 * The account of ClickHouse has not been granted what a statement needs, which the message names. A command prints that; a
 * service tries again, since an administrator may grant it meanwhile.
 */
export class AccessDenied extends Error {
  override name = 'AccessDenied';
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
