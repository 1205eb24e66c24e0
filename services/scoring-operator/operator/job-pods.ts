import { Ajv } from 'ajv';
import { asOneOf, type Settings, type ValuesOf } from '../../common/config.js';
import { list, type Schema, text } from '../../common/json-schema.js';
import { asName, asOptionalName } from './names.js';
import { podSchemas } from './pod-schemas.js';
import { labels as own } from './resource.js';

type Json = Readonly<Record<string, unknown>>;
type Texts = Readonly<Record<string, string>>;

/** A name with, or without, the domain of whoever has given it, as keys of labels and annotations are. */
const key = /^([a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?\/)?[A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?$/;
const labelValue = '^([A-Za-z0-9]([-._A-Za-z0-9]{0,61}[A-Za-z0-9])?)?$';
const named = (value: Schema): Schema => ({
  type: 'object',
  propertyNames: { pattern: key.source },
  additionalProperties: value,
});

/** Reads JSON of a shape; empty text is undefined. @throws Error that says what is wrong, all at once. */
function asJson<T>(schema: Schema, what: string): (given: string) => T | undefined {
  return (given) => {
    if (given === '') return undefined;
    let value: unknown;
    try {
      value = JSON.parse(given);
    } catch (error) {
      throw new Error(`must be ${what} as JSON: ${(error as Error).message}`);
    }
    const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
    if (!ajv.validate(schema, value))
      throw new Error(`must be ${what}: ${ajv.errorsText(ajv.errors, { dataVar: '' })}`);
    return withoutNulls(value) as T;
  };
}

/** Null takes away; what is applied to the API server has none. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutNulls(inner)]));
}

const asLabels = asJson<Texts>(named(text({ pattern: labelValue })), 'labels');

/** Labels that are not the operator's own, by which it finds its children. */
function asFreeLabels(given: string): Texts | undefined {
  const labels = asLabels(given);
  const taken = Object.values(own).filter((name) => labels?.[name] !== undefined);
  if (taken.length > 0) throw new Error(`must not have ${taken.join(', ')}: the operator sets that itself`);
  return labels;
}

/** Names of Secrets, separated by commas. */
function asNames(given: string): readonly string[] {
  const names = given.split(',').map((name) => name.trim());
  return names.filter((name) => name !== '').map(asName);
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
    parse: asJson<Texts>(named(text()), 'annotations'),
  },
  JOB_NODE_SELECTOR: {
    doc: 'Labels of nodes that Jobs may run on as JSON, where a ScoringProgram has none.',
    default: '',
    parse: asLabels,
  },
  JOB_TOLERATIONS: {
    doc: 'Taints that Jobs tolerate as a JSON list, where a ScoringProgram has none.',
    default: '',
    parse: asJson<readonly Json[]>(list(podSchemas.toleration), 'a list of tolerations'),
  },
  JOB_PRIORITY_CLASS: {
    doc: 'Priority class of the pods of Jobs, where a ScoringProgram has none.',
    default: '',
    parse: asOptionalName,
  },
  JOB_IMAGE_PULL_POLICY: {
    doc: 'When the kubelet pulls the image of Jobs: Always, IfNotPresent or Never. Unset: as Kubernetes does by its tag.',
    default: '',
    parse: (given: string) => (given === '' ? '' : asPullPolicy(given)),
  },
  JOB_IMAGE_PULL_SECRETS: {
    doc: 'Secrets for pulling JOB_IMAGE, separated by commas, in every namespace of ScoringPrograms. An image that a ScoringProgram names itself is pulled with those of its ServiceAccount.',
    default: '',
    parse: asNames,
  },
} satisfies Settings;

const pullPolicies = ['Always', 'IfNotPresent', 'Never'] as const;

function asPullPolicy(given: string): (typeof pullPolicies)[number] {
  const word = asOneOf(...pullPolicies.map((one) => one.toLowerCase()))(given);
  return pullPolicies.find((one) => one.toLowerCase() === word) ?? 'IfNotPresent';
}

export type JobPodConfig = ValuesOf<typeof jobPodSettings>;
