import { Server } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { hostPort } from '../runtime/network.js';
import type { Readiness } from '../runtime/ops.js';
import { bind, plainTransport } from './transport.js';

/** A gRPC server that has nothing but the health check. */
export interface HealthServer {
  readonly port: number;
  /** Looks at the readiness now, for callers who are told without delay. */
  look(): void;
  close(): Promise<void>;
}

/**
 * Serves grpc.health.v1 in plain text, for probes: those of Kubernetes can neither show a
 * certificate nor wait for a server that only comes up once its database answers.
 * The name `` says that the process lives; the name of a service, whether that is ready for calls.
 */
export async function serveHealth(
  host: string,
  port: number,
  services: Readonly<Record<string, Readiness>>,
): Promise<HealthServer> {
  const health = new HealthImplementation({ '': 'SERVING' });
  const followed = followReadiness(health, services);
  const server = new Server();
  health.addToServer(server as never);
  const bound = await bind(server, hostPort(host, port), plainTransport.server);
  return {
    port: bound,
    look: followed.look,
    close: async () => {
      followed.stop();
      server.forceShutdown();
    },
  };
}

/** How often the readiness is looked at, in milliseconds. */
const look_ms = 500;

/** Statuses of the health check that follow the readiness of services. */
export interface FollowedReadiness {
  /** Looks at the readiness now, for callers who are told without delay. */
  look(): void;
  stop(): void;
}

/** Keeps the status of each service in a health check as its readiness is. */
export function followReadiness(
  health: HealthImplementation,
  services: Readonly<Record<string, Readiness>>,
): FollowedReadiness {
  const look = (): void => {
    for (const [name, readiness] of Object.entries(services))
      health.setStatus(name, readiness().ready ? 'SERVING' : 'NOT_SERVING');
  };
  look();
  const timer = setInterval(look, look_ms);
  timer.unref();
  return { look, stop: () => clearInterval(timer) };
}
