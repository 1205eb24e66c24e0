import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { hostAddress } from './network.js';

/** A server of the loopback interface, made reachable for pods. */
export interface Forwarded {
  /** Its URL for pods. */
  readonly url: string;
  close(): void;
}

/** Passes connections from the address that pods see to a server of this machine. @param url http://127.0.0.1:PORT/path */
export async function forward(url: string): Promise<Forwarded> {
  const target = new URL(url);
  const port = Number(target.port);
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    const other = connect(port, '127.0.0.1');
    for (const [from, to] of [
      [socket, other],
      [other, socket],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on('error', () => to.destroy());
      from.on('close', () => {
        to.destroy();
        sockets.delete(from);
      });
    }
  });
  server.listen(0, hostAddress);
  await once(server, 'listening');
  target.hostname = hostAddress;
  target.port = String((server.address() as { port: number }).port);
  return {
    url: target.href.replace(/\/$/, ''),
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
