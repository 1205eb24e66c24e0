import { isIPv6 } from 'node:net';
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { asText, asUrl, loadSettings, type Settings } from './config.js';
import { messageOf, UserError } from './errors.js';

/** `host:port` as gRPC addresses and URLs want it: IPv6 addresses stand in brackets. */
export const hostPort = (host: string, port: number): string =>
  `${isIPv6(host) ? `[${host}]` : host}:${port}`;

/** The `host:port` of a URL that reaches what listens there: a wildcard is no destination. */
export const reachable = (host: string, port: number): string =>
  hostPort(/^(0\.0\.0\.0|::|0:0:0:0:0:0:0:0)$/.test(host) ? 'localhost' : host, port);

/** Causes that are for the user to put right, and how to say them. */
const causes: readonly (readonly [RegExp, string])[] = [
  [/EADDRINUSE|address already in use/i, 'another program has that port'],
  [/EACCES|permission denied/i, 'this user may not open that port'],
  [/EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN|Name resolution failed/i, 'this machine has no such address'],
];

/** What is thrown where a server cannot listen: one sentence for what the user can put right. */
export function cannotListen(error: unknown, address: string): unknown {
  const cause = causes.find(([pattern]) => pattern.test(messageOf(error)))?.[1];
  return cause === undefined
    ? error
    : new UserError(`nothing can listen on ${address}: ${cause}`, { cause: error });
}

/**
 * How nodes, the L1 and sources of policies are reached from where nothing goes out directly. The names are those that
 * curl, Go and others read; each also counts in lower case.
 */
export const proxySettings = {
  HTTPS_PROXY: {
    doc: 'http(s) URL of the proxy through which https URLs of nodes, of the L1 and of sources of policies are asked, with user:password@ where it wants them. ClickHouse, gRPC, signers and websockets are reached directly. The proxy looks names up by itself: it has to refuse those of sources that lead to the metadata service of a cloud. Default: HTTP_PROXY.',
    default: '',
    aliases: ['https_proxy'],
    parse: asUrl,
    secret: true,
  },
  HTTP_PROXY: {
    doc: 'The same for their http URLs.',
    default: '',
    aliases: ['http_proxy'],
    parse: asUrl,
    secret: true,
  },
  NO_PROXY: {
    doc: 'What is asked directly all the same, separated by commas: names of hosts, which stand for all below them as well, and addresses (no ranges of them), each with a port or without; * is everything. This machine is never asked through a proxy.',
    default: '',
    aliases: ['no_proxy'],
    parse: asText,
  },
} satisfies Settings;

/** This machine, by its usual names. */
const own = ['localhost', '127.0.0.1', '[::1]'];

/** Whether the environment names a proxy. */
export function isProxySet(env: Readonly<Record<string, string | undefined>> = process.env): boolean {
  const { HTTP_PROXY, HTTPS_PROXY } = loadSettings(proxySettings, env);
  return HTTP_PROXY !== '' || HTTPS_PROXY !== '';
}

/**
 * What sends requests of undici: through a proxy where the environment names one.
 *
 * @param options limits and times of connections, in milliseconds.
 * @throws ConfigError for a proxy that is no URL, which programs have found at their start.
 */
export function createDispatcher(
  options: Agent.Options = {},
  env: Readonly<Record<string, string | undefined>> = process.env,
): Dispatcher {
  if (!isProxySet(env)) return new Agent(options);
  const { HTTP_PROXY, HTTPS_PROXY, NO_PROXY } = loadSettings(proxySettings, env);
  return new EnvHttpProxyAgent({
    ...options,
    httpProxy: HTTP_PROXY,
    httpsProxy: HTTPS_PROXY,
    noProxy: NO_PROXY === '*' ? '*' : [NO_PROXY, ...own].filter((name) => name !== '').join(','),
    // Proxies commonly refuse tunnels to ports other than 443: what is not encrypted is asked of the proxy itself.
    proxyTunnel: false,
  });
}
