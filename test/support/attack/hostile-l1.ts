import { type HttpServer, serveHttp } from '../http-server.js';

/** A server that never ends an answer: it gives a byte now and then, or as many as anybody takes. */
export interface EndlessServer extends HttpServer {
  /** Bytes that it got rid of. */
  readonly sent: () => number;
}

/** Bytes that are written at once by a flood. */
const chunk = Buffer.alloc(1 << 20, ' ');

/** Starts one. */
export async function startEndlessServer(kind: 'drip' | 'flood'): Promise<EndlessServer> {
  let sent = 0;
  const server = await serveHttp((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    if (kind === 'drip') {
      const timer = setInterval(() => {
        sent += 1;
        response.write(' ');
      }, 100);
      response.on('close', () => clearInterval(timer));
      return;
    }
    const pump = (): void => {
      while (!response.destroyed && response.write(chunk)) sent += chunk.length;
    };
    response.on('drain', pump);
    pump();
  });
  return { ...server, sent: () => sent };
}
