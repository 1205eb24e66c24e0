import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of HTTP on a port of this machine. */
export interface HttpServer {
  readonly server: Server;
  readonly port: number;
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Ends it, and every connection to it; may be called twice. */
  close(): Promise<void>;
}

/** Starts a server on any free port, which answers as a function does. */
export async function startHttp(answer: RequestListener): Promise<HttpServer> {
  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { server, port, url: `http://127.0.0.1:${port}`, close };
}
