import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { status } from '@grpc/grpc-js';
import { createShares } from '../../common/util/concurrency.js';
import { createLru } from '../../common/util/lru.js';
import { ProblemError } from '../errors.js';
import { clientOf } from './exchange.js';

/** Lets requests begin that have to ask a service, so many at once. */
export interface Admission {
  /**
   * Begins a request of a client.
   *
   * @returns what ends it.
   * @throws ProblemError 503 when too many are in progress.
   */
  begin(client: string): () => void;
}

/** Seconds after which a client that was refused may try again. */
export const retryAfter_s = 1;

/**
 * Bounds the requests in progress; when there are too many each client gets its share.
 *
 * @param most how many requests are in progress at once.
 * @param onRefuse called with each one that is refused.
 */
export function createAdmission(most: number, onRefuse: () => void): Admission {
  const shares = createShares(most);
  return {
    begin(client) {
      const end = shares.take(client);
      if (end !== undefined) return end;
      onRefuse();
      throw tooBusy;
    },
  };
}

/** Made once: it is thrown most when there is least time. */
const tooBusy = new ProblemError({
  http: 503,
  code: status.RESOURCE_EXHAUSTED,
  message: `too many requests are in progress, try again in ${retryAfter_s} s`,
  headers: { 'retry-after': String(retryAfter_s) },
  refused: true,
});

/** Says how many seconds a client has to wait before its next request; 0 when it may go on. */
export type RateLimit = (client: string) => number;

/** Addresses that are remembered at once; the ones not seen for longest are forgotten. */
const addresses = 100_000;

/**
 * A token bucket per client address that fills by `per_second` and holds one second's worth.
 *
 * @param now_ms the clock.
 */
export function createRateLimit(
  per_second: number,
  now_ms: () => number = () => performance.now(),
): RateLimit | undefined {
  if (per_second === 0) return undefined;
  const buckets = createLru<string, { tokens: number; at_ms: number }>(addresses);
  return (client) => {
    const now = now_ms();
    const bucket = buckets.get(client) ?? { tokens: per_second, at_ms: now };
    const filled = bucket.tokens + ((now - bucket.at_ms) / 1000) * per_second;
    bucket.tokens = Math.min(per_second, filled);
    bucket.at_ms = now;
    buckets.set(client, bucket);
    if (bucket.tokens < 1) return Math.max(1, Math.ceil((1 - bucket.tokens) / per_second));
    bucket.tokens -= 1;
    return 0;
  };
}

/** How many connections clients have open. */
export interface Connections {
  /** Connections without a request so far. */
  closeUnused(): void;
}

/**
 * Bounds the connections of a server. When there are too many, the client with the most of them loses one: a connection
 * without a request on it, else the oldest. A client that would be that one itself is not let in.
 *
 * @param most how many there are at once.
 * @param onFull called with each one that is closed.
 */
export function boundConnections(server: Server, most: number, onFull: () => void): Connections {
  // Browsers open some in advance. Node does not count them as idle, so a stop would wait for them.
  const unused = new Set<Socket>();
  const busy = new Set<Socket>();
  const clients = new Map<string, Set<Socket>>();
  let total = 0;

  /** The connections of the client that has most. */
  const ofTheGreediest = (): Set<Socket> => [...clients.values()].reduce((a, b) => (b.size > a.size ? b : a));
  const leastMissed = (sockets: ReadonlySet<Socket>): Socket | undefined => {
    for (const socket of sockets) if (!busy.has(socket)) return socket;
    return sockets.values().next().value;
  };

  server.on('connection', (socket: Socket) => {
    const name = clientOf(socket.remoteAddress ?? '');
    const sockets = clients.get(name) ?? new Set();
    if (total >= most) {
      onFull();
      const greediest = ofTheGreediest();
      const dropped = sockets.size + 1 < greediest.size ? leastMissed(greediest) : undefined;
      if (dropped === undefined) {
        socket.destroy();
        return;
      }
      // At once: another one may come before it has closed.
      greediest.delete(dropped);
      dropped.destroy();
    }
    clients.set(name, sockets);
    sockets.add(socket);
    unused.add(socket);
    total += 1;
    socket.once('close', () => {
      total -= 1;
      unused.delete(socket);
      busy.delete(socket);
      sockets.delete(socket);
      if (sockets.size === 0 && clients.get(name) === sockets) clients.delete(name);
    });
  });
  server.on('request', ({ socket }, response) => {
    unused.delete(socket);
    busy.add(socket);
    response.once('close', () => busy.delete(socket));
  });
  return {
    closeUnused: () => {
      for (const socket of unused) socket.destroy();
    },
  };
}
