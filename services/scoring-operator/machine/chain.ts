import { derivedChainId } from '../contract/chain-id.js';

/** Which chain everything is of that is read from, and written to. */
export interface ChainFacts {
  /** EVM chain ids by where they are from: the hosts that answer now, and what txs are signed for. */
  readonly evm: ReadonlyMap<string, bigint>;
  /** Chain id of the indexed rollup; empty while the index has none yet. */
  readonly indexed: string | { readonly error: string };
}

/** What a person has said of the chain. */
export interface WantedChain {
  /** Chain id of the rollup; empty for any. */
  readonly chain_id: string;
  /** EVM chain id; undefined: the one that follows from the chain id of the indexed rollup. */
  readonly evm_chain_id: bigint | undefined;
}

/** Says which chain answers. */
export interface ChainLook {
  readonly wanted: WantedChain;
  /** Never rejects for what does not answer: it is left out, or the error of the index. */
  look(signal?: AbortSignal): Promise<ChainFacts>;
}

/** That something is of another chain than the rest, in words; undefined when nothing is known to be. A pure function. */
export function chainMistake({ evm, indexed }: ChainFacts, wanted: WantedChain): string | undefined {
  const known = typeof indexed === 'string' ? indexed : '';
  if (known !== '' && wanted.chain_id !== '' && known !== wanted.chain_id)
    return `the index is of ${known}, and the program is for ${wanted.chain_id}`;
  const chain_id = wanted.chain_id || known;
  const expected = wanted.evm_chain_id ?? (chain_id === '' ? undefined : derivedChainId(chain_id));
  if (expected === undefined) return undefined;
  const other = [...evm].find(([, id]) => id !== expected);
  if (other === undefined) return undefined;
  const [where, id] = other;
  return wanted.evm_chain_id === undefined
    ? `${where} is of EVM chain id ${id}, and ${chain_id} has ${expected}: is it another rollup? If it is right, say it in the program (rollup.evm_chain_id)`
    : `${where} is of EVM chain id ${id}, and the program says ${expected}`;
}

/** Why it cannot be told yet whether everything is of one chain; undefined when it can. */
export function chainUnknown({ evm, indexed }: ChainFacts): string | undefined {
  if (typeof indexed !== 'string') return `the index does not say which chain it is of: ${indexed.error}`;
  if (indexed === '') return 'the index does not know yet which chain it is of';
  return evm.size === 0 ? 'no JSON-RPC URL says which chain it is of' : undefined;
}
