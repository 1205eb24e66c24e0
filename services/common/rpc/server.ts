import {
  type handleServerStreamingCall,
  type handleUnaryCall,
  logVerbosity,
  Server,
  type ServerWritableStream,
  type ServiceDefinition,
  type StatusObject,
  setLogVerbosity,
  status,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { DatabaseUnavailable, QueryTimeout, QueryTooLarge } from '../clickhouse/database.js';
import { messageOf, RpcError } from '../runtime/errors.js';
import { createLogSampler, type Log, type LogSampler } from '../runtime/log.js';
import type { Metrics } from '../runtime/metrics.js';
import type { Readiness } from '../runtime/ops.js';
import type { Bell } from '../util/signal.js';
import { boundCalls, countLargeRequests, type OnLimit, type RpcLimit } from './bounds.js';
import { answeredStatus, type CallContext, contextOf } from './context.js';
import { controlCalls } from './control.js';
import { type FollowedReadiness, followReadiness } from './health.js';
import { addReflection } from './reflection.js';
import { bind, plainTransport, type Transport } from './transport.js';

/** The largest answer: a block of thousands of txs is one message. */
export const maxMessageBytes = 256 * 1024 * 1024;

/** What the handlers of a server share. */
export interface HandlerEnvironment {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** What the handlers of a service are made with that answers calls from tables which may be replaced. */
export interface ReaderEnvironment<Reader> extends HandlerEnvironment {
  /** What calls are answered from; taken once a call, so that a call sees one state of the tables. */
  readonly reader: () => Reader;
  /** Prefix of bech32 accounts. */
  readonly account_prefix: string;
  /** Ends the streams when the service stops, so that nobody waits for them. */
  readonly stopping: AbortSignal;
}

/** Tells how far tables are, now and whenever that changes. @param tell what is said of a head. */
export const watchHead = <Shown extends { readonly bell: Bell }, T>(
  { reader, stopping, ...environment }: ReaderEnvironment<{ readonly head: Shown }>,
  tell: (head: Shown) => T,
): handleServerStreamingCall<object, T> =>
  streaming(environment, async function* (_, { signal }) {
    const ended = AbortSignal.any([signal, stopping]);
    while (!ended.aborted) {
      const { head } = reader();
      const rung = head.bell.count;
      yield tell(head);
      await head.bell.heard(rung, ended);
    }
  });

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
  if (error instanceof RpcError) return answeredStatus(error.code, error.message);
  if (error instanceof QueryTimeout)
    return answeredStatus(status.DEADLINE_EXCEEDED, 'the query ran out of time');
  if (error instanceof QueryTooLarge) return answeredStatus(status.RESOURCE_EXHAUSTED, error.message);
  sampled(messageOf(error), (left_out) =>
    log.error(
      { request_id: context.request_id, method, err: error, ...left_out },
      `call failed: ${messageOf(error)}`,
    ),
  );
  if (error instanceof DatabaseUnavailable)
    return answeredStatus(status.UNAVAILABLE, 'the database does not answer');
  return answeredStatus(status.INTERNAL, 'internal error');
}

/** A service to serve: its generated definition and its handlers. */
export interface ServedService {
  readonly definition: ServiceDefinition;
  readonly implementation: UntypedServiceImplementation;
  /** Names of the methods that change something: not everybody may call them from another process. */
  readonly changing?: readonly string[];
  /** Called with each call that a bound refuses. */
  readonly onLimit?: (limit: RpcLimit) => void;
}

/** Counts the calls of a service that are refused. */
export const countLimits =
  (service: string, { metrics }: HandlerEnvironment): ((limit: RpcLimit) => void) =>
  (limit) =>
    metrics.limits.inc({ service, limit });

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
    bounds,
  }: Transport = plainTransport,
): Promise<RpcServer> {
  // What fails is thrown and logged here; grpc-js would print it to the console as well.
  if (process.env['GRPC_VERBOSITY'] === undefined) setLogVerbosity(logVerbosity.NONE);
  const trusts_all = is_mutual || addresses.every((address) => address.startsWith('unix:'));
  const owners = new Map(
    services.flatMap((service) => Object.values(service.definition).map(({ path }) => [path, service])),
  );
  // Calls for health and reflection count for the first service.
  const onLimit: OnLimit = (path, limit) => (owners.get(path) ?? services[0])?.onLimit?.(limit);
  const changing = new Set(
    services.flatMap(({ definition, changing = [] }) => changing.map((name) => definition[name]?.path)),
  );
  const server = new Server({
    interceptors: [
      countLargeRequests(onLimit),
      boundCalls(bounds, (path) => owners.has(path), onLimit),
      controlCalls({ token, trusts_all }, changing),
    ],
    'grpc.max_concurrent_streams': bounds.max_calls + bounds.max_streams,
    'grpc.max_receive_message_length': max_request_bytes,
    'grpc.max_send_message_length': maxMessageBytes,
    'grpc.keepalive_time_ms': 30_000,
    'grpc.keepalive_permit_without_calls': 1,
    ...(max_connection_age_ms === 0
      ? {}
      : // What runs goes on, however long: a stream of blocks has no end. New calls take a new connection.
        { 'grpc.max_connection_age_ms': max_connection_age_ms }),
  });
  for (const { definition, implementation } of services) server.addService(definition, implementation);
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
