import { createServer, type RequestListener, Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server of HTTP on a port of this machine. */
export interface HttpServer {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  readonly port: number;
  /** Ends it, and every connection to it; may be called twice. */
  close(): Promise<void>;
}

/** Starts a server that answers as a function does, or one that is made already, on any free port. */
export async function startHttp(answer: RequestListener | Server): Promise<HttpServer> {
  const server = answer instanceof Server ? answer : createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
