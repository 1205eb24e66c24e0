import { asBoolean, asInteger, asText, type Settings, type ValuesOf } from '../../common/runtime/config.js';
import { logSettings } from '../../common/runtime/settings.js';
import { jobPodSettings } from './job-settings.js';
import { asName, asNames, asOptionalName } from './setting-types.js';

/** Names of namespaces, or `all`. */
const asNamespaces = (text: string): 'all' | readonly string[] =>
  text === 'all' ? 'all' : [...new Set(asNames(text))];

/** What the operator of ScoringPrograms needs. */
export const operatorSettings = {
  KUBERNETES_OPERATOR: {
    doc: 'Runs the ScoringPrograms of one or more Kubernetes namespaces: makes their CronJobs and tells their status. The connection is the one that KUBECONFIG names, or that of the pod.',
    default: 'false',
    parse: asBoolean,
  },
  KUBERNETES_NAMESPACE: {
    doc: 'Namespace of the operator itself, where its Lease is; default: that of the pod.',
    default: '',
    parse: asOptionalName,
  },
  WATCH_NAMESPACES: {
    doc: "Namespaces whose ScoringPrograms are run, separated by commas, or `all`; default: the operator's own. In each of them the operator needs its Role (`rbac/operator.yaml`); for `all`, the same rules as a ClusterRole.",
    default: '',
    parse: asNamespaces,
  },
  JOB_IMAGE: {
    doc: 'Image of the pods of Jobs, where a ScoringProgram names no other one: the one that this process runs in.',
    default: '',
    parse: asText,
  },
  JOB_SERVICE_ACCOUNT: {
    doc: 'ServiceAccount of the pods of Jobs. It may get, create and update Leases, and nothing else.',
    default: 'weft-scoring-job',
    parse: asName,
  },
  JOB_LEASE_NAMESPACE: {
    doc: "Namespace of the Leases of signers, of which a Job holds the one of its signer while it may send. Default: the operator's own, so that programs of all its namespaces share them. Operators that run programs of one signer have to name the same. The ServiceAccounts of Jobs need their Role there.",
    default: '',
    parse: asOptionalName,
  },
  JOB_TLS_SECRET: {
    doc: 'Secret with tls.crt, tls.key and ca.crt, in every namespace of ScoringPrograms: the certificate that Jobs show to services that want one. Unset: Jobs speak to them in plain text.',
    default: '',
    parse: asOptionalName,
  },
  JOB_CA_CONFIGMAP: {
    doc: 'ConfigMap, in every namespace of ScoringPrograms, with certificates of authorities that Jobs believe besides the usual ones.',
    default: '',
    parse: asOptionalName,
  },
  JOB_CA_SECRET: {
    doc: 'Secret with them, in place of the ConfigMap.',
    default: '',
    parse: asOptionalName,
  },
  JOB_CA_KEY: {
    doc: 'Key of it. Jobs get no other one; one whose Secret or ConfigMap lacks it does not start.',
    default: 'ca.crt',
    parse: asText,
  },
  JOB_LOG_LEVEL: { ...logSettings.LOG_LEVEL, doc: 'LOG_LEVEL of the pods of Jobs.' },
  ...jobPodSettings,
  LEADER_LEASE_NAME: {
    doc: 'Name of the Lease that decides which of several operators works.',
    default: 'weft-scoring-operator',
    parse: asName,
  },
  LEADER_LEASE_SECONDS: {
    doc: 'After how long without a sign of life of the leader another operator takes over. The leader itself gives up after two thirds of it.',
    default: '15',
    parse: asInteger(2, 600),
  },
  RELIST_SECONDS: {
    doc: 'How often everything is listed and compared with what watches have told, in seconds.',
    default: '300',
    parse: asInteger(1, 86_400),
  },
} satisfies Settings;

export type OperatorConfig = ValuesOf<typeof operatorSettings>;
