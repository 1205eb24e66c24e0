import { status } from '@grpc/grpc-js';
import type { BlockServiceClient } from '../../../common/gen/indexer/block/v1/block.js';
import type { NftServiceClient } from '../../../common/gen/indexer/nft/v1/nft.js';
import type { RichlistServiceClient } from '../../../common/gen/indexer/richlist/v1/richlist.js';
import type { TxServiceClient } from '../../../common/gen/indexer/tx/v1/tx.js';
import { callRpc, streamRpc, type UnaryMethod } from '../../../common/rpc/client.js';
import { RpcError } from '../../../common/runtime/errors.js';

/** The services that facts are read from. */
export interface FactClients {
  readonly block: BlockServiceClient;
  readonly tx: TxServiceClient;
  readonly richlist: RichlistServiceClient;
  readonly nft: NftServiceClient;
}

/** How long one answer, or the next message of a stream, may take, in milliseconds. */
const patience_ms = 60_000;

/** Asks once. @throws RpcError, or what the signal was aborted with. */
export async function ask<Request, Response>(
  method: UnaryMethod<Request, Response>,
  request: Request,
  signal: AbortSignal,
): Promise<Response> {
  signal.throwIfAborted();
  try {
    return await callRpc(method, request, { deadline: Date.now() + patience_ms, signal });
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  }
}

/**
 * Reads a stream to its end. Unlike the stream itself it never ends early without an error:
 * half of the facts must not pass for all of them.
 *
 * @throws RpcError DEADLINE_EXCEEDED when the server falls silent, or what the signal was aborted with.
 */
export async function* readStream<Request, Response>(
  method: Parameters<typeof streamRpc<Request, Response>>[0],
  request: Request,
  signal: AbortSignal,
): AsyncGenerator<Response, void, undefined> {
  const silence = new AbortController();
  const wait = (): NodeJS.Timeout => setTimeout(() => silence.abort(), patience_ms);
  let timer = wait();
  try {
    const either = AbortSignal.any([signal, silence.signal]);
    for await (const message of streamRpc(method, request, { signal: either })) {
      // What is done with the message takes none of the server's time.
      clearTimeout(timer);
      yield message;
      timer = wait();
    }
  } finally {
    clearTimeout(timer);
  }
  signal.throwIfAborted();
  if (silence.signal.aborted)
    throw new RpcError(status.DEADLINE_EXCEEDED, `a stream said nothing for ${patience_ms} ms`);
}

/** Whether the same question may be answered another time. */
export function isPassing(error: unknown): boolean {
  const passing = [
    status.UNAVAILABLE,
    status.ABORTED,
    status.DEADLINE_EXCEEDED,
    status.RESOURCE_EXHAUSTED,
    status.CANCELLED,
    status.INTERNAL,
    status.UNKNOWN,
    // The chain may be rolled back between the question and the one before it.
    status.OUT_OF_RANGE,
  ];
  return error instanceof RpcError && passing.includes(error.code);
}
