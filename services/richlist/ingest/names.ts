import { setMaxListeners } from 'node:events';
import { getAddress } from 'ethers';
import type { Endpoints } from '../../common/chain/endpoints.js';
import { messageOf } from '../../common/errors.js';
import type { Log } from '../../common/log.js';
import type { Metrics } from '../../common/metrics.js';
import { inParallel } from '../../common/parallel.js';
import { within } from '../../common/signal.js';
import { fetchDenom } from '../node/denoms.js';

/** Asks what tokens are called; those that the node cannot tell now are missing from the answer. */
export type NameTokens = (tokens: readonly string[]) => Promise<ReadonlyMap<string, string>>;

export interface NameOptions {
  readonly rest: Endpoints;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  /** How long all of it may take, in milliseconds. */
  readonly patience_ms: number;
  /** After a failure nothing is asked for so long, in milliseconds: the blocks do not wait for a node that is down. */
  readonly pause_ms: number;
}

/** Names that are asked for at once. */
const atOnce = 8;

/**
 * Makes a function that asks for denoms and never fails. A contract that the bank module does
 * not know has the denom that it would give it.
 */
export function createNaming(options: NameOptions): NameTokens {
  const { rest, log, metrics, patience_ms, pause_ms } = options;
  let asksAgainAt = 0;
  return async (tokens) => {
    const names = new Map<string, string>();
    if (Date.now() < asksAgainAt) return names;
    const signal = within(patience_ms, options.signal);
    setMaxListeners(0, signal); // every request under way listens to it
    let hasFailed = false;
    const ask = async (token: string) =>
      names.set(token, (await fetchDenom(rest, token, signal)) ?? denomOf(token));
    try {
      await inParallel(tokens, atOnce, ask, () => hasFailed || signal.aborted);
    } catch (error) {
      hasFailed = true;
      asksAgainAt = Date.now() + pause_ms;
      if (!options.signal.aborted) {
        metrics.problems.inc({ service: 'richlist', kind: 'denom' });
        log.debug({ err: error }, `the denoms of tokens are asked for later: ${messageOf(error)}`);
      }
    }
    return names;
  };
}

/** What the bank module would call a contract: `evm/` and the address with the checksum's capitals. */
export const denomOf = (token: string): string => `evm/${getAddress(`0x${token}`).slice(2)}`;
