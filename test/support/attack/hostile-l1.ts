import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A server that never ends an answer: it gives a byte now and then, or as many as anybody takes. */
export interface EndlessServer {
  readonly url: string;
  /** Bytes that it got rid of. */
  readonly sent: () => number;
  stop(): Promise<void>;
}

/** Bytes that are written at once by a flood. */
const chunk = Buffer.alloc(1 << 20, ' ');

/** Starts one. */
export async function startEndlessServer(kind: 'drip' | 'flood'): Promise<EndlessServer> {
  let sent = 0;
  const server = createServer((_, response) => {
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent: () => sent,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
