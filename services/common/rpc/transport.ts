import { type ChannelCredentials, credentials, experimental, ServerCredentials } from '@grpc/grpc-js';
import type { RightValues, ValuesOf } from '../config.js';
import type { Log } from '../log.js';
import type { Metrics } from '../metrics.js';
import type { connectionSettings, transportSettings } from '../settings.js';
import { watchCertificates } from './certificates.js';

/** How a client proves who it is, and whom it believes. */
export interface ClientSecurity {
  readonly credentials: ChannelCredentials;
  /** Name that the certificate of every server must have; undefined for the one in the address. */
  readonly server_name?: string | undefined;
}

/** How the processes of a deployment talk: in plain text, or each with a certificate of one CA. */
export interface Transport {
  readonly server: ServerCredentials;
  /** After how long a server asks its clients to connect again, in milliseconds; 0 for never. */
  readonly max_connection_age_ms: number;
  readonly client: ClientSecurity;
  close(): void;
}

/** Nothing is encrypted, nobody is asked who they are. */
export const plainTransport: Transport = {
  server: ServerCredentials.createInsecure(),
  max_connection_age_ms: 0,
  client: { credentials: credentials.createInsecure() },
  close: () => {},
};

/** What these settings have to be together. */
export function checkTransport(values: RightValues<typeof transportSettings>): string[] {
  const names = ['GRPC_TLS_CERT_FILE', 'GRPC_TLS_KEY_FILE', 'GRPC_TLS_CA_FILE'] as const;
  const unset = names.filter((name) => values[name] === '');
  if (unset.length === 0 || unset.length === names.length) return [];
  return [`${unset.join(' and ')} not set: ${names.join(', ')} are set all three, or none`];
}

/**
 * Opens what the settings say; those of servers are absent where nothing is served.
 *
 * @throws UserError when a file cannot be used.
 */
export function openTransport(
  config: ValuesOf<typeof transportSettings> & Partial<ValuesOf<typeof connectionSettings>>,
  log: Log,
  metrics: Metrics,
): Transport {
  const max_connection_age_ms = config.MAX_CONNECTION_AGE_MS ?? 0;
  if (config.GRPC_TLS_CERT_FILE === '') return { ...plainTransport, max_connection_age_ms };
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
    max_connection_age_ms,
    server: experimental.createCertificateProviderServerCredentials(certificates, certificates, true),
    client: {
      credentials: experimental.createCertificateProviderChannelCredentials(certificates, certificates),
      server_name: config.GRPC_TLS_SERVER_NAME || undefined,
    },
    close: () => certificates.close(),
  };
}
