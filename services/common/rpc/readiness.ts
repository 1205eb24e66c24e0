import type { HealthImplementation } from 'grpc-health-check';
import type { Readiness } from '../ops.js';

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
