import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  logVerbosity,
  Metadata,
  Server,
  type ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type ServiceDefinition,
  type StatusObject,
  setLogVerbosity,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { DatabaseUnavailable, QueryTimeout } from '../clickhouse/database.js';
import { messageOf, RpcError } from '../errors.js';
import { cannotListen } from '../listen.js';
import type { Log } from '../log.js';
import { createLogSampler, type LogSampler } from '../log-sampler.js';
import type { Metrics } from '../metrics.js';
import type { Readiness } from '../ops.js';
import { type CallContext, contextOf } from './context.js';
import { type Control, checkControl, tokenKey } from './control.js';
import { type FollowedReadiness, followReadiness } from './readiness.js';
import { addReflection } from './reflection.js';
import { createStreamBound, type StreamBound } from './stream-bound.js';
import { plainTransport, type Transport } from './transport.js';

/** The largest answer: a block of thousands of txs is one message. */
export const maxMessageBytes = 256 * 1024 * 1024;

/** Metadata key of a status that a handler gave, and not a connection that broke under it. */
export const answeredKey = 'x-weft-answered';

/**
 * Longest text of a status, in characters. It travels in a header, percent-encoded, and headers above 64 kB never arrive.
 */
const maxDetails = 2_000;

/** What the handlers of a server share. */
export interface HandlerEnvironment {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** A unary handler written as a function that returns a promise. */
export type Unary<Request, Response> = (request: Request, context: CallContext) => Promise<Response>;

/** A streaming handler: what it yields is sent, no faster than the client reads. */
export type Streaming<Request, Response> = (
  request: Request,
  context: CallContext,
) => AsyncIterable<Response>;

/** Makes a grpc-js handler of a unary function: errors become statuses, calls are timed. */
export function unary<Request, Response>(
  environment: HandlerEnvironment,
  handler: Unary<Request, Response>,
): handleUnaryCall<Request, Response> {
  const sampled = createLogSampler();
  return (call, callback) => {
    const controller = new AbortController();
    call.on('cancelled', () => controller.abort());
    const context = contextOf(call, controller.signal);
    const end = environment.metrics.rpcSeconds.startTimer({ method: call.getPath() });
    handler(call.request, context).then(
      (response) => {
        end({ code: 'OK' });
        callback(null, response);
      },
      (error: unknown) => {
        const answer = toStatus(error, context, call.getPath(), environment.log, sampled);
        end({ code: status[answer.code ?? status.UNKNOWN] });
        callback(answer);
      },
    );
  };
}

/** Makes a grpc-js handler of an async generator, with backpressure. */
export function streaming<Request, Response>(
  environment: HandlerEnvironment,
  handler: Streaming<Request, Response>,
): handleServerStreamingCall<Request, Response> {
  const sampled = createLogSampler();
  return (call) => {
    const controller = new AbortController();
    call.on('cancelled', () => controller.abort());
    const context = contextOf(call, controller.signal);
    pump(call, handler(call.request, context), controller.signal).then(
      () => call.end(),
      (error: unknown) => {
        // A failing stream must emit the status: destroying the call leaves the client hanging.
        if (controller.signal.aborted) call.end();
        else call.emit('error', toStatus(error, context, call.getPath(), environment.log, sampled));
      },
    );
  };
}

async function pump<Request, Response>(
  call: ServerWritableStream<Request, Response>,
  responses: AsyncIterable<Response>,
  signal: AbortSignal,
): Promise<void> {
  for await (const response of responses) {
    if (signal.aborted) return;
    if (!call.write(response)) await drained(call, signal);
  }
}

function drained(call: ServerWritableStream<unknown, unknown>, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      call.off('drain', done);
      signal.removeEventListener('abort', done);
      resolve();
    };
    call.on('drain', done);
    signal.addEventListener('abort', done);
  });
}

/** The status that a caller sees of an error; what it must not see goes to the log. */
function toStatus(
  error: unknown,
  context: CallContext,
  method: string,
  log: Log,
  sampled: LogSampler,
): Partial<StatusObject> & Error {
  if (error instanceof RpcError) return statusOf(error.code, error.message);
  if (error instanceof QueryTimeout) return statusOf(status.DEADLINE_EXCEEDED, 'the query ran out of time');
  sampled(messageOf(error), (left_out) =>
    log.error(
      { request_id: context.request_id, method, err: error, ...left_out },
      `call failed: ${messageOf(error)}`,
    ),
  );
  if (error instanceof DatabaseUnavailable)
    return statusOf(status.UNAVAILABLE, 'the database does not answer');
  return statusOf(status.INTERNAL, 'internal error');
}

function statusOf(code: status, text: string): Partial<StatusObject> & Error {
  const details = text.length > maxDetails ? `${text.slice(0, maxDetails)}...` : text;
  const metadata = new Metadata();
  metadata.set(answeredKey, '1');
  return Object.assign(new Error(details), { code, details, metadata });
}

/** A service to serve: its generated definition and its handlers. */
export interface ServedService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
  /** Names of the methods that change something: not everybody may call them from another process. */
  readonly changing?: readonly string[];
  /** Called with each stream that is refused because there are too many (GRPC_MAX_STREAMS). */
  readonly onStreamsFull?: () => void;
}

/** Counts the streams of a service that are refused. */
export const streamsFull =
  (service: string, { metrics }: HandlerEnvironment): (() => void) =>
  () =>
    metrics.limits.inc({ service, limit: 'GRPC_MAX_STREAMS' });

type Handler = (
  call: ServerUnaryCall<unknown, unknown>,
  callback: (error: Partial<StatusObject>) => void,
) => void;

type StreamHandler = (call: ServerWritableStream<unknown, unknown>) => void;

/** The methods that stream data, each a message of megabytes for a caller who does not read; not those that watch heights. */
const streamsData = /^stream/;

/** The handlers of a service for callers from elsewhere: those that change something ask who calls, and streams are bounded. */
function guarded(
  { implementation, changing = [], onStreamsFull = () => {} }: ServedService,
  control: Control,
  streams: StreamBound,
): UntypedServiceImplementation {
  const bounded =
    (handler: StreamHandler): StreamHandler =>
    (call) => {
      const end = streams.begin(call.getPeer());
      if (end === undefined) {
        onStreamsFull();
        call.emit('error', statusOf(status.RESOURCE_EXHAUSTED, 'too many streams (GRPC_MAX_STREAMS)'));
        return;
      }
      for (const over of ['close', 'finish', 'error', 'cancelled']) call.once(over, end);
      handler(call);
    };
  const guard =
    (handler: Handler): Handler =>
    (call, callback) => {
      try {
        checkControl(control, call.getPeer(), call.metadata.get(tokenKey)[0]);
      } catch (error) {
        const answer = statusOf((error as RpcError).code, messageOf(error));
        // Only a unary call has a callback.
        if (callback === undefined) call.emit('error', answer);
        else callback(answer);
        return;
      }
      handler(call, callback);
    };
  const guards = changing.map((name) => [name, guard(implementation[name] as unknown as Handler)]);
  const bounds = Object.keys(implementation)
    .filter((name) => streamsData.test(name))
    .map((name) => [name, bounded(implementation[name] as unknown as StreamHandler)]);
  return { ...implementation, ...Object.fromEntries([...guards, ...bounds]) };
}

/** A running gRPC server. */
export interface RpcServer {
  /** host:port of the first address, with the real port. */
  readonly address: string;
  /** Tells health checks whether the server is ready for calls. */
  setServing(serving: boolean): void;
  /** Tells health checks that ask for a service by its name whether that is ready. */
  showReadiness(name: string, readiness: Readiness): void;
  /** Refuses new calls, waits up to `grace_ms` for running ones, then ends them. */
  close(grace_ms: number): Promise<void>;
}

/** Opens an address. @returns its port. @throws UserError when it is taken. */
export function bind(server: Server, address: string, credentials: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) =>
    server.bindAsync(address, credentials, (error, port) =>
      error ? reject(cannotListen(error, address)) : resolve(port),
    ),
  );
}

/**
 * Serves gRPC services with health checking and reflection.
 *
 * @param addresses what to listen on: `host:port` (port 0 for any) or `unix:/path`; all or none.
 */
export async function serveRpc(
  services: readonly ServedService[],
  addresses: readonly string[],
  {
    server: credentials,
    max_connection_age_ms,
    is_mutual,
    token,
    max_request_bytes,
    max_streams,
  }: Transport = plainTransport,
): Promise<RpcServer> {
  // What fails is thrown and logged here; grpc-js would print it to the console as well.
  if (process.env['GRPC_VERBOSITY'] === undefined) setLogVerbosity(logVerbosity.NONE);
  const server = new Server({
    'grpc.max_receive_message_length': max_request_bytes,
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_permit_without_calls': 1,
    ...(max_connection_age_ms === 0
      ? {}
      : // What runs goes on, however long: a stream of blocks has no end. New calls take a new connection.
        { 'grpc.max_connection_age_ms': max_connection_age_ms }),
  });
  const trusts_all = is_mutual || addresses.every((address) => address.startsWith('unix:'));
  const streams = createStreamBound(max_streams);
  for (const service of services)
    server.addService(service.definition, guarded(service, { token, trusts_all }, streams));
  const health = new HealthImplementation({ '': 'NOT_SERVING' });
  const followed: FollowedReadiness[] = [];
  health.addToServer(server as never);
  addReflection(server);

  const ports: number[] = [];
  try {
    for (const address of addresses) ports.push(await bind(server, address, credentials));
  } catch (error) {
    server.forceShutdown(); // the addresses before it are open
    throw error;
  }
  const first = addresses[0] ?? '';
  return {
    address: first.startsWith('unix:') ? first : first.replace(/:\d+$/, `:${ports[0]}`),
    showReadiness: (name, readiness) => {
      followed.push(followReadiness(health, { [name]: readiness }));
    },
    setServing: (serving) => health.setStatus('', serving ? 'SERVING' : 'NOT_SERVING'),
    close: (grace_ms) =>
      new Promise((resolve) => {
        for (const one of followed) one.stop();
        const timer = setTimeout(() => {
          server.forceShutdown();
          // A connection that has not finished its handshake is none that the library could end.
          resolve();
        }, grace_ms);
        server.tryShutdown(() => {
          clearTimeout(timer);
          resolve();
        });
      }),
  };
}
