import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';
import { KubeConfig } from '@kubernetes/client-node';
import { serveHttp } from '../http-server.js';
import type { ControlPlane } from './control-plane.js';

/** A way to the API server on which watches can fall silent while their connections stay open. */
export interface StallingProxy {
  /** A connection through it, as an administrator. */
  readonly config: KubeConfig;
  /** Watches that are open now tell nothing any more; later ones do. */
  stall(): void;
  /** Watches that were opened so far. */
  readonly watches: number;
  close(): Promise<void>;
}

/** Starts one in front of a control plane. */
export async function startStallingProxy(plane: ControlPlane): Promise<StallingProxy> {
  const agent = new Agent({ ca: readFileSync(plane.caFile), keepAlive: true });
  let [watches, stalledUpTo] = [0, 0];
  const server = await serveHttp((incoming, outgoing) => {
    const isWatch = /[?&]watch=(true|1)/.test(incoming.url ?? '');
    if (isWatch) watches += 1;
    const number = isWatch ? watches : Number.POSITIVE_INFINITY;
    const { host: _, ...headers } = incoming.headers;
    const onward = request(
      plane.url + incoming.url,
      { method: incoming.method ?? 'GET', headers, agent },
      (response) => {
        outgoing.writeHead(response.statusCode ?? 502, response.headers);
        outgoing.flushHeaders();
        response.on('data', (chunk: Buffer) => {
          if (number > stalledUpTo) outgoing.write(chunk);
        });
        response.on('end', () => {
          if (number > stalledUpTo) outgoing.end();
        });
        response.on('error', () => outgoing.destroy());
      },
    );
    onward.on('error', () => outgoing.destroy());
    outgoing.on('close', () => onward.destroy());
    incoming.pipe(onward);
  });
  const config = new KubeConfig();
  config.loadFromClusterAndUser(
    {
      name: 'test',
      server: server.url,
      // The library takes plain HTTP on no other terms.
      skipTLSVerify: true,
    },
    { name: 'test', token: plane.config().getCurrentUser()?.token ?? '' },
  );
  return {
    config,
    stall() {
      stalledUpTo = watches;
    },
    get watches() {
      return watches;
    },
    close() {
      agent.destroy();
      return server.close();
    },
  };
}
