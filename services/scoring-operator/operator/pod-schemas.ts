import { boolean, integer, list, oneOf, open, orNull, type Schema, strict, text } from './setting-types.js';

const quantity: Schema = {
  anyOf: [
    { type: ['number', 'null'] },
    text({ pattern: '^([0-9]+(\\.[0-9]*)?|\\.[0-9]+)([eE][-+]?[0-9]+|[numkKMGTPE]i?)?$' }),
  ],
};
const filled = text({ minLength: 1 });
const id = orNull(integer(0));
const seLinux = strict({ level: text(), role: text(), type: text(), user: text() });
const profile = strict(
  { type: oneOf('RuntimeDefault', 'Localhost', 'Unconfined'), localhostProfile: text() },
  ['type'],
);
const windows = strict({
  gmsaCredentialSpec: text(),
  gmsaCredentialSpecName: text(),
  hostProcess: boolean,
  runAsUserName: text(),
});

/**
 * Parts of pods as Kubernetes has them, which settings and values of the chart take. A name that is misspelt is refused
 * here: the API server would drop it in silence where objects are not applied to it. What is open here, because it lies
 * deep and grows with Kubernetes, the API server judges. Null takes away what a default has.
 */
export const podSchemas = {
  resources: strict({
    requests: { type: ['object', 'null'], additionalProperties: quantity },
    limits: { type: ['object', 'null'], additionalProperties: quantity },
    claims: list(strict({ name: text(), request: text() }, ['name'])),
  }),
  podSecurityContext: strict({
    appArmorProfile: orNull(profile),
    fsGroup: id,
    fsGroupChangePolicy: oneOf('OnRootMismatch', 'Always'),
    runAsGroup: id,
    runAsNonRoot: orNull(boolean),
    runAsUser: id,
    seLinuxOptions: seLinux,
    seccompProfile: orNull(profile),
    supplementalGroups: list(integer(0)),
    supplementalGroupsPolicy: oneOf('Merge', 'Strict'),
    sysctls: list(strict({ name: text(), value: text() }, ['name', 'value'])),
    windowsOptions: windows,
  }),
  securityContext: strict({
    allowPrivilegeEscalation: orNull(boolean),
    appArmorProfile: orNull(profile),
    capabilities: orNull(strict({ add: list(text()), drop: list(text()) })),
    privileged: boolean,
    procMount: text(),
    readOnlyRootFilesystem: orNull(boolean),
    runAsGroup: id,
    runAsNonRoot: orNull(boolean),
    runAsUser: id,
    seLinuxOptions: seLinux,
    seccompProfile: orNull(profile),
    windowsOptions: windows,
  }),
  toleration: strict({
    effect: oneOf('NoSchedule', 'PreferNoSchedule', 'NoExecute'),
    key: text(),
    operator: text(),
    tolerationSeconds: integer(0),
    value: text(),
  }),
  affinity: strict({
    nodeAffinity: orNull(open),
    podAffinity: orNull(open),
    podAntiAffinity: orNull(open),
  }),
  hostAlias: strict({ ip: text(), hostnames: list(text()) }, ['ip', 'hostnames']),
  dnsConfig: strict({
    nameservers: orNull(list(text())),
    searches: orNull(list(text())),
    options: orNull(list(strict({ name: text(), value: text() }, ['name']))),
  }),
  env: strict({ name: filled, value: text(), valueFrom: open }, ['name']),
  envFrom: strict({
    prefix: text(),
    configMapRef: strict({ name: text(), optional: boolean }, ['name']),
    secretRef: strict({ name: text(), optional: boolean }, ['name']),
  }),
  volume: { type: 'object', required: ['name'], properties: { name: filled } },
  volumeMount: strict(
    {
      name: filled,
      mountPath: filled,
      mountPropagation: text(),
      readOnly: boolean,
      recursiveReadOnly: text(),
      subPath: text(),
      subPathExpr: text(),
    },
    ['name', 'mountPath'],
  ),
} as const;
