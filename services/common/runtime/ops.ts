import { createServer, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import type { Metrics } from './metrics.js';
import { cannotListen, hostPort } from './network.js';

/** Whether a process can do its work, and if not, why. */
export type Readiness = () => { readonly ready: boolean; readonly reason: string };

/** Ready when every one of these services is; the reason names those that are not. */
export function allReady(services: Readonly<Record<string, Readiness>>): Readiness {
  return () => {
    const reasons = Object.entries(services)
      .map(([name, readiness]) => [name, readiness()] as const)
      .filter(([, { ready }]) => !ready)
      .map(([name, { reason }]) => `${name}: ${reason}`);
    return { ready: reasons.length === 0, reason: reasons.join('; ') };
  };
}

/** The side server for those who run the process. */
export interface OpsServer {
  readonly port: number;
  close(): Promise<void>;
}

/** Connections at once: those who look at a process are few, and begin anew for each look. */
const mostConnections = 128;

/** Closes the oldest connection when there are too many: whoever asks now is let in. */
function boundConnections(server: Server): void {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
    const [oldest] = open;
    if (open.size <= mostConnections || oldest === undefined) return;
    // At once: another one may come before it has closed.
    open.delete(oldest);
    oldest.destroy();
  });
}

/** How long metrics that were collected are given to others as well, in milliseconds: collecting them takes as long as many requests. */
const keptFor_ms = 250;

/** Collects the metrics, once for all who ask at the same time. */
function createCollection({ registry }: Metrics): () => Promise<string> {
  let kept: { readonly text: Promise<string>; readonly until_ms: number } | undefined;
  return () => {
    const now_ms = performance.now();
    if (kept === undefined || now_ms >= kept.until_ms)
      kept = { text: registry.metrics(), until_ms: now_ms + keptFor_ms };
    return kept.text;
  };
}

/**
 * Serves /metrics (Prometheus), /healthz (the process lives) and /readyz (it can do its
 * work; 503 with the reason while it cannot).
 */
export async function serveOps(
  host: string,
  port: number,
  metrics: Metrics,
  readiness: Readiness,
): Promise<OpsServer> {
  const collect = createCollection(metrics);
  const server = createServer((request, response) => {
    const answer = (status: number, body: string, type = 'text/plain; charset=utf-8'): void => {
      response.writeHead(status, { 'content-type': type }).end(body);
    };
    const path = request.url?.split('?')[0];
    if (path === '/metrics') {
      collect().then(
        (text) => answer(200, text, metrics.registry.contentType),
        () => answer(500, 'the metrics could not be collected\n'),
      );
    } else if (path === '/healthz') {
      answer(200, 'ok\n');
    } else if (path === '/readyz') {
      const { ready, reason } = readiness();
      answer(ready ? 200 : 503, ready ? 'ok\n' : `${reason}\n`);
    } else {
      answer(404, 'there are /metrics, /healthz and /readyz\n');
    }
  });
  boundConnections(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, hostPort(host, port))));
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
