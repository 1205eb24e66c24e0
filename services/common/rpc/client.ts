import {
  type CallOptions,
  type ChannelCredentials,
  type Client,
  type ClientReadableStream,
  InterceptingCall,
  type Interceptor,
  Metadata,
  makeGenericClientConstructor,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { service as definition } from 'grpc-health-check';
import { RpcError } from '../runtime/errors.js';
import { answeredKey, clientKey, requestIdKey } from './context.js';
import { tokenKey } from './control.js';
import { maxMessageBytes } from './server.js';
import { type ClientSecurity, plainTransport } from './transport.js';

/** What a call carries besides its request. */
export interface CallSettings {
  /** When to stop waiting, in milliseconds since the epoch. */
  readonly deadline?: number | undefined;
  readonly request_id?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The client of the HTTP API behind the call. */
  readonly client?: string | undefined;
}

/** Options of every channel: big messages, quick reconnects, no proxy between services. */
const channelOptions = {
  'grpc.max_receive_message_length': maxMessageBytes,
  'grpc.max_send_message_length': maxMessageBytes,
  'grpc.initial_reconnect_backoff_ms': 100,
  'grpc.max_reconnect_backoff_ms': 2_000,
  'grpc.keepalive_time_ms': 30_000,
  'grpc.dns_min_time_between_resolutions_ms': 2_000,
  // grpc-js would take the proxy that is meant for what is outside.
  'grpc.enable_http_proxy': 0,
};

/** Calls go to all replicas in turn. */
const spread = { loadBalancingConfig: [{ round_robin: {} }] };

type ClientConstructor<C> = new (address: string, credentials: ChannelCredentials, options?: object) => C;

/**
 * A client of a generated service. The library sends a call that never reached a server again; one that was under way is
 * not sent again, since it may be what took the server down.
 *
 * @param address `host:port`, `dns:///name:port` (all its addresses are used) or `unix:/path`.
 */
export function connectRpc<C extends Client>(
  Constructor: ClientConstructor<C>,
  address: string,
  { credentials, server_name, token }: ClientSecurity = plainTransport.client,
): C {
  return new Constructor(address, credentials, {
    ...channelOptions,
    'grpc.service_config': JSON.stringify(spread),
    ...(server_name === undefined ? {} : { 'grpc.ssl_target_name_override': server_name }),
    ...(token === undefined || token === '' ? {} : { interceptors: [sending(token)] }),
  });
}

/** Sends the token with every call. */
const sending =
  (token: string): Interceptor =>
  (options, nextCall) =>
    new InterceptingCall(nextCall(options), {
      start(metadata, listener, next) {
        metadata.set(tokenKey, token);
        next(metadata, listener);
      },
    });

/** A unary method of a generated client, bound to it. */
export type UnaryMethod<Request, Response> = (
  request: Request,
  metadata: Metadata,
  options: Partial<CallOptions>,
  callback: (error: ServiceError | null, response: Response) => void,
) => { cancel(): void };

type StreamMethod<Request, Response> = (
  request: Request,
  metadata?: Metadata,
  options?: Partial<CallOptions>,
) => ClientReadableStream<Response>;

/**
 * Calls a unary method: `callRpc(client.getBlock.bind(client), request, {deadline})`.
 *
 * @throws RpcError with the status the server gave, or UNAVAILABLE when it was not reached.
 */
export function callRpc<Request, Response>(
  method: UnaryMethod<Request, Response>,
  request: Request,
  settings: CallSettings = {},
): Promise<Response> {
  if (settings.signal?.aborted)
    return Promise.reject(new RpcError(status.CANCELLED, 'the caller no longer waits'));
  return new Promise((resolve, reject) => {
    const call = method(request, metadataOf(settings), optionsOf(settings), (error, response) => {
      settings.signal?.removeEventListener('abort', cancel);
      if (error) reject(fromServiceError(error));
      else resolve(response);
    });
    const cancel = (): void => call.cancel();
    settings.signal?.addEventListener('abort', cancel);
  });
}

/**
 * Opens a server stream and yields its messages; leaving the loop cancels the call.
 *
 * @throws RpcError when the stream ends with a status other than OK.
 */
export async function* streamRpc<Request, Response>(
  method: StreamMethod<Request, Response>,
  request: Request,
  settings: CallSettings = {},
): AsyncGenerator<Response, void, undefined> {
  if (settings.signal?.aborted) return;
  const call = method(request, metadataOf(settings), optionsOf(settings));
  const cancel = (): void => call.cancel();
  settings.signal?.addEventListener('abort', cancel);
  // A handler in this process has begun already, and may have aborted the signal.
  if (settings.signal?.aborted) cancel();
  try {
    for await (const message of call) yield message as Response;
  } catch (error) {
    if (!settings.signal?.aborted) throw fromServiceError(error as ServiceError);
  } finally {
    settings.signal?.removeEventListener('abort', cancel);
    call.on('error', () => {}); // a cancelled call reports itself after nobody listens
    call.cancel();
  }
}

function metadataOf(settings: CallSettings): Metadata {
  const metadata = new Metadata();
  if (settings.request_id !== undefined) metadata.set(requestIdKey, settings.request_id);
  if (settings.client !== undefined) metadata.set(clientKey, settings.client);
  return metadata;
}

function optionsOf(settings: CallSettings): Partial<CallOptions> {
  return settings.deadline === undefined ? {} : { deadline: settings.deadline };
}

function fromServiceError(error: ServiceError): RpcError {
  return new RpcError((error.code ?? 2) as status, error.details || error.message, { cause: error });
}

/** What the library says of a call for which there was no connection. */
const neverSent = /^(\w+: )?No connection established|^Name resolution failed/;

/**
 * Whether a call that failed may be sent again without harm: it never left, or a handler ended it, so that it did not take
 * its process down. One whose connection broke while it was under way is not.
 */
export function maySendAgain(error: unknown): boolean {
  if (!(error instanceof RpcError) || error.code !== status.UNAVAILABLE) return false;
  const { metadata } = (error.cause ?? {}) as Partial<ServiceError>;
  return neverSent.test(error.message) || metadata?.get(answeredKey)[0] !== undefined;
}

const HealthClient = makeGenericClientConstructor(definition, 'grpc.health.v1.Health');

/**
 * Asks a server's grpc.health.v1.
 *
 * @param service the name of a service, or '' for the server as a whole.
 * @returns its status: SERVING, NOT_SERVING or UNKNOWN.
 * @throws RpcError when the server is not reached or does not know the name.
 */
export async function askHealth(
  address: string,
  service: string,
  { deadline, security }: { readonly deadline?: number; readonly security?: ClientSecurity } = {},
): Promise<string> {
  const client = connectRpc(HealthClient, address, security);
  const check = client['check'] as unknown as UnaryMethod<{ service: string }, { readonly status: string }>;
  try {
    return (await callRpc(check.bind(client), { service }, { deadline })).status;
  } finally {
    client.close();
  }
}
