import { logLevels } from '../../services/common/runtime/log.js';
import { connectionSettings, serverSettings } from '../../services/common/runtime/settings.js';
import {
  boolean,
  countOrPercent,
  integer,
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
import { numberOf } from './setting-schema.js';

/** Name of an object, or nothing. */
export const objectName = text({ pattern: '^([a-z0-9]([-.a-z0-9]*[a-z0-9])?)?$', maxLength: 253 });

const service = {
  annotations: texts,
  labels: texts,
  ipFamilyPolicy: oneOf('', 'SingleStack', 'PreferDualStack', 'RequireDualStack'),
  ipFamilies: list(oneOf('IPv4', 'IPv6')),
};

/** What every component takes, and `defaults`. */
export const componentSchemas: Readonly<Record<string, Schema>> = {
  logLevel: oneOf(...logLevels),
  drainMs: numberOf(serverSettings.DRAIN_MS),
  shutdownGraceMs: numberOf(serverSettings.SHUTDOWN_GRACE_MS),
  terminationGracePeriodSeconds: orNull(integer(1)),
  maxConnectionAgeMs: numberOf(connectionSettings.MAX_CONNECTION_AGE_MS),
  extraEnv: list(ref('env')),
  extraEnvFrom: list(ref('envFrom')),
  extraVolumes: list(ref('volume')),
  extraVolumeMounts: list(ref('volumeMount')),
  initContainers: list(ref('container')),
  sidecars: list(ref('container')),
  annotations: texts,
  podAnnotations: ref('annotations'),
  podLabels: ref('labels'),
  resources: ref('resources'),
  podSecurityContext: ref('podSecurityContext'),
  securityContext: ref('securityContext'),
  tmpSizeLimit: text({ pattern: '^[0-9.]+[a-zA-Z]*$' }),
  startupProbe: ref('probe'),
  readinessProbe: ref('readinessProbe'),
  livenessProbe: ref('probe'),
  lifecycle: strict({ preStop: open, postStart: open, stopSignal: text() }),
  nodeSelector: ref('labels'),
  tolerations: list(ref('toleration')),
  affinity: ref('affinity'),
  topologySpreadConstraints: orNull(list(ref('topologySpreadConstraint'))),
  priorityClassName: objectName,
  runtimeClassName: objectName,
  schedulerName: objectName,
  hostAliases: list(ref('hostAlias')),
  dnsPolicy: oneOf('', 'ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'),
  dnsConfig: ref('dnsConfig'),
  revisionHistoryLimit: integer(0),
  progressDeadlineSeconds: integer(1),
  strategy: ref('strategy'),
  service: strict(service),
  pdb: strict({
    enabled: boolean,
    maxUnavailable: orNull(countOrPercent),
    minAvailable: orNull(countOrPercent),
    unhealthyPodEvictionPolicy: oneOf('AlwaysAllow', 'IfHealthyBudget'),
  }),
  autoscaling: strict({
    enabled: boolean,
    minReplicas: integer(1),
    maxReplicas: integer(1),
    targetCPUUtilizationPercentage: orNull(integer(1)),
    targetMemoryUtilizationPercentage: orNull(integer(1)),
    metrics: list(open),
    behavior: strict({ scaleUp: open, scaleDown: open }),
    keda: strict({
      enabled: boolean,
      triggers: list({ type: 'object', required: ['type'], properties: { type: text() } }),
      pollingInterval: integer(1),
      cooldownPeriod: integer(0),
    }),
  }),
};

/** The same, each said once and referred to. */
export const componentProperties: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.keys(componentSchemas).map((name) => [name, ref(`component.${name}`)]),
);

const componentWithout = (...names: readonly string[]): Readonly<Record<string, Schema>> =>
  Object.fromEntries(Object.entries(componentProperties).filter(([name]) => !names.includes(name)));

/** The same, of which null leaves it to `defaults`. */
export const orDefaults = (names: readonly string[]): Readonly<Record<string, Schema>> =>
  Object.fromEntries(names.map((name) => [name, orNull(ref(`component.${name}`))]));

/** Of a process of which there must be only one. */
const ingestProperties = componentWithout(
  ...['autoscaling', 'pdb', 'strategy', 'topologySpreadConstraints', 'drainMs', 'progressDeadlineSeconds'],
);

/** Of a process that serves no gRPC calls. */
const httpProperties = componentWithout('maxConnectionAgeMs');

/** Of one of which a single process works while the others wait. */
const leaderProperties = componentWithout('maxConnectionAgeMs', 'autoscaling');

const settings = (name: string): Schema => ref(`${name}Settings`);
const replicas = integer(0);

/** One of the indexing services. @param hasSwitch whether it can be left out. */
export function indexerSchema(name: string, hasSwitch: boolean): Schema {
  const own = { settings: settings(name) };
  return strict({
    ...componentProperties,
    ...own,
    ...(hasSwitch ? { enabled: name === 'richlist' ? { type: ['boolean', 'null'] } : boolean } : {}),
    ingest: strict({ ...ingestProperties, ...own, clickhouseSecret: objectName, replicas: integer(0, 1) }),
    serve: strict({ ...componentProperties, ...own, clickhouseSecret: objectName, replicas }),
  });
}

/** The gateway. */
export const gatewaySchema: Schema = strict({
  ...httpProperties,
  settings: settings('gateway'),
  replicas,
  service: strict({
    ...service,
    type: oneOf('ClusterIP', 'NodePort', 'LoadBalancer'),
    port: integer(1, 65_535),
    nodePort: orNull(integer(1, 65_535)),
    loadBalancerClass: text(),
    loadBalancerIP: text({ pattern: '^[0-9a-fA-F.:]*$' }),
    loadBalancerSourceRanges: list(text({ pattern: '/[0-9]+$' })),
    externalTrafficPolicy: oneOf('', 'Cluster', 'Local'),
  }),
  ingress: strict({
    enabled: boolean,
    className: objectName,
    annotations: texts,
    labels: texts,
    hosts: list(
      strict({
        host: text(),
        paths: list(
          strict({
            path: text({ pattern: '^/' }),
            pathType: oneOf('Prefix', 'Exact', 'ImplementationSpecific'),
          }),
        ),
      }),
    ),
    tls: list(strict({ secretName: objectName, hosts: list(text()) })),
  }),
  route: strict({
    enabled: boolean,
    apiVersion: text({ pattern: '^[a-z0-9.-]+/v[a-z0-9]+$' }),
    annotations: texts,
    labels: texts,
    parentRefs: list(
      strict(
        {
          group: text(),
          kind: text(),
          name: text(),
          namespace: text(),
          sectionName: text(),
          port: integer(1, 65_535),
        },
        ['name'],
      ),
    ),
    hostnames: list(text()),
    matches: list(open),
    filters: list(open),
    timeouts: strict({ request: text(), backendRequest: text() }),
  }),
});

const account = strict({ create: boolean, name: objectName, annotations: texts });

/** What is told of the pods that score. */
const ofJobs = [
  ...['resources', 'podSecurityContext', 'securityContext', 'podLabels', 'podAnnotations'],
  ...['nodeSelector', 'tolerations', 'affinity', 'priorityClassName', 'runtimeClassName', 'schedulerName'],
  ...['hostAliases', 'dnsPolicy', 'dnsConfig'],
  ...['extraEnv', 'extraEnvFrom', 'extraVolumes', 'extraVolumeMounts'],
];

/** The scoring operator. */
export const operatorSchema: Schema = strict({
  ...leaderProperties,
  enabled: { type: ['boolean', 'null'] },
  replicas,
  settings: settings('scoringOperator'),
  clickhouseSecret: objectName,
  // A namespace called `all` would be all of them to the operator.
  watchNamespaces: list(
    text({ pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63, not: { const: 'all' } }),
  ),
  watchAllNamespaces: boolean,
  jobLeaseNamespace: objectName,
  rbac: strict({ create: boolean, aggregateClusterRoles: boolean }),
  serviceAccount: account,
  jobServiceAccount: account,
  jobs: strict({
    ...orDefaults(ofJobs),
    clickhouseSecret: objectName,
  }),
});

export const accountSchema: Schema = account;
