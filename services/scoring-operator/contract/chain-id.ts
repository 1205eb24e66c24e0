import { keccak256, toUtf8Bytes } from 'ethers';

/** Above this, wallets take no chain id. */
const chainIds = 4_503_599_627_370_476n;

/** The EVM chain id that a rollup of this family makes of its chain id: the first 8 bytes of its hash, cut for wallets. */
export function derivedChainId(chain_id: string): bigint {
  return BigInt(keccak256(toUtf8Bytes(chain_id)).slice(0, 18)) % chainIds;
}
