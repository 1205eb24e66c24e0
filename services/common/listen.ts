import { isIPv6 } from 'node:net';
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
