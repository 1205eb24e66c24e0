import { checkTransport } from '../common/rpc/transport.js';
import {
  asInteger,
  asOneOf,
  asText,
  type RightValues,
  type Settings,
  type ValuesOf,
} from '../common/runtime/config.js';
import {
  connectionSettings,
  logSettings,
  serverSettings,
  tableSettings,
  transportSettings,
} from '../common/runtime/settings.js';
import { operatorSettings } from './operator/config.js';
import { checkJobPods } from './operator/job-settings.js';
import { signingSettings } from './program/config.js';

/** Every setting of the scoring operator that runs alone; what it scores stands in the program's file. */
export const scoringSettings = {
  ...logSettings,
  ...tableSettings,
  ...serverSettings,
  ...transportSettings,
  ...connectionSettings,
  ...signingSettings,
  SCORING_PROGRAM: {
    doc: 'Path of the program: YAML or JSON with the L1, the rollup, the contract, the policy and the rules. May be unset where KUBERNETES_OPERATOR is true.',
    default: '',
    parse: asText,
  },
  ROLE: {
    doc: 'What this process does: all (run the program, and answer calls; one process) or serve (answer calls; any number).',
    default: 'all',
    parse: asOneOf('all', 'serve'),
  },
  ...operatorSettings,
  GRPC_PORT: { doc: 'Port of gRPC; 0 for any free one.', default: '7005', parse: asInteger(0, 65_535) },
} satisfies Settings;

export type ScoringConfig = ValuesOf<typeof scoringSettings>;

/** What settings have to be together. */
export function checkScoring(values: RightValues<typeof scoringSettings>): string[] {
  const { KUBERNETES_OPERATOR, SCORING_PROGRAM, ROLE, JOB_IMAGE, CLICKHOUSE_URL } = values;
  const mistakes = checkTransport(values);
  if (SCORING_PROGRAM === '' && !KUBERNETES_OPERATOR)
    mistakes.push(
      'SCORING_PROGRAM is not set: must be the path of a program, unless KUBERNETES_OPERATOR is true',
    );
  if (KUBERNETES_OPERATOR && JOB_IMAGE === '')
    mistakes.push(
      'JOB_IMAGE is not set: with KUBERNETES_OPERATOR it has to be the image of the pods of Jobs',
    );
  if (KUBERNETES_OPERATOR && CLICKHOUSE_URL === '')
    mistakes.push('CLICKHOUSE_URL is not set: the operator reads the tables that the Jobs write');
  mistakes.push(...checkJobPods(values, Boolean(values.JOB_CA_CONFIGMAP || values.JOB_CA_SECRET)));
  // The Jobs write under a Lease that this process does not take.
  if (KUBERNETES_OPERATOR && SCORING_PROGRAM !== '' && ROLE === 'all')
    mistakes.push('ROLE is all: with KUBERNETES_OPERATOR the Jobs run programs, so it has to be serve');
  return mistakes;
}

/** Every setting of a Job that scores or finalizes. */
export const jobSettings = {
  ...logSettings,
  ...tableSettings,
  ...transportSettings,
  ...signingSettings,
  SCORING_PROGRAM: {
    doc: 'Path of the program: YAML or JSON. Either this or SCORING_PROGRAM_TEXT.',
    default: '',
    parse: asText,
  },
  SCORING_PROGRAM_TEXT: {
    doc: 'The program itself, as the operator gives it to a Job.',
    default: '',
    parse: asText,
  },
  LEASE_NAME: {
    doc: 'Name of the Kubernetes Lease that is held while txs may be sent. Unset: none, so that nothing else may send with the key.',
    default: '',
    parse: asText,
  },
  LEASE_NAMESPACE: { doc: 'Namespace of that Lease.', default: 'default', parse: asText },
  LEASE_HOLDER: {
    doc: 'Name of this holder; default: the host and the process.',
    default: '',
    parse: asText,
  },
  LEASE_SECONDS: {
    doc: 'After how long without a sign of life of its holder the Lease is taken over.',
    default: '30',
    parse: asInteger(2, 600),
  },
  LEASE_WAIT_SECONDS: {
    doc: 'How long a Lease that another holds is waited for; then the Job leaves, to be tried again.',
    default: '90',
    parse: asInteger(0, 3_600),
  },
} satisfies Settings;
