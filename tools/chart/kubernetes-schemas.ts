import { podSchemas } from '../../services/scoring-operator/operator/pod-schemas.js';
import {
  annotationsSchema,
  countOrPercent,
  integer,
  labelsSchema,
  list,
  oneOf,
  open,
  orNull,
  ref,
  type Schema,
  strict,
  text,
  texts,
} from '../../services/scoring-operator/operator/setting-types.js';

const selector = strict({ matchLabels: texts, matchExpressions: list(open) });
const address: Schema = { type: 'string', anyOf: [{ format: 'ipv4' }, { format: 'ipv6' }] };
const name = text({ pattern: '^[a-z0-9]([-.a-z0-9]*[a-z0-9])?$', maxLength: 253 });
const port = { anyOf: [integer(1, 65_535), text({ minLength: 1 })] };

const probe = {
  failureThreshold: integer(1),
  initialDelaySeconds: integer(0),
  periodSeconds: integer(1),
  timeoutSeconds: integer(1),
};

/** Parts of Kubernetes' own objects that values take as they are. What lies deeper the API server checks. */
export const kubernetesSchemas: Readonly<Record<string, Schema>> = {
  ...podSchemas,
  labels: labelsSchema,
  annotations: annotationsSchema,
  hostAlias: strict({ ip: address, hostnames: list(text()) }, ['ip', 'hostnames']),
  probe: strict({ ...probe, successThreshold: integer(1, 1), terminationGracePeriodSeconds: integer(1) }),
  readinessProbe: strict({ ...probe, successThreshold: integer(1) }),
  container: {
    type: 'object',
    required: ['name', 'image'],
    properties: { name: text({ minLength: 1 }), image: text({ minLength: 1 }) },
  },
  topologySpreadConstraint: strict(
    {
      labelSelector: selector,
      matchLabelKeys: list(text()),
      maxSkew: integer(1),
      minDomains: integer(1),
      nodeAffinityPolicy: oneOf('Honor', 'Ignore'),
      nodeTaintsPolicy: oneOf('Honor', 'Ignore'),
      topologyKey: text({ minLength: 1 }),
      whenUnsatisfiable: oneOf('DoNotSchedule', 'ScheduleAnyway'),
    },
    ['maxSkew', 'topologyKey', 'whenUnsatisfiable'],
  ),
  strategy: strict({
    type: oneOf('RollingUpdate', 'Recreate'),
    rollingUpdate: orNull(strict({ maxSurge: countOrPercent, maxUnavailable: countOrPercent })),
  }),
  pullSecret: { anyOf: [name, strict({ name }, ['name'])] },
  peer: strict({
    podSelector: selector,
    namespaceSelector: selector,
    ipBlock: strict({ cidr: text(), except: list(text()) }, ['cidr']),
  }),
  ingressRule: strict({ from: list(ref('peer')), ports: list(ref('policyPort')) }),
  egressRule: strict({ to: list(ref('peer')), ports: list(ref('policyPort')) }),
  policyPort: strict({ port, endPort: integer(1, 65_535), protocol: oneOf('TCP', 'UDP', 'SCTP') }),
};
