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
