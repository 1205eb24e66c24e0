import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { clientOf } from './client.js';

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
