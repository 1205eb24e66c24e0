import type { MigrationMode } from '../../common/clickhouse/migrate.js';
import type { OperatorConfig } from './config.js';
import type { JobPodConfig } from './job-pods.js';

/** What the operator was told about the pods of Jobs. */
export interface JobDefaults {
  readonly image: string;
  readonly serviceAccountName: string;
  readonly logLevel: string;
  /** Where the Leases of signers are. */
  readonly leaseNamespace: string;
  /** Whether Jobs make tables, or leave that to somebody else, as the operator itself does. */
  readonly migrations: MigrationMode;
  /** What they have where a program does not say so. */
  readonly pods: JobPodConfig;
  /** Certificates of further authorities, as the source of a volume, and the file in it. */
  readonly ca?: { readonly volume: Readonly<Record<string, unknown>>; readonly file: string } | undefined;
  /** Where the certificate is that services want to see, and the name that theirs have; undefined: plain text. */
  readonly tls?: { readonly secretName: string; readonly serverName: string } | undefined;
}

/** Of the process that the operator is a part of. */
export interface JobConfig extends OperatorConfig {
  readonly GRPC_TLS_SERVER_NAME: string;
  readonly MIGRATIONS: MigrationMode;
}

/** What pods of Jobs are made with, by the settings of the operator. @param namespace that of the operator itself. */
export function jobDefaults(config: JobConfig, namespace: string): JobDefaults {
  const { JOB_TLS_SECRET, JOB_LEASE_NAMESPACE } = config;
  return {
    image: config.JOB_IMAGE,
    serviceAccountName: config.JOB_SERVICE_ACCOUNT,
    logLevel: config.JOB_LOG_LEVEL,
    leaseNamespace: JOB_LEASE_NAMESPACE || namespace,
    ca: authoritiesOf(config),
    tls:
      JOB_TLS_SECRET === ''
        ? undefined
        : { secretName: JOB_TLS_SECRET, serverName: config.GRPC_TLS_SERVER_NAME },
    migrations: config.MIGRATIONS,
    pods: config,
  };
}

/** What the file is called there, whatever its key. */
const authoritiesFile = 'ca.crt';

/** Where Jobs find certificates of further authorities; undefined without any. */
function authoritiesOf(config: OperatorConfig): JobDefaults['ca'] {
  const { JOB_CA_CONFIGMAP, JOB_CA_SECRET, JOB_CA_KEY } = config;
  // No other key comes into the pod: beside a CA's certificate its Secret may have the key that signs others.
  const items = [{ key: JOB_CA_KEY, path: authoritiesFile }];
  if (JOB_CA_SECRET !== '')
    return {
      volume: { secret: { secretName: JOB_CA_SECRET, defaultMode: 0o440, items } },
      file: authoritiesFile,
    };
  if (JOB_CA_CONFIGMAP !== '')
    return {
      volume: { configMap: { name: JOB_CA_CONFIGMAP, defaultMode: 0o444, items } },
      file: authoritiesFile,
    };
  return undefined;
}
