import { isIP } from 'node:net';
import type { MigrationMode } from '../../common/clickhouse/migrate.js';
import type { RightValues, Settings, ValuesOf } from '../../common/runtime/config.js';
import type { OperatorConfig } from './config.js';
import { checkJobExtras, jobExtraSettings } from './job-extras.js';
import { podSchemas } from './pod-schemas.js';
import {
  asAnnotations,
  asFreeLabels,
  asJson,
  asLabelValues,
  asListByKey,
  asNames,
  asOptionalName,
  asWord,
  type Json,
  list,
} from './setting-types.js';

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

/** Where the pods of Jobs run, and by what. */
export const jobPlacementSettings = {
  JOB_NODE_SELECTOR: {
    doc: 'Labels of nodes that Jobs may run on as JSON, where a ScoringProgram has none.',
    default: '',
    parse: asLabelValues,
  },
  JOB_TOLERATIONS: {
    doc: 'Taints that Jobs tolerate as a JSON list, where a ScoringProgram has none.',
    default: '',
    parse: asJson<readonly Json[]>(list(podSchemas.toleration), 'a list of tolerations'),
  },
  JOB_AFFINITY: {
    doc: 'Affinity of the pods of Jobs as JSON, besides the node selector and the tolerations that a ScoringProgram may have.',
    default: '',
    parse: asJson<Json>(podSchemas.affinity, 'an affinity'),
  },
  JOB_PRIORITY_CLASS: {
    doc: 'Priority class of the pods of Jobs, where a ScoringProgram has none.',
    default: '',
    parse: asOptionalName,
  },
  JOB_RUNTIME_CLASS: {
    doc: 'Runtime class of the pods of Jobs, where a ScoringProgram has none.',
    default: '',
    parse: asOptionalName,
  },
  JOB_SCHEDULER: {
    doc: 'Scheduler of the pods of Jobs, where a ScoringProgram has none. Unset: that of the cluster.',
    default: '',
    parse: asOptionalName,
  },
} satisfies Settings;

/** An entry of /etc/hosts. */
type HostAlias = Readonly<{ ip: string; hostnames: readonly string[] }>;
type DnsConfig = Readonly<{ nameservers?: readonly string[] }> & Readonly<Record<string, unknown>>;

const asList = asListByKey<HostAlias, 'ip'>(podSchemas.hostAlias, 'ip', 'a list of entries of /etc/hosts');

function asHostAliases(given: string): readonly HostAlias[] | undefined {
  const aliases = asList(given);
  const wrong = aliases?.filter(({ ip }) => isIP(ip) === 0).map(({ ip }) => ip) ?? [];
  if (wrong.length > 0) throw new Error(`must have addresses, which these are not: ${wrong.join(', ')}`);
  return aliases;
}

/** How the pods of Jobs find others by their names. */
export const jobNetworkSettings = {
  JOB_DNS_POLICY: {
    doc: 'DNS policy of the pods of Jobs: ClusterFirst, ClusterFirstWithHostNet, Default or None. Unset: as Kubernetes does, ClusterFirst. None needs nameservers in JOB_DNS_CONFIG.',
    default: '',
    parse: asWord('ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'),
  },
  JOB_DNS_CONFIG: {
    doc: 'DNS settings of the pods of Jobs as JSON, such as `{"nameservers":["10.0.0.53"],"options":[{"name":"ndots","value":"2"}]}`.',
    default: '',
    parse: asJson<DnsConfig>(podSchemas.dnsConfig, 'DNS settings'),
  },
  JOB_HOST_ALIASES: {
    doc: 'Entries of /etc/hosts in the pods of Jobs as a JSON list, such as `[{"ip":"10.0.0.1","hostnames":["node"]}]`.',
    default: '',
    parse: asHostAliases,
  },
} satisfies Settings;

/** What these settings have to be together. @returns mistakes */
export function checkJobNetwork(values: RightValues<typeof jobNetworkSettings>): string[] {
  // Absent: it was wrong itself.
  if (values.JOB_DNS_POLICY !== 'None' || !Object.hasOwn(values, 'JOB_DNS_CONFIG')) return [];
  return (values.JOB_DNS_CONFIG?.nameservers ?? []).length > 0
    ? []
    : ['JOB_DNS_POLICY is None: JOB_DNS_CONFIG must have nameservers then'];
}

/** What pods of Jobs have where a ScoringProgram does not say so itself; what it says stands in its place as a whole. */
export const jobPodSettings = {
  JOB_RESOURCES: {
    doc: 'Requests and limits of Jobs as JSON, such as `{"requests":{"memory":"256Mi"}}`, where a ScoringProgram has none.',
    default: '',
    parse: asJson<Json>(podSchemas.resources, 'requests and limits'),
  },
  JOB_POD_SECURITY_CONTEXT: {
    doc: 'Security context of the pods of Jobs as JSON. Keys and certificates are readable to the group `fsGroup` only. `{"runAsNonRoot":true}` leaves user and groups to the cluster, where it sets all of them, as OpenShift does.',
    default:
      '{"runAsNonRoot":true,"runAsUser":1000,"runAsGroup":1000,"fsGroup":1000,"seccompProfile":{"type":"RuntimeDefault"}}',
    parse: asJson<Json>(podSchemas.podSecurityContext, 'the security context of a pod'),
  },
  JOB_SECURITY_CONTEXT: {
    doc: 'Security context of the container of Jobs as JSON.',
    default:
      '{"allowPrivilegeEscalation":false,"readOnlyRootFilesystem":true,"capabilities":{"drop":["ALL"]}}',
    parse: asJson<Json>(podSchemas.securityContext, 'the security context of a container'),
  },
  JOB_POD_LABELS: {
    doc: 'Labels of the pods of Jobs as JSON, besides those that the operator sets.',
    default: '',
    parse: asFreeLabels,
  },
  JOB_POD_ANNOTATIONS: {
    doc: 'Annotations of the pods of Jobs as JSON.',
    default: '',
    parse: asAnnotations,
  },
  ...jobPlacementSettings,
  ...jobNetworkSettings,
  ...jobExtraSettings,
  JOB_IMAGE_PULL_POLICY: {
    doc: 'When the kubelet pulls the image of Jobs: Always, IfNotPresent or Never. Unset: as Kubernetes does by its tag.',
    default: '',
    parse: asWord('Always', 'IfNotPresent', 'Never'),
  },
  JOB_IMAGE_PULL_SECRETS: {
    doc: 'Secrets for pulling JOB_IMAGE, separated by commas, in every namespace of ScoringPrograms. An image that a ScoringProgram names itself is pulled with those of its ServiceAccount.',
    default: '',
    parse: asNames,
  },
} satisfies Settings;

export type JobPodConfig = ValuesOf<typeof jobPodSettings>;

/** What these settings, and those of authorities, have to be together. @returns mistakes */
export const checkJobPods = (
  values: RightValues<typeof jobPodSettings>,
  hasAuthorities: boolean,
): string[] => [...checkJobNetwork(values), ...checkJobExtras(values, hasAuthorities)];
