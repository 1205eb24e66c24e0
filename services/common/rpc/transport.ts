import { readFileSync } from 'node:fs';
import {
  type ChannelCredentials,
  credentials,
  experimental,
  type Server,
  ServerCredentials,
} from '@grpc/grpc-js';
import type { RightValues, ValuesOf } from '../runtime/config.js';
import { messageOf, UserError } from '../runtime/errors.js';
import type { Log } from '../runtime/log.js';
import type { Metrics } from '../runtime/metrics.js';
import { cannotListen } from '../runtime/network.js';
import type { connectionSettings, requestSettings, transportSettings } from '../runtime/settings.js';
import type { RpcBounds } from './bounds.js';
import { watchCertificates } from './certificates.js';

/** How a client proves who it is, and whom it believes. */
export interface ClientSecurity {
  readonly credentials: ChannelCredentials;
  /** Name that the certificate of every server must have; undefined for the one in the address. */
  readonly server_name?: string | undefined;
  /** Sent with every call, for those that change something. */
  readonly token?: string | undefined;
}

/** How the processes of a deployment talk: in plain text, or each with a certificate of one CA. */
export interface Transport {
  readonly server: ServerCredentials;
  /** After how long a server asks its clients to connect again, in milliseconds; 0 for never. */
  readonly max_connection_age_ms: number;
  readonly client: ClientSecurity;
  /** Whether both sides show certificates. */
  readonly is_mutual: boolean;
  /** Token of calls that change something; empty for none. */
  readonly token: string;
  /** Largest message that a server takes as a request. */
  readonly max_request_bytes: number;
  /** What the calls of a server are bounded by. */
  readonly bounds: RpcBounds;
  close(): void;
}

/** Nothing is encrypted, nobody is asked who they are. */
export const plainTransport: Transport = {
  server: ServerCredentials.createInsecure(),
  max_connection_age_ms: 0,
  client: { credentials: credentials.createInsecure() },
  is_mutual: false,
  token: '',
  max_request_bytes: 256 * 1024,
  bounds: { max_calls: 256, calls_at_once: 16, max_streams: 64, send_timeout_ms: 30_000 },
  close: () => {},
};

/** What these settings have to be together. */
export function checkTransport(values: RightValues<typeof transportSettings>): string[] {
  const names = ['GRPC_TLS_CERT_FILE', 'GRPC_TLS_KEY_FILE', 'GRPC_TLS_CA_FILE'] as const;
  const unset = names.filter((name) => values[name] === '');
  if (unset.length === 0 || unset.length === names.length) return [];
  return [`${unset.join(' and ')} not set: ${names.join(', ')} are set all three, or none`];
}

/** What a transport in plain text is told. */
type PlainSettings = Partial<ValuesOf<typeof connectionSettings> & ValuesOf<typeof requestSettings>>;

/** Plain text with the limits that the settings say. @throws UserError when the token cannot be read. */
export function openPlainTransport(config: PlainSettings): Transport {
  const token = tokenOf(config);
  return {
    ...plainTransport,
    max_connection_age_ms: config.MAX_CONNECTION_AGE_MS ?? 0,
    max_request_bytes:
      config.GRPC_MAX_REQUEST_KB === undefined
        ? plainTransport.max_request_bytes
        : config.GRPC_MAX_REQUEST_KB * 1024,
    bounds: {
      max_calls: config.GRPC_MAX_CALLS ?? plainTransport.bounds.max_calls,
      send_timeout_ms: config.GRPC_SEND_TIMEOUT_MS ?? plainTransport.bounds.send_timeout_ms,
      max_streams: config.GRPC_MAX_STREAMS ?? plainTransport.bounds.max_streams,
      calls_at_once: config.GRPC_CALLS_AT_ONCE ?? plainTransport.bounds.calls_at_once,
    },
    token,
    client: { ...plainTransport.client, token },
  };
}

/**
 * Opens what the settings say; those of servers are absent where nothing is served.
 *
 * @throws UserError when a file cannot be used.
 */
export function openTransport(
  config: ValuesOf<typeof transportSettings> & PlainSettings,
  log: Log,
  metrics: Metrics,
): Transport {
  const plain = openPlainTransport(config);
  if (config.GRPC_TLS_CERT_FILE === '') return plain;
  const certificates = watchCertificates(
    { certificate: config.GRPC_TLS_CERT_FILE, key: config.GRPC_TLS_KEY_FILE, ca: config.GRPC_TLS_CA_FILE },
    {
      reload_ms: config.GRPC_TLS_RELOAD_SECONDS * 1_000,
      log,
      onUse: (expires_at) =>
        metrics.certificateExpiry.set({ file: config.GRPC_TLS_CERT_FILE }, expires_at / 1_000),
    },
  );
  return {
    ...plain,
    is_mutual: true,
    server: experimental.createCertificateProviderServerCredentials(certificates, certificates, true),
    client: {
      credentials: experimental.createCertificateProviderChannelCredentials(certificates, certificates),
      server_name: config.GRPC_TLS_SERVER_NAME || undefined,
      token: plain.token,
    },
    close: () => certificates.close(),
  };
}

/** The token of calls that change something. @throws UserError when its file cannot be read. */
function tokenOf({ GRPC_TOKEN = '', GRPC_TOKEN_FILE = '' }: PlainSettings): string {
  if (GRPC_TOKEN_FILE === '') return GRPC_TOKEN;
  try {
    return readFileSync(GRPC_TOKEN_FILE, 'utf8').trim();
  } catch (cause) {
    throw new UserError(`GRPC_TOKEN_FILE cannot be read: ${messageOf(cause)}`, { cause });
  }
}

/** Opens an address. @returns its port. @throws UserError when it is taken. */
export function bind(server: Server, address: string, credentials: ServerCredentials): Promise<number> {
  return new Promise((resolve, reject) =>
    server.bindAsync(address, credentials, (error, port) =>
      error ? reject(cannotListen(error, address)) : resolve(port),
    ),
  );
}
