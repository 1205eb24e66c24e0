import {
  asBoolean,
  asInteger,
  asOneOf,
  asText,
  orEmpty,
  type Settings,
  taking,
  type ValuesOf,
} from '../common/runtime/config.js';
import { chainSettings, logSettings, serverSettings, transportSettings } from '../common/runtime/settings.js';

/** `*`, or the list of origins; empty when cross-origin calls are off. */
export type Origins = '*' | readonly string[];

/** An origin, all of them, or nothing, as a regular expression; whether it is one is seen when it is read. */
const originPattern = '([*]|[A-Za-z][A-Za-z0-9+.-]*://[^/?#,\\s]+)?/?';

/** A path with a leading and without a trailing slash; empty for none. */
const asBasePath = taking({ pattern: '(/+[A-Za-z0-9._~-]+)*/*' }, (text): string => {
  const path = text.replace(/\/{2,}/g, '/').replace(/\/$/, '');
  if (path !== '' && !/^(\/[A-Za-z0-9._~-]+)+$/.test(path)) {
    throw new Error('must be a path such as /rollup-1, of letters, digits and - . _ ~');
  }
  return path;
});

/** `*`, off, or origins separated by commas. */
const asOrigins = taking(
  { words: ['off', 'none', 'false'], pattern: `${originPattern}(\\s*,\\s*${originPattern})*` },
  (text): Origins => {
    if (text === '*') return '*';
    if (/^(off|none|false)$/i.test(text)) return [];
    const origins = text
      .split(',')
      .map((part) => part.trim().replace(/\/$/, ''))
      .filter((part) => part !== '');
    if (origins.includes('*')) return '*';
    for (const origin of origins) {
      if (!URL.canParse(origin) || new URL(origin).origin !== origin.toLowerCase()) {
        throw new Error('must be *, off, or origins such as https://app.example.org separated by commas');
      }
    }
    return origins.map((origin) => origin.toLowerCase());
  },
);

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** Milliseconds as a whole number, or a duration in the notation of Go (`30s`, `1m30s`, `1.5s`). */
export const asDuration_ms = taking(
  { integers: [1, 600_000], pattern: '([0-9]+([.][0-9]+)?(ms|s|m|h))+' },
  (text): number => {
    const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)];
    const complete = parts.length > 0 && parts.map((part) => part[0]).join('') === text;
    const value = complete
      ? parts.reduce((sum, part) => sum + Number(part[1]) * (unitMs[part[2] ?? ''] ?? 0), 0)
      : /^\d+$/.test(text)
        ? Number(text)
        : Number.NaN;
    if (!(value >= 1 && value <= 600_000)) {
      throw new Error('must be milliseconds from 1 to 600000, or a duration such as 30s');
    }
    return Math.round(value);
  },
);

/** Settings of the gateway. */
export const gatewaySettings = {
  PORT: {
    doc: 'Port of the HTTP API; 0 for any free one.',
    default: '8080',
    aliases: ['INDEXER_PORT'],
    parse: asInteger(0, 65_535),
  },
  HOST: serverSettings.HOST,
  SHUTDOWN_GRACE_MS: serverSettings.SHUTDOWN_GRACE_MS,
  BASE_PATH: {
    doc: 'Path under which the API is reached when its base URL has one, such as /rollup-1. A proxy in front must leave it in the URL.',
    default: '',
    parse: asBasePath,
  },
  CORS: {
    doc: 'Origins that browsers may call from: *, a list separated by commas, or off.',
    default: '*',
    aliases: ['CORS_ALLOW_ORIGINS'],
    parse: asOrigins,
  },
  CORS_ENABLED: {
    doc: 'false means the same as CORS=off.',
    default: 'true',
    parse: asBoolean,
  },
  PAGINATION_ABSENT_KEY: {
    doc: 'What next_key and previous_key are where there is no such page: empty for "", null for JSON null.',
    default: '',
    parse: orEmpty(asOneOf('null')),
  },
  REQUEST_TIMEOUT_MS: {
    doc: 'How long a request may take before it is answered with 504: milliseconds, or a duration such as 30s.',
    default: '10000',
    aliases: ['QUERY_TIMEOUT'],
    parse: asDuration_ms,
  },
  MAX_REQUESTS: {
    doc: 'Requests in progress at once, those that are answered from the cache not counted; more are answered with 503 and Retry-After. When there are as many, each client address gets its share of them.',
    default: '128',
    parse: asInteger(1, 100_000),
  },
  MAX_CONNECTIONS: {
    doc: 'Open connections of clients; with more, the client address with the most of them loses one.',
    default: '4096',
    parse: asInteger(1, 1_000_000),
  },
  SEND_TIMEOUT_MS: {
    doc: 'How long a client may take to read each 8 MiB of an answer, in milliseconds: then its connection is closed.',
    default: '30000',
    parse: asInteger(100, 3_600_000),
  },
  UNSENT_MB: {
    doc: 'Memory for answers that clients have not read yet, in MiB: with more, connections of the client address that is sent most are closed.',
    default: '128',
    parse: asInteger(16, 65_536),
  },
  RATE_LIMIT: {
    doc: 'Requests per second that one client address may send before it is answered with 429; 0 for no limit.',
    default: '0',
    parse: asInteger(0, 1_000_000),
  },
  TRUSTED_PROXIES: {
    doc: 'How many proxies stand in front of the gateway and append to X-Forwarded-For: limits by client address then take it from there.',
    default: '0',
    parse: asInteger(0, 10),
  },
  CACHE_MB: {
    doc: 'Memory for cached answers, in MiB; 0 turns the cache off.',
    default: '64',
    parse: asInteger(0, 65_536),
  },
  CACHE_MAX_AGE_MS: {
    doc: 'How old a cached answer that can still change may get, even if no new block was heard of, in milliseconds.',
    default: '1000',
    parse: asInteger(0, 60_000),
  },
  BLOCK_SERVICE_ADDR: {
    doc: 'gRPC address of the block service: host:port, dns:///name:port or unix:/path.',
    default: '127.0.0.1:7001',
    parse: asAddress,
  },
  TX_SERVICE_ADDR: {
    doc: 'gRPC address of the tx service.',
    default: '127.0.0.1:7002',
    parse: asAddress,
  },
  NFT_SERVICE_ADDR: {
    doc: 'gRPC address of the nft service.',
    default: '127.0.0.1:7003',
    parse: asAddress,
  },
  RICHLIST_SERVICE_ADDR: {
    doc: 'gRPC address of the richlist service (EVM only).',
    default: '127.0.0.1:7004',
    parse: asAddress,
  },
  COMMIT_HASH: {
    doc: 'Commit that /status shows. Default: what git says of the folder, else `unknown`.',
    default: '',
    parse: asText,
  },
  CHAIN_ID: chainSettings.CHAIN_ID,
  VM_TYPE: chainSettings.VM_TYPE,
  ACCOUNT_ADDRESS_PREFIX: chainSettings.ACCOUNT_ADDRESS_PREFIX,
} satisfies Settings;

/** Every setting of the gateway that runs alone. */
export const gatewayProgramSettings = {
  ...logSettings,
  ...gatewaySettings,
  OPS_PORT: serverSettings.OPS_PORT,
  DRAIN_MS: serverSettings.DRAIN_MS,
  ...transportSettings,
} satisfies Settings;

export type GatewaySettings = ValuesOf<typeof gatewaySettings>;

function asAddress(text: string): string {
  if (!/^(unix:|dns:)?[^\s]+$/.test(text) || (!text.startsWith('unix:') && !/:\d+$/.test(text))) {
    throw new Error('must be host:port, dns:///name:port or unix:/path');
  }
  return text;
}
