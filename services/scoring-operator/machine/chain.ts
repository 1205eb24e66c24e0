import { derivedChainId } from '../contract/rpc.js';

/** An EVM chain id and, in words, where it is from. */
export interface EvmChainId {
  readonly from: string;
  readonly id: bigint;
}

/** Which chain everything is of that is read from, and written to. */
export interface ChainFacts {
  /** Of every URL that answers now, and what txs are signed for. */
  readonly evm: readonly EvmChainId[];
  /** Chain id of the indexed rollup; empty while the index has none yet. */
  readonly indexed: string | { readonly error: string };
}

/** What a person has said of the chain. */
export interface WantedChain {
  /** Chain id of the rollup; empty for any. */
  readonly chain_id: string;
  /** EVM chain id; undefined for any. */
  readonly evm_chain_id: bigint | undefined;
}

/** Says which chain answers. */
export interface ChainLook {
  readonly wanted: WantedChain;
  /** Never rejects for what does not answer: it is left out, or the error of the index. */
  look(signal?: AbortSignal): Promise<ChainFacts>;
}

/**
 * That something is of another chain than the rest, or than a person has said, in words; undefined when nothing is known
 * to be. A pure function.
 */
export function chainMistake({ evm, indexed }: ChainFacts, wanted: WantedChain): string | undefined {
  if (typeof indexed === 'string' && indexed !== '' && wanted.chain_id !== '' && indexed !== wanted.chain_id)
    return `the index is of ${indexed}, and the program is for ${wanted.chain_id}`;
  const expected = wanted.evm_chain_id ?? evm[0]?.id;
  const other = evm.find(({ id }) => id !== expected);
  if (other === undefined) return undefined;
  const said = `${other.from} is of EVM chain id ${other.id}`;
  return wanted.evm_chain_id === undefined
    ? `${said}, and ${evm[0]?.from} of ${expected}: they are of different chains`
    : `${said}, and the program says ${expected}`;
}

/**
 * That the EVM chain id is not the one that rollups of this family make of their chain id, in words, where a person has
 * not said which it is. A rollup may have any, so it is told and stops nothing. A pure function.
 */
export function chainDoubt({ evm, indexed }: ChainFacts, wanted: WantedChain): string | undefined {
  const chain_id = wanted.chain_id || (typeof indexed === 'string' ? indexed : '');
  if (wanted.evm_chain_id !== undefined || chain_id === '') return undefined;
  const derived = derivedChainId(chain_id);
  const other = evm.find(({ id }) => id !== derived);
  if (other === undefined) return undefined;
  return `${other.from} is of EVM chain id ${other.id}, and ${derived} would follow from ${chain_id}: see whether it is of the same rollup, and say it in the program (rollup.evm_chain_id)`;
}

/** Why it cannot be told yet whether everything is of one chain; undefined when it can. */
export function chainUnknown({ evm, indexed }: ChainFacts): string | undefined {
  if (typeof indexed !== 'string') return `the index does not say which chain it is of: ${indexed.error}`;
  if (indexed === '') return 'the index does not know yet which chain it is of';
  return evm.length === 0 ? 'no JSON-RPC URL says which chain it is of' : undefined;
}
