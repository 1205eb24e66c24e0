import {
  type CallOptions,
  type ChannelCredentials,
  type Client,
  type ClientReadableStream,
  Metadata,
  type ServiceError,
  status,
} from '@grpc/grpc-js';
import { RpcError } from '../errors.js';
import { requestIdKey } from './context.js';
import { maxMessageBytes } from './server.js';
import { type ClientSecurity, plainTransport } from './transport.js';

/** What a call carries besides its request. */
export interface CallSettings {
  /** When to stop waiting, in milliseconds since the epoch. */
  readonly deadline?: number | undefined;
  readonly request_id?: string | undefined;
  readonly signal?: AbortSignal | undefined;
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

/**
 * Those that did not reach a replica are sent again, to another one: while replicas are replaced
 * a client hears that one is gone only once it is. Not when one call in ten fails: then more
 * calls do not help.
 */
const retrying = {
  ...spread,
  methodConfig: [
    {
      name: [{}],
      retryPolicy: {
        maxAttempts: 3,
        initialBackoff: '0.1s',
        maxBackoff: '0.4s',
        backoffMultiplier: 2,
        retryableStatusCodes: ['UNAVAILABLE'],
      },
    },
  ],
  retryThrottling: { maxTokens: 100, tokenRatio: 0.1 },
};

type ClientConstructor<C> = new (address: string, credentials: ChannelCredentials, options?: object) => C;

const connectWith =
  (service_config: object) =>
  <C extends Client>(
    Constructor: ClientConstructor<C>,
    address: string,
    { credentials, server_name }: ClientSecurity = plainTransport.client,
  ): C =>
    new Constructor(address, credentials, {
      ...channelOptions,
      'grpc.service_config': JSON.stringify(service_config),
      ...(server_name === undefined ? {} : { 'grpc.ssl_target_name_override': server_name }),
    });

/**
 * A client of a generated service.
 *
 * @param address `host:port`, `dns:///name:port` (all its addresses are used) or `unix:/path`.
 */
export const connectRpc = connectWith(spread);

/** The same, for a client that only reads: calls that reached nobody are sent again, twice. */
export const connectReader = connectWith(retrying);

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
  return metadata;
}

function optionsOf(settings: CallSettings): Partial<CallOptions> {
  return settings.deadline === undefined ? {} : { deadline: settings.deadline };
}

function fromServiceError(error: ServiceError): RpcError {
  return new RpcError((error.code ?? 2) as status, error.details || error.message, { cause: error });
}
