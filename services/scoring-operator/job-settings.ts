import { asInteger, asText, type Settings } from '../common/config.js';
import { logSettings, tableSettings, transportSettings } from '../common/settings.js';
import { signingSettings } from './program/config.js';

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
