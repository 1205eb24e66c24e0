import { asInteger, asMatching, asOneOf, asText, asUrl, asUrls, orEmpty, type Settings } from './config.js';
import { logLevels } from './log.js';

/** The word that stands for an address prefix in bech32. */
const asPrefix = asMatching('[a-z][a-z0-9]{0,82}', 'lower-case letters and digits');

/** A name that is safe inside a statement. */
const asIdentifier = asMatching('[A-Za-z_][A-Za-z0-9_-]*', 'letters, digits, _ and -');

/** A PostgreSQL DSN belongs to another indexer's deployment: say what to do with it. */
function asNoPostgres(text: string): string {
  if (/^postgres(ql)?:/i.test(text)) {
    throw new Error(
      'weft keeps its tables in ClickHouse, not in PostgreSQL: remove DB_DSN, and either let the embedded engine use DATA_DIR or set CLICKHOUSE_URL; the chain is indexed anew from the node',
    );
  }
  if (text !== '') throw new Error('weft does not use it: set DATA_DIR or CLICKHOUSE_URL');
  return text;
}

/** How the process talks about itself. */
export const logSettings = {
  LOG_LEVEL: {
    doc: `The least level that is logged: ${logLevels.join(', ')}.`,
    default: 'info',
    parse: asOneOf(...logLevels),
  },
} satisfies Settings;

/** Which database holds the tables. */
export const databaseSettings = {
  DATA_DIR: {
    doc: 'Folder of the embedded ClickHouse and of what else must survive a restart. One process may have it open.',
    default: 'data',
    parse: asText,
  },
  CLICKHOUSE_URL: {
    doc: 'http(s) URL of a ClickHouse server to use instead of the embedded engine.',
    default: '',
    parse: asUrl,
    secret: true,
  },
  CLICKHOUSE_USER: {
    doc: 'User on that server; default: the one in the URL, else `default`.',
    default: '',
    parse: asText,
  },
  CLICKHOUSE_PASSWORD: {
    doc: 'Password on that server; default: the one in the URL.',
    default: '',
    parse: asText,
    secret: true,
  },
  CLICKHOUSE_CLUSTER: {
    doc: 'Name of a ClickHouse cluster: tables are made ON CLUSTER, replicated and distributed over its shards.',
    default: '',
    parse: orEmpty(asIdentifier),
  },
  CLICKHOUSE_DATABASE: {
    doc: "Prefix of the services' databases: `weft` gives weft_block, weft_tx and so on.",
    default: 'weft',
    parse: asIdentifier,
  },
  DB_DSN: {
    doc: 'Not used: named here because deployments of another indexer have it.',
    default: '',
    parse: asNoPostgres,
    secret: true,
  },
} satisfies Settings;

/** What every program that works on tables is told. */
export const tableSettings = {
  ...databaseSettings,
  MIGRATIONS: {
    doc: 'Whether tables are made and altered at start: apply, or check to wait until `weft migrate` has done it.',
    default: 'apply',
    parse: asOneOf('apply', 'check'),
  },
  QUERY_MEMORY_MB: {
    doc: "Memory of the engine that a statement for one call may take, in MiB: a call that takes more is answered with 503. Above that of a ClickHouse server's profile that one counts.",
    default: '512',
    parse: asInteger(16, 1_048_576),
  },
  WRITER_LEASE_MS: {
    doc: 'How long a process that writes tables is silent before another one takes over from it, in milliseconds. A statement that inserts is ended after half of it, and for that long a silent process is waited for in addition. The embedded engine needs no lease.',
    default: '20000',
    parse: asInteger(1_000, 600_000),
  },
} satisfies Settings;

/** What every program that writes tables of the chain is told. */
export const writerSettings = {
  WRITER_PATIENCE_MS: {
    doc: 'How long writing the tables may fail without pause, in milliseconds, before the process ends with code 75 to be started again; 0 for ever. Only failures count that waiting does not mend: not a node, another service or a database that is away, and not a full disk.',
    default: '120000',
    parse: asInteger(0, 86_400_000),
  },
} satisfies Settings;

/** Which chain this is. */
export const chainSettings = {
  CHAIN_ID: {
    doc: 'Chain id. Default: what the node says. A node or a data folder of another chain is refused.',
    default: '',
    parse: asText,
  },
  VM_TYPE: {
    doc: 'Virtual machine of the rollup: evm, move or wasm.',
    default: 'evm',
    parse: asOneOf('evm', 'move', 'wasm'),
  },
  ACCOUNT_ADDRESS_PREFIX: { doc: 'Prefix of bech32 account addresses.', default: 'init', parse: asPrefix },
} satisfies Settings;

/** How to reach the rollup node. */
export const nodeSettings = {
  RPC_URL: {
    doc: 'CometBFT RPC URLs, separated by commas; the next is used while one fails. Unset: the recorded rollup that ships with weft is served.',
    default: '',
    parse: asUrls,
  },
  REST_URL: { doc: 'Cosmos REST URLs, separated by commas.', default: '', parse: asUrls },
  JSON_RPC_URL: { doc: 'EVM JSON-RPC URLs, separated by commas (EVM only).', default: '', parse: asUrls },
  NODE_TIMEOUT_MS: {
    doc: 'How long to wait for an answer of the node, up to its last byte, in milliseconds.',
    default: '10000',
    parse: asInteger(100, 600_000),
  },
  NODE_ANSWER_MB: {
    doc: 'Largest answer of the node about anything but a whole block, in MiB; its JSON may have one value for 24 of these bytes, and a million in any case. What is larger is not read to its end, and counts as a failure of the URL.',
    default: '16',
    parse: asInteger(1, 240),
  },
} satisfies Settings;

/** How tables are rebuilt (`weft reindex`). */
export const reindexSettings = {
  REINDEX_PERCENT: {
    doc: 'Share of the time that the statements of a rebuild (`weft reindex`) may take, in percent: the rest is left to calls and to the head.',
    default: '50',
    parse: asInteger(1, 100),
  },
  REINDEX_KEEP_MS: {
    doc: 'How long tables that a rebuild has replaced are kept, in milliseconds: calls that have begun end on them.',
    default: '60000',
    parse: asInteger(0, 86_400_000),
  },
} satisfies Settings;

/** How a service listens. */
export const serverSettings = {
  HOST: {
    doc: 'Address that servers listen on. Inside a container: 0.0.0.0, or :: for IPv6 as well.',
    default: '127.0.0.1',
    // As it stands in URLs, too.
    parse: (text: string): string => text.replace(/^\[(.*)\]$/, '$1'),
  },
  OPS_PORT: {
    doc: 'Port of /metrics, /healthz and /readyz; 0 for any free one.',
    default: '9090',
    aliases: ['METRICS_PORT'],
    parse: asInteger(0, 65_535),
  },
  SHUTDOWN_GRACE_MS: {
    doc: 'How long running calls may go on after SIGTERM, in milliseconds.',
    default: '3000',
    parse: asInteger(0, 600_000),
  },
  DRAIN_MS: {
    doc: 'How long new calls are still answered after SIGTERM, in milliseconds, while /readyz and the health check say that the process is not ready: until the last caller has heard of it. Writing tables stops at once.',
    default: '0',
    parse: asInteger(0, 600_000),
  },
} satisfies Settings;

/** What answers of a service with lists are bounded by. */
export const pageSettings = {
  PAGE_MB: {
    doc: 'Size of its items after which a page of a list ends, in MiB, even where more were asked for; one item larger than that is a page by itself.',
    default: '8',
    parse: asInteger(1, 64),
  },
} satisfies Settings;

/** What a service keeps on local disk. */
export const factSettings = {
  FACT_CACHE_MB: {
    doc: 'Disk for the blocks of the block service and for the txs of the tx service that were written or read last, in MiB each, in the folder `facts` of DATA_DIR, which may be deleted at any time, and has to be where tables are restored from a copy; 0 for none. They are read from there in a tenth of the time of a query. Files go while the disk has less than 512 MiB free, or 5 % where it is small.',
    default: '1024',
    parse: asInteger(0, 1_048_576),
  },
} satisfies Settings;

/** What requests to a gRPC server are bounded by, and who may send those that change something. */
export const requestSettings = {
  GRPC_MAX_REQUEST_KB: {
    doc: 'Largest gRPC message that is taken as a request, in KiB; answers are not bounded by it.',
    default: '256',
    parse: asInteger(16, 262_144),
  },
  GRPC_MAX_CALLS: {
    doc: 'gRPC calls in progress at once, streams of data not counted; more are refused, and the gateway answers 503. When there are as many, each address gets its share. Raise it with MAX_REQUESTS of the gateway.',
    default: '256',
    parse: asInteger(2, 1_000_000),
  },
  GRPC_CALLS_AT_ONCE: {
    doc: 'gRPC calls of one address that are worked on, or whose answers are being sent, at once, and about four times as many of all addresses together; others wait, and clients take turns. The answer of each takes up to PAGE_MB of memory.',
    default: '16',
    parse: asInteger(1, 10_000),
  },
  GRPC_SEND_TIMEOUT_MS: {
    doc: 'How long a caller may take to read the answer of a gRPC call, in milliseconds: then the call is ended. Streams wait for their callers.',
    default: '30000',
    parse: asInteger(100, 3_600_000),
  },
  GRPC_MAX_STREAMS: {
    doc: 'Streams of blocks, traces, bodies and tokens that are sent over gRPC at once, of which one address may have half; more are refused, and asked for again by those who follow. Each may hold 8 MiB for a caller who does not read.',
    default: '64',
    parse: asInteger(2, 100_000),
  },
  GRPC_TOKEN: {
    doc: 'Token that gRPC calls that change something (`weft reindex`, `weft retry-details`) have to send, and that those commands send. Unset: such calls are only taken from this machine, or with certificates on both sides.',
    default: '',
    parse: asText,
    secret: true,
  },
  GRPC_TOKEN_FILE: {
    doc: 'File with that token, as a mounted secret is.',
    default: '',
    parse: asText,
  },
} satisfies Settings;

/** How a service that runs alone in its process is probed. */
export const probeSettings = {
  HEALTH_PORT: {
    doc: 'Port of a gRPC server in plain text that has the health check alone, open as soon as the process lives; for probes. Unset: the health check is on GRPC_PORT only.',
    default: '',
    parse: orEmpty(asInteger(0, 65_535)),
  },
} satisfies Settings;

/** How services of one deployment speak gRPC with each other. */
export const transportSettings = {
  GRPC_TLS_CERT_FILE: {
    doc: 'PEM file with the certificate that this process shows to others, as server and as client. Unset: gRPC is plain text.',
    default: '',
    parse: asText,
  },
  GRPC_TLS_KEY_FILE: { doc: 'PEM file with its private key.', default: '', parse: asText },
  GRPC_TLS_CA_FILE: {
    doc: 'PEM file with the CA that the certificates of all others have to be of.',
    default: '',
    parse: asText,
  },
  GRPC_TLS_SERVER_NAME: {
    doc: 'Name that the certificate of every server has to have; default: the one in its address.',
    default: '',
    parse: asText,
  },
  GRPC_TLS_RELOAD_SECONDS: {
    doc: 'How often these files are looked at, in seconds: new ones are used without a restart.',
    default: '30',
    parse: asInteger(1, 86_400),
  },
} satisfies Settings;

/** What a gRPC server of a deployment with several replicas is told. */
export const connectionSettings = {
  MAX_CONNECTION_AGE_MS: {
    doc: 'After how many milliseconds clients are asked to connect again, so that new replicas get their share of the calls; 0 for never.',
    default: '0',
    parse: asInteger(0, 86_400_000),
  },
} satisfies Settings;

/** What a service of blocks is told that runs alone in its process. */
export const programSettings = { ...probeSettings, ...transportSettings, ...connectionSettings };
