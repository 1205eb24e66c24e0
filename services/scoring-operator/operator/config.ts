import { asBoolean, asInteger, asText, type Settings, type ValuesOf } from '../../common/config.js';
import { logSettings } from '../../common/settings.js';

/** A name that Kubernetes takes. */
function asName(text: string): string {
  if (!/^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$/.test(text))
    throw new Error('must be lower-case letters, digits, - and .');
  return text;
}

/** What the operator of ScoringPrograms needs. */
export const operatorSettings = {
  KUBERNETES_OPERATOR: {
    doc: 'Runs the ScoringPrograms of a Kubernetes namespace: makes their CronJobs and tells their status. The connection is the one that KUBECONFIG names, or that of the pod.',
    default: 'false',
    parse: asBoolean,
  },
  KUBERNETES_NAMESPACE: {
    doc: 'Namespace whose ScoringPrograms are run; default: that of the pod.',
    default: '',
    parse: (text: string): string => (text === '' ? '' : asName(text)),
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
  JOB_LOG_LEVEL: { ...logSettings.LOG_LEVEL, doc: 'LOG_LEVEL of the pods of Jobs.' },
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
