import { constants, type ServerHttp2Stream } from 'node:http2';
import {
  ServerInterceptingCall,
  type ServerInterceptingCallInterface,
  type ServerInterceptor,
  status,
} from '@grpc/grpc-js';
import { createTurns, type Turn, type Turns } from '../clickhouse/turns.js';
import { createShares } from '../util/concurrency.js';
import { addressOf, answeredStatus, clientKey } from './context.js';

/** What a gRPC server is bounded by. */
export interface RpcBounds {
  /** How many calls are in progress at once, those not counted that stream data. */
  readonly max_calls: number;
  /** How many unary calls of one address are worked on, or have their answers sent, at once; four times as many of all. */
  readonly calls_at_once: number;
  /** How many streams of data are sent at once. */
  readonly max_streams: number;
  /** How long a caller may take to read the answer of a unary call. */
  readonly send_timeout_ms: number;
}

/** The name of a setting that calls are refused by. */
export type RpcLimit = 'GRPC_MAX_CALLS' | 'GRPC_SEND_TIMEOUT_MS' | 'GRPC_MAX_STREAMS' | 'GRPC_MAX_REQUEST_KB';

/** Called with the path of each call that a bound refuses. */
export type OnLimit = (path: string, limit: RpcLimit) => void;

/** The methods that stream data, each a message of megabytes for a caller who does not read; not those that watch heights. */
const streamsData = /\/stream[^/]*$/i;

/**
 * Bounds the calls of a server, each from its first header until its answer has been sent or its caller is gone. Calls above a
 * bound are refused with RESOURCE_EXHAUSTED and the name of the setting; each address gets its share. A few unary calls at a
 * time are handed to their handlers, by turns among clients, so that answers do not pile up in memory faster than they are
 * read; the others wait. A caller who does not read is left after a time.
 *
 * @param isServed whether a path is one of the services', and not health or reflection.
 */
export function boundCalls(
  { max_calls, calls_at_once, max_streams, send_timeout_ms }: RpcBounds,
  isServed: (path: string) => boolean,
  onLimit: OnLimit,
): ServerInterceptor {
  const calls = createShares(max_calls);
  // Load must not make a process look dead.
  const probes = createShares(max_calls);
  // Half of them for an address by itself, and all of them for all addresses together.
  const streams = createShares(Math.ceil(max_streams / 2));
  const inTurn = turnsByAddress(calls_at_once);

  return ({ path, responseStream }, call) => {
    const address = addressOf(call.getPeer());
    const isData = responseStream && streamsData.test(path);
    const end = (isData ? streams : isServed(path) ? calls : probes).take(address);
    if (end === undefined)
      return refused(call, path, isData ? 'GRPC_MAX_STREAMS' : 'GRPC_MAX_CALLS', onLimit);
    let client = '';
    let isOver = false;
    let finish = (): void => {};
    const over = new Promise<void>((resolve) => {
      finish = resolve;
    });
    /** What its share is kept for beside the call itself. */
    let turn: Promise<unknown> | undefined;
    let patience: NodeJS.Timeout | undefined;
    return new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, proceed) => {
            client = String(metadata.get(clientKey)[0] ?? '');
            proceed(metadata);
          },
          onReceiveHalfClose: (proceed) => {
            if (responseStream || !isServed(path)) return proceed();
            const work = (): Promise<void> => {
              proceed();
              return over;
            };
            const deadline = Number(call.getDeadline());
            // It fails for callers who left, and they wait for nothing.
            turn = inTurn(address, { client, deadline, isWanted: () => !isOver }, work).catch(() => {});
          },
          // Comes at the end of every call, however it ends.
          onCancel: () => {
            isOver = true;
            clearTimeout(patience);
            finish();
            // The request of a caller who left stays in memory until its turn comes.
            if (turn === undefined) end();
            else void turn.then(end);
          },
        }),
      sendMessage: (message, next) => {
        if (!responseStream)
          patience = setTimeout(() => {
            onLimit(path, 'GRPC_SEND_TIMEOUT_MS');
            abandon(call);
          }, send_timeout_ms).unref();
        next(message);
      },
    });
  };
}

/** Ends a call whose answer is not read. grpc-js has no method for it: the stream is a private member of the innermost call. */
const abandon = (call: ServerInterceptingCallInterface): void =>
  (call as unknown as { readonly stream: ServerHttp2Stream }).stream.close(constants.NGHTTP2_CANCEL);

const reasons = { GRPC_MAX_CALLS: 'too many calls are in progress', GRPC_MAX_STREAMS: 'too many streams' };

function refused(
  call: ServerInterceptingCallInterface,
  path: string,
  limit: keyof typeof reasons,
  onLimit: OnLimit,
): ServerInterceptingCall {
  return new ServerInterceptingCall(call, {
    start: () => {
      onLimit(path, limit);
      call.sendStatus(answeredStatus(status.RESOURCE_EXHAUSTED, `${reasons[limit]} (${limit})`));
    },
  });
}

/** Lets so many calls of each address run at once, and about four times as many of all addresses together. */
function turnsByAddress(atOnce: number) {
  const all = createShares(4 * atOnce);
  const addresses = new Map<string, { readonly turns: Turns; calls: number }>();
  const waiting: (() => void)[] = [];
  const freed = (): void => {
    for (const wake of waiting.splice(0)) wake();
  };
  const withShare = async (address: string, { isWanted }: Turn, work: () => Promise<void>): Promise<void> => {
    let free = all.take(address);
    while (free === undefined) {
      await new Promise<void>((resolve) => waiting.push(resolve));
      if (isWanted?.() === false) return;
      free = all.take(address);
    }
    try {
      await work();
    } finally {
      free();
      freed();
    }
  };
  return async (address: string, turn: Turn, work: () => Promise<void>): Promise<void> => {
    const own = addresses.get(address) ?? { turns: createTurns(atOnce), calls: 0 };
    addresses.set(address, own);
    own.calls += 1;
    try {
      await own.turns.take(turn, () => withShare(address, turn, work));
    } finally {
      own.calls -= 1;
      if (own.calls === 0) addresses.delete(address);
    }
  };
}

/** How grpc-js says that a request is too large, as it arrives or once it is decompressed. */
const tooLarge = /^Received message (larger than max|that decompresses to a size larger)/;

/** Counts requests that grpc-js refuses because they are too large, and names the setting to their callers. The first interceptor. */
export function countLargeRequests(onLimit: OnLimit): ServerInterceptor {
  return ({ path }, call) => {
    const send = call.sendStatus.bind(call);
    // No interceptor is asked about what grpc-js refuses by itself: it calls this method of the call.
    call.sendStatus = (answer) => {
      const isTooLarge = answer.code === status.RESOURCE_EXHAUSTED && tooLarge.test(String(answer.details));
      if (!isTooLarge) return send(answer);
      onLimit(path, 'GRPC_MAX_REQUEST_KB');
      send({ ...answer, details: `${answer.details} (GRPC_MAX_REQUEST_KB)` });
    };
    return call as ServerInterceptingCall;
  };
}
