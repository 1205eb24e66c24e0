import type { Endpoints } from '../common/chain/endpoints.js';
import { fetchValidators, type Validator } from '../common/chain/rest.js';
import { messageOf } from '../common/errors.js';
import type { Proposer } from '../common/gen/indexer/block/v1/block.js';
import type { Log } from '../common/log.js';
import type { BlockStore } from './store.js';

/** Names of proposers, by the consensus address that block headers give. */
export interface Validators {
  /** The proposer of a block; three empty strings when it is not known. */
  find(consensus_address: string): Proposer;
  /** Reads what the tables hold. */
  load(): Promise<void>;
  /**
   * Asks the node, when this proposer is not known and it was not asked just now.
   *
   * @returns whether anything new was learnt.
   */
  learn(consensus_address: string, rest: Endpoints, signal: AbortSignal): Promise<boolean>;
}

const unknown: Proposer = { moniker: '', identity: '', operator_address: '' };

/** A proposer that the node does not know either is asked for again after this time. */
const pause_ms = 30_000;

/** Keeps the names of proposers in memory; every validator that ever was stays in the tables. */
export function createValidators(store: BlockStore, log: Log): Validators {
  const known = new Map<string, Validator>();
  let askedAt = 0;
  const load = async (): Promise<void> => {
    for (const validator of await store.validators()) known.set(validator.consensus_address, validator);
  };
  return {
    load,
    find(consensus_address) {
      const validator = known.get(consensus_address);
      if (validator === undefined) return unknown;
      const { moniker, identity, operator_address } = validator;
      return { moniker, identity, operator_address };
    },
    async learn(consensus_address, rest, signal) {
      if (consensus_address === '' || known.has(consensus_address) || Date.now() - askedAt < pause_ms)
        return false;
      askedAt = Date.now();
      try {
        const fresh = (await fetchValidators(rest, signal)).filter(
          (validator) => !known.has(validator.consensus_address),
        );
        await store.writeValidators(fresh);
        for (const validator of fresh) known.set(validator.consensus_address, validator);
        return fresh.length > 0;
      } catch (error) {
        if (!signal.aborted) log.warn({ err: error }, `the validators are not known: ${messageOf(error)}`);
        return false;
      }
    },
  };
}
