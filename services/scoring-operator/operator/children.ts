import { createHash } from 'node:crypto';
import type { MigrationMode } from '../../common/clickhouse/migrate.js';
import type { JobPodConfig } from './job-pods.js';
import {
  cronJobName,
  group,
  kind,
  labels,
  manager,
  type Phase,
  type ScoringProgram,
  version,
} from './resource.js';

/** What the operator was told about the pods of Jobs. */
export interface JobDefaults {
  readonly image: string;
  readonly serviceAccountName: string;
  readonly logLevel: string;
  /** Where the Leases of signers are. */
  readonly leaseNamespace: string;
  /** Whether Jobs make tables, or leave that to somebody else, as the operator itself does. */
  readonly migrations: MigrationMode;
  /** What they have where a program does not say so. */
  readonly pods: JobPodConfig;
  /** Certificates of further authorities, as the source of a volume, and the file in it. */
  readonly ca?: { readonly volume: Readonly<Record<string, unknown>>; readonly file: string } | undefined;
  /** Where the certificate is that services want to see, and the name that theirs have; undefined: plain text. */
  readonly tls?: { readonly secretName: string; readonly serverName: string } | undefined;
}

/** Where things are in a pod of a Job. */
export const paths = {
  policy: '/etc/weft/policy',
  signer: '/etc/weft/signer',
  tls: '/etc/weft/tls',
  ca: '/etc/weft/ca',
  token: '/var/run/secrets/kubernetes.io/serviceaccount',
  temporary: '/tmp',
} as const;

/** Exit codes of the job entry that another attempt cannot heal. */
export const lastingExitCodes: readonly number[] = [64, 78];

/** Finished Jobs are removed after a week, whatever the history limits are. */
const keptFor_s = 604_800;

/** Longer than a tx is waited for: one that is under way is settled, or written down as sent. */
export const grace_s = 120;

/**
 * The Lease of a signer on a rollup: whoever holds it may send txs with the key. Its name is made from both, and all
 * are in one namespace, so that two programs with one signer share it wherever they are.
 */
export function leaseName(chainId: string, signer: string): string {
  const digest = createHash('sha256').update(`${chainId}/${signer.toLowerCase()}`).digest('hex');
  return `weft-signer-${digest.slice(0, 16)}`;
}

/**
 * The CronJob that a program shall have for a phase, as it is applied.
 *
 * @param program_text the program as JSON, which the pod runs.
 */
export function desiredCronJob(
  program: ScoringProgram,
  phase: Phase,
  program_text: string,
  suspend: boolean,
  defaults: JobDefaults,
): Readonly<Record<string, unknown>> {
  const { metadata, spec } = program;
  const run = spec[phase];
  const own = { [labels.managedBy]: manager, [labels.program]: metadata.name, [labels.phase]: phase };
  const { JOB_POD_LABELS, JOB_POD_ANNOTATIONS } = defaults.pods;
  const template = {
    metadata: {
      labels: { ...JOB_POD_LABELS, ...own },
      ...(JOB_POD_ANNOTATIONS === undefined ? {} : { annotations: JOB_POD_ANNOTATIONS }),
    },
    spec: podSpec(program, phase, program_text, defaults),
  };
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: {
      name: cronJobName(metadata.name, phase),
      namespace: metadata.namespace,
      labels: own,
      annotations: { [`${group}/template-hash`]: hashOf(template) },
      ownerReferences: [
        {
          apiVersion: `${group}/${version}`,
          kind,
          name: metadata.name,
          uid: metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
    },
    spec: {
      schedule: run.schedule,
      timeZone: run.timeZone,
      suspend,
      concurrencyPolicy: 'Forbid',
      startingDeadlineSeconds: run.startingDeadlineSeconds,
      successfulJobsHistoryLimit: run.successfulJobsHistoryLimit,
      failedJobsHistoryLimit: run.failedJobsHistoryLimit,
      jobTemplate: {
        metadata: { labels: own },
        spec: {
          backoffLimit: run.backoffLimit,
          activeDeadlineSeconds: run.activeDeadlineSeconds,
          ttlSecondsAfterFinished: keptFor_s,
          podFailurePolicy: {
            rules: [
              {
                action: 'FailJob',
                onExitCodes: { containerName: 'job', operator: 'In', values: lastingExitCodes },
              },
              { action: 'Ignore', onPodConditions: [{ type: 'DisruptionTarget', status: 'True' }] },
            ],
          },
          template,
        },
      },
    },
  };
}

function podSpec(
  { spec }: ScoringProgram,
  phase: Phase,
  program_text: string,
  defaults: JobDefaults,
): Record<string, unknown> {
  const { podTemplate: chosen = {}, signer, policy } = spec;
  const { pods } = defaults;
  const secrets = pods.JOB_IMAGE_PULL_SECRETS.map((name) => ({ name }));
  const pullSecrets = secrets.length === 0 ? undefined : secrets;
  const optional = <T>(name: string, value: T | undefined) => (value === undefined ? {} : { [name]: value });
  const mount = (name: string, mountPath: string, readOnly = true) => ({ name, mountPath, readOnly });
  const keyFile = signer.secretRef.mnemonicKey ?? signer.secretRef.key ?? 'privateKey';
  return {
    restartPolicy: 'Never',
    serviceAccountName: chosen.serviceAccountName ?? defaults.serviceAccountName,
    // The token is mounted below, for as long as a Job needs it.
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: grace_s,
    // Those of the default image; for another one the ServiceAccount has to know.
    ...optional('imagePullSecrets', chosen.image === undefined ? pullSecrets : undefined),
    ...optional('priorityClassName', chosen.priorityClassName ?? (pods.JOB_PRIORITY_CLASS || undefined)),
    ...optional('nodeSelector', chosen.nodeSelector ?? pods.JOB_NODE_SELECTOR),
    ...optional('tolerations', chosen.tolerations ?? pods.JOB_TOLERATIONS),
    ...optional('securityContext', pods.JOB_POD_SECURITY_CONTEXT),
    containers: [
      {
        name: 'job',
        image: chosen.image ?? defaults.image,
        ...optional('imagePullPolicy', pods.JOB_IMAGE_PULL_POLICY || undefined),
        args: ['dist/services/scoring-operator/job.js', phase],
        env: environment(spec, program_text, defaults),
        ...optional('resources', chosen.resources ?? pods.JOB_RESOURCES),
        ...optional('securityContext', pods.JOB_SECURITY_CONTEXT),
        volumeMounts: [
          mount('signer', paths.signer),
          mount('token', paths.token),
          mount('temporary', paths.temporary, false),
          ...(defaults.tls === undefined ? [] : [mount('tls', paths.tls)]),
          ...(defaults.ca === undefined ? [] : [mount('ca', paths.ca)]),
          ...(policy.configMapRef === undefined ? [] : [mount('policy', paths.policy)]),
        ],
      },
    ],
    volumes: [
      {
        name: 'signer',
        secret: {
          secretName: signer.secretRef.name,
          defaultMode: 0o440,
          // No other key of the Secret comes into the pod.
          items: [{ key: keyFile, path: 'key' }],
        },
      },
      { name: 'temporary', emptyDir: {} },
      ...(defaults.ca === undefined ? [] : [{ name: 'ca', ...defaults.ca.volume }]),
      ...(defaults.tls === undefined
        ? []
        : [{ name: 'tls', secret: { secretName: defaults.tls.secretName, defaultMode: 0o440 } }]),
      {
        name: 'token',
        projected: {
          defaultMode: 0o440,
          sources: [
            { serviceAccountToken: { path: 'token', expirationSeconds: 3_600 } },
            { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
          ],
        },
      },
      ...(policy.configMapRef === undefined
        ? []
        : [{ name: 'policy', configMap: { name: policy.configMapRef.name, defaultMode: 0o444 } }]),
    ],
  };
}

type Variable = { readonly name: string } & Readonly<Record<string, unknown>>;

function environment(spec: ScoringProgram['spec'], program_text: string, defaults: JobDefaults): Variable[] {
  const { signer, clickhouse, chainId } = spec;
  const plain = (name: string, value: string): Variable => ({ name, value });
  const from = clickhouse.secretRef === undefined ? 'configMapKeyRef' : 'secretKeyRef';
  const { name: source } = clickhouse.secretRef ?? clickhouse.configMapRef ?? { name: '' };
  const referred = (name: string, key: string, optional: boolean): Variable => ({
    name,
    valueFrom: { [from]: { name: source, key, ...(optional ? { optional } : {}) } },
  });
  const field = (name: string, fieldPath: string): Variable => ({
    name,
    valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath } },
  });
  const isWords = signer.secretRef.mnemonicKey !== undefined;
  return [
    plain('SCORING_PROGRAM_TEXT', program_text),
    plain(isWords ? 'MNEMONIC_FILE' : 'PRIVATE_KEY_FILE', `${paths.signer}/key`),
    ...(isWords ? [plain('MNEMONIC_INDEX', String(signer.mnemonicIndex))] : []),
    plain('SIGNER_ADDRESS', signer.address),
    referred('CLICKHOUSE_URL', 'url', false),
    referred('CLICKHOUSE_USER', 'user', true),
    referred('CLICKHOUSE_PASSWORD', 'password', true),
    plain('CLICKHOUSE_DATABASE', clickhouse.database),
    ...(clickhouse.cluster === undefined ? [] : [plain('CLICKHOUSE_CLUSTER', clickhouse.cluster)]),
    plain('MIGRATIONS', defaults.migrations),
    plain('LEASE_NAME', leaseName(chainId, signer.address)),
    plain('LEASE_NAMESPACE', defaults.leaseNamespace),
    field('LEASE_HOLDER', 'metadata.name'),
    ...(defaults.ca === undefined ? [] : [plain('NODE_EXTRA_CA_CERTS', `${paths.ca}/${defaults.ca.file}`)]),
    ...(defaults.tls === undefined ? [] : tlsVariables(defaults.tls.serverName, plain)),
    plain('DATA_DIR', paths.temporary),
    plain('LOG_LEVEL', defaults.logLevel),
  ];
}

/** Where the certificate is, by the names that a Secret of type kubernetes.io/tls has. */
const tlsVariables = <T>(serverName: string, plain: (name: string, value: string) => T): T[] => [
  plain('GRPC_TLS_CERT_FILE', `${paths.tls}/tls.crt`),
  plain('GRPC_TLS_KEY_FILE', `${paths.tls}/tls.key`),
  plain('GRPC_TLS_CA_FILE', `${paths.tls}/ca.crt`),
  ...(serverName === '' ? [] : [plain('GRPC_TLS_SERVER_NAME', serverName)]),
];

/** A short hash that differs when the pods differ. */
const hashOf = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('hex').slice(0, 16);
