import { appendFileSync } from 'node:fs';
import type { FaultPoint } from '../../services/common/runtime/lifecycle.js';

/**
 * Kills this process at a point between two writes, as its environment says: CRASH_AT names the
 * point and how often it is passed before (`point#times`), CRASH_LOG is a file that collects
 * the points.
 */
export function crashPoint(env: NodeJS.ProcessEnv): FaultPoint {
  const [point, times] = (env['CRASH_AT'] ?? '').split('#');
  let passed = 0;
  return (where) => {
    if (env['CRASH_LOG'] !== undefined) appendFileSync(env['CRASH_LOG'], `${where}\n`);
    if (where === point && ++passed > Number(times ?? 0)) process.kill(process.pid, 'SIGKILL');
  };
}
