import { blockSettings } from '../../services/block/config.js';
import {
  chainSettings,
  databaseSettings,
  nodeSettings,
  transportSettings,
} from '../../services/common/runtime/settings.js';
import {
  boolean,
  duration,
  integer,
  list,
  oneOf,
  open,
  optionalDuration,
  orNull,
  ref,
  type Schema,
  strict,
  text,
  texts,
} from '../../services/scoring-operator/operator/setting-types.js';
import {
  accountSchema,
  componentProperties,
  componentSchemas,
  gatewaySchema,
  indexerSchema,
  objectName,
  operatorSchema,
  orDefaults,
} from './component-schema.js';
import { kubernetesSchemas } from './kubernetes-schemas.js';
import { nullable, nullableInside } from './nullable.js';
import { programSchema } from './program-schema.js';
import { numberOf, patternOf } from './setting-schema.js';
import { settingsSchemas } from './settings-schemas.js';

const url = text({ pattern: '^(https?://[^\\s]+)?$' });
/** May hold passwords, which a message about a pattern would show: templates look at them. */
const secretUrls: Schema = { type: ['string', 'array'], items: text() };
const label = '([a-z0-9]([-a-z0-9]*[a-z0-9])?)?';
const key = text({ pattern: '^[-._a-zA-Z0-9]+$' });
const ports = list(integer(1, 65_535));
const peers = list(ref('peer'));
const pullSecrets = list(ref('pullSecret'));

const properties: Readonly<Record<string, Schema>> = {
  enabled: { ...boolean, description: 'For charts that have this one as a dependency with a condition.' },
  node: strict({
    rpc: secretUrls,
    rest: secretUrls,
    jsonRpc: secretUrls,
    existingSecret: objectName,
    existingSecretKeys: strict({ rpc: key, rest: key, jsonRpc: key }),
    timeoutMs: numberOf(nodeSettings.NODE_TIMEOUT_MS),
  }),
  chain: strict({
    id: text(),
    vm: oneOf('evm', 'move', 'wasm'),
    addressPrefix: text({ pattern: `^${patternOf(chainSettings.ACCOUNT_ADDRESS_PREFIX)}$` }),
    startHeight: numberOf(blockSettings.START_HEIGHT),
  }),
  clickhouse: strict({
    url: text(),
    user: text(),
    password: text(),
    existingSecret: objectName,
    existingSecretKeys: strict({ url: key, user: key, password: key }),
    database: text({ pattern: `^${patternOf(databaseSettings.CLICKHOUSE_DATABASE)}$` }),
    cluster: text({ pattern: `^(${patternOf(databaseSettings.CLICKHOUSE_CLUSTER)})?$` }),
  }),
  // Open: charts that have this one as a dependency share it with others.
  global: { type: 'object', properties: { imageRegistry: text(), imagePullSecrets: pullSecrets } },
  image: strict({
    registry: text(),
    repository: text({ pattern: '^([-.a-z0-9]+(:[0-9]+)?/)?[a-z0-9]+([-._/]+[a-z0-9]+)*$' }),
    tag: text({ pattern: '^([A-Za-z0-9_][-.A-Za-z0-9_]{0,127})?$' }),
    digest: text({ pattern: '^(sha256:[0-9a-f]{64}|sha512:[0-9a-f]{128})?$' }),
    pullPolicy: oneOf('Always', 'IfNotPresent', 'Never'),
    pullSecrets,
  }),
  nameOverride: text({ pattern: `^${label}$` }),
  fullnameOverride: text({ pattern: `^${label}$` }),
  commonLabels: ref('labels'),
  commonAnnotations: ref('annotations'),
  listenHost: text({ pattern: '^(\\[?[0-9A-Fa-f.:]+\\]?)?$' }),
  defaults: strict(componentProperties),
  services: strict({
    block: indexerSchema('block', false),
    tx: indexerSchema('tx', false),
    nft: indexerSchema('nft', true),
    richlist: indexerSchema('richlist', true),
  }),
  gateway: gatewaySchema,
  scoringOperator: operatorSchema,
  scoringPrograms: {
    type: 'object',
    propertyNames: { pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 43 },
    additionalProperties: orNull(ref('scoringProgram')),
  },
  crds: strict({ enabled: boolean, keep: boolean, takeOwnership: boolean }),
  migrations: strict({
    mode: oneOf('hook', 'job', 'start', 'manual'),
    clickhouseSecret: objectName,
    backoffLimit: integer(0),
    activeDeadlineSeconds: integer(1),
    ttlSecondsAfterFinished: orNull(integer(0)),
    annotations: texts,
    podAnnotations: texts,
    ...orDefaults(['extraEnv', 'extraEnvFrom', 'extraVolumes', 'extraVolumeMounts']),
    resources: ref('resources'),
  }),
  serviceAccount: accountSchema,
  grpcToken: strict({ existingSecret: objectName, existingSecretKey: key }),
  tls: strict({
    enabled: boolean,
    existingSecret: objectName,
    serverName: text(),
    reloadSeconds: numberOf(transportSettings.GRPC_TLS_RELOAD_SECONDS),
    certManager: strict({
      enabled: boolean,
      issuerRef: strict({ name: objectName, kind: text({ minLength: 1 }), group: text({ minLength: 1 }) }),
      duration: text({ pattern: '^([0-9]+(h|m|s))+$' }),
      renewBefore: text({ pattern: '^([0-9]+(h|m|s))+$' }),
    }),
  }),
  extraCA: strict({ configMap: objectName, secret: objectName, key }),
  networkPolicy: strict({
    enabled: boolean,
    dns: strict({ to: peers, ports: { ...ports, minItems: 1 } }),
    clickhouse: strict({ to: peers, ports }),
    node: strict({ to: peers, ports }),
    l1: strict({ to: peers, ports: orNull(ports) }),
    apiServer: strict({ to: peers, ports }),
    gateway: strict({ from: peers }),
    metrics: strict({ from: peers }),
    extraIngress: list(ref('ingressRule')),
    extraEgress: list(ref('egressRule')),
  }),
  metrics: strict({
    serviceMonitor: strict({
      enabled: boolean,
      labels: texts,
      annotations: texts,
      interval: optionalDuration,
      scrapeTimeout: optionalDuration,
      honorLabels: boolean,
      relabelings: list(open),
      metricRelabelings: list(open),
    }),
    prometheusRule: strict({
      enabled: boolean,
      labels: texts,
      annotations: texts,
      alertLabels: texts,
      disabled: list(text({ minLength: 1 })),
      runbookUrl: url,
      lagBlocks: integer(0),
      lagFor: duration,
      nodeStallFor: duration,
      nodeErrorRatio: { type: 'number', minimum: 0, maximum: 1 },
      gatewayErrorRatio: { type: 'number', minimum: 0, maximum: 1 },
      gatewayLatencySeconds: { type: 'number', exclusiveMinimum: 0 },
      stageDeadlineSeconds: integer(0),
      signerBalance: { type: 'number', minimum: 0 },
      extraGroups: list({ type: 'object', required: ['name', 'rules'] }),
    }),
    dashboards: strict({ enabled: boolean, namespace: objectName, labels: texts, annotations: texts }),
  }),
  tests: strict({
    enabled: boolean,
    path: text({ pattern: '^/' }),
    activeDeadlineSeconds: integer(1),
    podAnnotations: texts,
  }),
  extraObjects: list({ type: ['object', 'string'] }),
};

const components = Object.fromEntries(
  Object.entries(componentSchemas).map(([name, schema]) => [`component.${name}`, schema]),
);

/** What is referred to, and merged over the same of others. */
const merged: Readonly<Record<string, Schema>> = { ...components, ...settingsSchemas };

/** Kubernetes' own of these: the others of its schemas are entries of lists. */
const mergedOfKubernetes: ReadonlySet<unknown> = new Set(
  Object.values(componentSchemas).map((schema) => schema['$ref']),
);

const each = (
  schemas: Readonly<Record<string, Schema>>,
  change: (schema: Schema, name: string) => Schema,
): Readonly<Record<string, Schema>> =>
  Object.fromEntries(Object.entries(schemas).map(([name, schema]) => [name, change(schema, name)]));

/** The schema of the chart's values. */
export function valuesSchema(): Schema {
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'Values of the chart weft',
    ...nullableInside(strict(properties)),
    definitions: {
      ...each(kubernetesSchemas, (schema, name) =>
        mergedOfKubernetes.has(ref(name)['$ref']) ? nullable(schema) : schema,
      ),
      ...each(merged, nullable),
      scoringProgram: programSchema(),
    },
  };
}
