import { createServer, type RequestListener, type Server, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that a test has on this machine. */
export interface HttpServer {
  readonly server: Server;
  readonly port: number;
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Ends it with all its connections; may be called twice. */
  close(): Promise<void>;
}

/** Serves HTTP. @param port 0 for any. */
export async function serveHttp(
  listener: RequestListener,
  port = 0,
  options: ServerOptions = {},
): Promise<HttpServer> {
  const server = createServer(options, listener);
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const bound = (server.address() as AddressInfo).port;
  return {
    server,
    port: bound,
    url: `http://127.0.0.1:${bound}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A REST API of a node that has only these routes. @param routes asked for with every request. */
export const serveRest = (routes: () => Readonly<Record<string, unknown>>): Promise<HttpServer> =>
  serveHttp((request, response) => {
    const found = routes()[(request.url ?? '').split('?')[0] as string];
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { code: 5, message: 'not found', details: [] }));
  });
