import { parseAccount, toHex } from '../../../common/chain/address.js';
import { TokenChangeKind } from '../../../common/gen/indexer/nft/v1/nft.js';
import { type Clock, createTally, ownerTally } from '../measure.js';
import type { Measure, NftsRule } from '../policy.js';
import type { ScoreWindow } from '../result.js';
import { type FactClients, readStream } from './clients.js';

/**
 * Measures who holds how many NFTs of a collection.
 *
 * @throws RpcError when the service does not answer, ABORTED when the chain is rolled back meanwhile.
 */
export async function gatherNfts(
  { collection, at }: NftsRule,
  { from_height, to_height }: ScoreWindow,
  clock: Clock,
  account_prefix: string,
  { nft }: FactClients,
  signal: AbortSignal,
): Promise<Measure> {
  const collection_addr = toHex(collection);
  // Owners that name no account of this rollup own nothing that counts.
  const keyOf = (text: string) => parseAccount(text, account_prefix);
  const ownersAt = async function* (height: number): AsyncGenerator<string, void, undefined> {
    if (height < 1) return; // 0 would ask for the latest state
    const request = { collection_addr, height };
    for await (const { tokens } of readStream(nft.streamCollectionTokens.bind(nft), request, signal))
      for (const { owner } of tokens) {
        const key = keyOf(owner);
        if (key !== undefined) yield key;
      }
  };

  if (at === 'end') {
    const tally = createTally();
    for await (const owner of ownersAt(to_height)) tally.add(owner, 1n);
    return tally.measure();
  }
  const tally = ownerTally(clock);
  for await (const owner of ownersAt(from_height - 1)) tally.open(owner);
  if (from_height <= to_height) {
    const request = { from_height, to_height, collection_addr };
    for await (const { changes } of readStream(nft.streamChanges.bind(nft), request, signal))
      for (const { height, kind, previous_owner, owner } of changes) {
        const isBurn = kind === TokenChangeKind.BURN;
        tally.change({
          height,
          previous_owner: keyOf(previous_owner),
          owner: isBurn ? undefined : keyOf(owner),
        });
      }
  }
  return tally.measure();
}
