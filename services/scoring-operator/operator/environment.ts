import { createHash } from 'node:crypto';
import type { JobDefaults } from './job-settings.js';
import type { ScoringProgram } from './resource.js';

/**
 * The Lease of a signer on a rollup: whoever holds it may send txs with the key. Its name is made from both, and all
 * are in one namespace, so that two programs with one signer share it wherever they are.
 */
export function leaseName(chainId: string, signer: string): string {
  const digest = createHash('sha256').update(`${chainId}/${signer.toLowerCase()}`).digest('hex');
  return `weft-signer-${digest.slice(0, 16)}`;
}

/** A variable as it stands in a container. */
export type Variable = { readonly name: OwnVariable } & Readonly<Record<string, unknown>>;

/**
 * What the operator sets in the container of a Job.
 *
 * @param program_text the program as JSON.
 */
export function environment(
  spec: ScoringProgram['spec'],
  program_text: string,
  defaults: JobDefaults,
): Variable[] {
  const { signer, clickhouse, chainId } = spec;
  const plain = (name: OwnVariable, value: string): Variable => ({ name, value });
  const from = clickhouse.secretRef === undefined ? 'configMapKeyRef' : 'secretKeyRef';
  const { name: source } = clickhouse.secretRef ?? clickhouse.configMapRef ?? { name: '' };
  const referred = (name: OwnVariable, key: string, optional: boolean): Variable => ({
    name,
    valueFrom: { [from]: { name: source, key, ...(optional ? { optional } : {}) } },
  });
  const field = (name: OwnVariable, fieldPath: string): Variable => ({
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
    ...(defaults.ca === undefined ? [] : [plain(caVariable, `${paths.ca}/${defaults.ca.file}`)]),
    ...(defaults.tls === undefined ? [] : tlsVariables(defaults.tls.serverName, plain)),
    plain('DATA_DIR', paths.temporary),
    plain('LOG_LEVEL', defaults.logLevel),
  ];
}

/** Where the certificate is, by the names that a Secret of type kubernetes.io/tls has. */
const tlsVariables = <T>(serverName: string, plain: (name: OwnVariable, value: string) => T): T[] => [
  plain('GRPC_TLS_CERT_FILE', `${paths.tls}/tls.crt`),
  plain('GRPC_TLS_KEY_FILE', `${paths.tls}/tls.key`),
  plain('GRPC_TLS_CA_FILE', `${paths.tls}/ca.crt`),
  ...(serverName === '' ? [] : [plain('GRPC_TLS_SERVER_NAME', serverName)]),
];

/** Where things are in a pod of a Job. */
export const paths = {
  policy: '/etc/weft/policy',
  signer: '/etc/weft/signer',
  tls: '/etc/weft/tls',
  ca: '/etc/weft/ca',
  token: '/var/run/secrets/kubernetes.io/serviceaccount',
  temporary: '/tmp',
} as const;

/** Volumes that the operator gives to pods of Jobs are named after the place where they are mounted. */
export type OwnVolume = keyof typeof paths;
export const ownVolumes = Object.keys(paths) as readonly OwnVolume[];

/** Variables that the operator sets in pods of Jobs. */
const setVariables = [
  'SCORING_PROGRAM_TEXT',
  'PRIVATE_KEY_FILE',
  'MNEMONIC_FILE',
  'MNEMONIC_INDEX',
  'SIGNER_ADDRESS',
  'CLICKHOUSE_URL',
  'CLICKHOUSE_USER',
  'CLICKHOUSE_PASSWORD',
  'CLICKHOUSE_DATABASE',
  'CLICKHOUSE_CLUSTER',
  'MIGRATIONS',
  'LEASE_NAME',
  'LEASE_NAMESPACE',
  'LEASE_HOLDER',
  'NODE_EXTRA_CA_CERTS',
  'GRPC_TLS_CERT_FILE',
  'GRPC_TLS_KEY_FILE',
  'GRPC_TLS_CA_FILE',
  'GRPC_TLS_SERVER_NAME',
  'DATA_DIR',
  'LOG_LEVEL',
] as const;

export type OwnVariable = (typeof setVariables)[number];

/** Set only where the operator was told of authorities; somebody else may name a file of them where it was not. */
export const caVariable = 'NODE_EXTRA_CA_CERTS' satisfies OwnVariable;

/** What would tell a Job in another way who signs, which program it runs, and where its tables and Leases are. */
const rivals = ['PRIVATE_KEY', 'MNEMONIC', 'SIGNER_URL', 'SCORING_PROGRAM', 'DB_DSN', 'KUBECONFIG'];

/** Variables that nobody but the operator may set in pods of Jobs, besides `caVariable` where the operator sets it. */
export const ownVariables: readonly string[] = [
  ...setVariables.filter((name) => name !== caVariable),
  ...rivals,
];
