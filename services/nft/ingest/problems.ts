import type { Log } from '../../common/log.js';
import { createLru } from '../../common/lru.js';
import type { Metrics } from '../../common/metrics.js';
import type { DecodeProblem } from '../decode/types.js';

/** How many kinds of problems are remembered. */
const remembered = 10_000;

/**
 * Counts what could not be read, and logs each kind of problem of each contract once: a
 * contract that emits anything would fill the log otherwise.
 */
export function createProblemLog(
  log: Log,
  metrics: Metrics,
): (height: number, problems: readonly DecodeProblem[]) => void {
  const known = createLru<string, true>(remembered);
  return (height, problems) => {
    for (const { source, reason } of problems) {
      metrics.problems.inc({ service: 'nft', kind: 'decode' });
      const kind = `${source} ${reason}`.slice(0, 300);
      if (known.has(kind)) continue;
      known.set(kind, true);
      log.warn({ height, source: source.slice(0, 100), reason }, 'an event of an NFT could not be read');
    }
  };
}
