import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { cannotListen, hostPort } from './listen.js';
import type { Metrics } from './metrics.js';

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
  const server = createServer((request, response) => {
    const answer = (status: number, body: string, type = 'text/plain; charset=utf-8'): void => {
      response.writeHead(status, { 'content-type': type }).end(body);
    };
    const path = request.url?.split('?')[0];
    if (path === '/metrics') {
      metrics.registry.metrics().then(
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
