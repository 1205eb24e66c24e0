import type { Endpoints } from '../common/chain/endpoints.js';
import { fetchValidators, type Validator } from '../common/chain/rest.js';
import type { Proposer } from '../common/gen/indexer/block/v1/block.js';
import { messageOf } from '../common/runtime/errors.js';
import type { Log } from '../common/runtime/log.js';
import type { BlockStore } from './store.js';

/** Names of proposers, by the consensus address that block headers give. */
export interface Validators {
  /** The proposer of a block; three empty strings when it is not known. */
  find(consensus_address: string): Proposer;
  /** Reads what the tables hold. @returns whether anything differs from what was known. */
  load(): Promise<boolean>;
  /**
   * Asks the node, when this proposer is not known and it was not asked just now, and now and
   * then all the same: names change.
   *
   * @returns whether anything new was learnt.
   */
  learn(consensus_address: string, rest: Endpoints, signal: AbortSignal): Promise<boolean>;
}

const unknown: Proposer = { moniker: '', identity: '', operator_address: '' };

/** A proposer that the node does not know either is asked for again after this time. */
const pause_ms = 30_000;

/** Those that are known are asked for again after this time. */
const refresh_ms = 60 * 60_000;

/**
 * Keeps the names of proposers in memory; every validator that ever was stays in the tables.
 *
 * @param now_ms the clock.
 */
export function createValidators(
  store: Pick<BlockStore, 'validators' | 'writeValidators'>,
  log: Log,
  now_ms: () => number = Date.now,
): Validators {
  const known = new Map<string, Validator>();
  let askedAt = 0;
  const isNews = (validator: Validator): boolean => {
    const before = known.get(validator.consensus_address);
    return (
      before === undefined ||
      before.moniker !== validator.moniker ||
      before.identity !== validator.identity ||
      before.operator_address !== validator.operator_address
    );
  };
  const keep = (validators: readonly Validator[]): void => {
    for (const validator of validators) known.set(validator.consensus_address, validator);
  };
  return {
    async load() {
      const news = (await store.validators()).filter(isNews);
      keep(news);
      return news.length > 0;
    },
    find(consensus_address) {
      const validator = known.get(consensus_address);
      if (validator === undefined) return unknown;
      const { moniker, identity, operator_address } = validator;
      return { moniker, identity, operator_address };
    },
    async learn(consensus_address, rest, signal) {
      const age = now_ms() - askedAt;
      if (consensus_address === '' || age < (known.has(consensus_address) ? refresh_ms : pause_ms))
        return false;
      askedAt = now_ms();
      try {
        const news = (await fetchValidators(rest, signal)).filter(isNews);
        await store.writeValidators(news);
        keep(news);
        return news.length > 0;
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, `the validators are not known: ${messageOf(error)}`);
        return false;
      }
    },
  };
}
