import type { Settings } from '../../common/config.js';
import { list } from '../../common/json-schema.js';
import { asJson } from './json-setting.js';
import { asLabelValues, type Json } from './label-settings.js';
import { asOptionalName } from './names.js';
import { podSchemas } from './pod-schemas.js';

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
