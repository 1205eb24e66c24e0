import { createServer, type RequestListener, type ServerOptions } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that a test has on this machine. */
export interface HttpServer {
  readonly url: string;
  /** Ends it with all its connections. */
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
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
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
