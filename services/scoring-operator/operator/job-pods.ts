import type { RightValues, Settings, ValuesOf } from '../../common/config.js';
import { checkJobExtras, jobExtraSettings } from './job-extras.js';
import { checkJobNetwork, jobNetworkSettings } from './job-network.js';
import { jobPlacementSettings } from './job-placement.js';
import { asJson } from './json-setting.js';
import { asAnnotations, asFreeLabels, type Json } from './label-settings.js';
import { asNames, asWord } from './names.js';
import { podSchemas } from './pod-schemas.js';

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
