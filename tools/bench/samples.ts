import { mulberry32 } from '../replay/faults.js';
import { describeGenerated, type GeneratedChain } from '../replay/generate.js';
import type { Samples } from './routes.js';

/** How many blocks are looked at for hashes and accounts. */
const blocksSampled = 1_000;

/**
 * Things to ask for from the first `height` blocks of a generated chain. Accounts are taken
 * as txs name them, so busy ones come up as often as they would in life.
 */
export function takeSamples(chain: GeneratedChain, height: number, txs_per_block: number): Samples {
  const random = mulberry32(7);
  const hashes: string[] = [];
  const ethHashes: string[] = [];
  const accounts: string[] = [];
  const heights: number[] = [];
  const signed = new Map<string, number>();
  for (let i = 0; i < Math.min(blocksSampled, height); i++) {
    const at = 1 + Math.floor(random() * height);
    heights.push(at);
    for (const tx of describeGenerated(chain, at)) {
      hashes.push(tx.hash);
      if (tx.eth_hash !== null) ethHashes.push(tx.eth_hash);
      const account = tx.accounts[Math.floor(random() * tx.accounts.length)];
      if (account !== undefined) accounts.push(account);
      for (const signer of tx.signers) signed.set(signer, (signed.get(signer) ?? 0) + 1);
    }
  }
  const busiest = [...signed].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
  return { hashes, ethHashes, accounts, busiest, heights, total: height * txs_per_block };
}
