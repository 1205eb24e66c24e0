import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { isIP, isIPv6, type Socket } from 'node:net';
import { status } from '@grpc/grpc-js';
import { ProblemError } from '../errors.js';

/** One request and the answer to it. */
export interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Raw target as it was sent. */
  readonly url: string;
  readonly request_id: string;
  /** Address that it came from, as limits count it. */
  readonly client: string;
  /** When the request came, by performance.now(). */
  readonly started_ms: number;
  /** Path of the route for metrics and the log; `unknown` until one is found. */
  route: string;
}

/** Opens an exchange: takes over a sane request id or makes one. */
export function openExchange(
  request: IncomingMessage,
  response: ServerResponse,
  client: string,
  newId: () => string,
): Exchange {
  const given = request.headers['x-request-id'];
  return {
    request,
    response,
    url: request.url ?? '/',
    request_id: typeof given === 'string' && isSaneId(given) ? given : newId(),
    client,
    started_ms: performance.now(),
    route: 'unknown',
  };
}

/** An id that can go into a log line and a header as it is. */
const isSaneId = (id: string): boolean => /^[A-Za-z0-9._:/+=@-]{1,128}$/.test(id);

/** Makes request ids: a random part per process and a count, since a random id each is dear. */
export function requestIds(): () => string {
  const prefix = randomBytes(8).toString('hex');
  let count = 0;
  return () => {
    count += 1;
    return `${prefix}-${count.toString(36)}`;
  };
}

/** Who sent a request; of IPv6 the /64, since one customer has all of it. */
export function clientAddress(request: IncomingMessage, trusted_proxies: number): string {
  const { socket, headers } = request;
  const forwarded = trusted_proxies === 0 ? '' : String(headers['x-forwarded-for'] ?? '');
  if (forwarded === '') return clientOfSocket(socket);
  const hops = forwarded.split(',').map((hop) => hop.trim());
  const address = withoutPort(hops.at(-trusted_proxies) ?? '');
  return address === '' ? clientOfSocket(socket) : clientOf(address);
}

/** Clients of connections: an address is taken apart once for all requests of a connection. */
const clientsOfSockets = new WeakMap<Socket, string>();

function clientOfSocket(socket: Socket): string {
  const known = clientsOfSockets.get(socket);
  if (known !== undefined) return known;
  const client = clientOf(socket.remoteAddress ?? '');
  clientsOfSockets.set(socket, client);
  return client;
}

/** The client that an address stands for. */
export function clientOf(address: string): string {
  const v4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  return isIPv6(address) ? networkOf(address) : address;
}

/** The address in an entry of X-Forwarded-For, without the port and the brackets that some proxies write; empty where there is none. */
function withoutPort(hop: string): string {
  const bare = /^\[([^\]]*)\](?::\d*)?$/.exec(hop)?.[1] ?? hop;
  if (isIP(bare) !== 0) return bare;
  const address = /^([^:]*):\d*$/.exec(bare)?.[1];
  return address !== undefined && isIP(address) !== 0 ? address : '';
}

function networkOf(address: string): string {
  const [head = '', tail = ''] = address.split('::');
  const left = head.split(':').filter((group) => group !== '');
  const right = tail.split(':').filter((group) => group !== '');
  const missing = address.includes('::') ? Math.max(0, 8 - left.length - right.length) : 0;
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}

/** What is wrong with the head of a request, which Node lets through or would refuse without a body of ours. */
export function mistakeIn({ headers, httpVersion, rawHeaders }: IncomingMessage): ProblemError | undefined {
  if (headers.host === undefined)
    return httpVersion === '1.0' ? undefined : refusal(400, 'the request has no Host header');
  // Of several ones Node takes the first, and a proxy in front may have taken another.
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts += 1;
  if (hosts > 1) return refusal(400, 'the request has more than one Host header');
  const { expect } = headers;
  if (expect !== undefined && expect.toLowerCase() !== '100-continue')
    return refusal(417, 'the expectation of the Expect header cannot be met');
  return undefined;
}

const refusal = (http: number, message: string): ProblemError =>
  new ProblemError({
    http,
    code: status.INVALID_ARGUMENT,
    message,
    headers: { connection: 'close' },
  });
