import { once } from 'node:events';
import { createServer, request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';

/** A proxy of HTTP that knows names which nothing else resolves, and wants a password. */
export interface HttpProxy {
  /** Its URL, with user and password. */
  readonly url: string;
  /** What it was asked for with the right password, each once: `http HOST:PORT` or `CONNECT HOST:PORT`. */
  readonly asked: ReadonlySet<string>;
  close(): void;
}

/** Its password, which may be shown nowhere. */
export const proxyPassword = 'only-the-proxy-knows';

/** Starts one. @param ports where hosts are on this machine, by HOST:PORT */
export async function startHttpProxy(ports: Readonly<Record<string, number>>): Promise<HttpProxy> {
  const asked = new Set<string>();
  const wanted = `Basic ${Buffer.from(`weft:${proxyPassword}`).toString('base64')}`;
  const server = createServer((incoming, outgoing) => {
    const url = new URL(incoming.url ?? '');
    const host = `${url.hostname}:${url.port || '80'}`;
    const port = ports[host];
    if (incoming.headers['proxy-authorization'] !== wanted) return outgoing.writeHead(407).end();
    asked.add(`http ${host}`);
    if (port === undefined) return outgoing.writeHead(502).end();
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    const options = {
      port,
      host: '127.0.0.1',
      method: incoming.method,
      path: url.pathname + url.search,
      headers,
    };
    const passed = request(options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    passed.on('error', () => outgoing.destroy());
    return incoming.pipe(passed);
  });
  server.on('connect', ({ url: host = '', headers }, socket, head) => {
    const port = ports[host];
    const refuse = (status: string) => socket.end(`HTTP/1.1 ${status}\r\n\r\n`);
    if (headers['proxy-authorization'] !== wanted) return refuse('407 Proxy Authentication Required');
    asked.add(`CONNECT ${host}`);
    if (port === undefined) return refuse('502 Bad Gateway');
    const other = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      other.write(head);
      socket.pipe(other).pipe(socket);
    });
    socket.on('error', () => other.destroy());
    return other.on('error', () => socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://weft:${proxyPassword}@127.0.0.1:${port}`,
    asked,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
