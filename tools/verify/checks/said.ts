import { fetchCometResults } from '../../../services/common/chain/comet.js';
import { fetchReceipts } from '../../../services/common/chain/evm.js';
import type { Sides } from '../check.js';
import { parseResult } from '../result.js';

/** What a token is named by, and the block that its last change is said to be in. */
export interface SaidOf {
  readonly collection_addr: string;
  readonly height: number;
  readonly nft: { readonly token_id: string };
}

/**
 * The owner that the events of a block name last for a token, as it is spelled there; undefined
 * where they name none. Read from the node by code of its own: what the index makes of the same
 * events is what is checked. On Move objects are the chain's own and cannot deny anything.
 *
 * @param contract the contract as events spell it.
 * @throws NodeError
 */
export async function ownerInEvents(
  sides: Sides,
  token: SaidOf,
  contract: string,
): Promise<string | undefined> {
  if (sides.vm_type === 'wasm') return wasmOwnerSaid(sides, token, contract);
  return sides.vm_type === 'evm' ? evmOwnerSaid(sides, token, contract) : undefined;
}

interface Attribute {
  readonly key: string;
  readonly value: string;
}

/** Where an action of cw721 names the new owner. */
const recipientOf: Readonly<Record<string, string>> = {
  mint: 'owner',
  transfer_nft: 'recipient',
  send_nft: 'recipient',
};

async function wasmOwnerSaid(
  { rpc, signal }: Sides,
  { height, nft }: SaidOf,
  contract: string,
): Promise<string | undefined> {
  const { txs_results } = await fetchCometResults(rpc, height, signal);
  let owner: string | undefined;
  for (const text of txs_results) {
    const { code, events } = parseResult(text);
    if (code !== 0) continue;
    for (const event of (events ?? []) as { type: string; attributes: Attribute[] }[]) {
      if (event.type !== 'wasm') continue;
      for (const run of runsOf(event.attributes)) {
        if (run.get('_contract_address') !== contract || run.get('token_id') !== nft.token_id) continue;
        const member = recipientOf[run.get('action') ?? ''];
        if (member !== undefined) owner = run.get(member) ?? owner;
      }
    }
  }
  return owner;
}

/** One event may hold what several calls said: each begins with its contract. Of equal keys the last counts. */
function runsOf(attributes: readonly Attribute[]): Map<string, string>[] {
  const runs: Map<string, string>[] = [];
  for (const { key, value } of attributes) {
    if (key === '_contract_address' || runs.length === 0) runs.push(new Map());
    runs.at(-1)?.set(key, value);
  }
  return runs;
}

/** The hash of `Transfer(address,address,uint256)`. */
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';

async function evmOwnerSaid(
  { json_rpc, signal }: Sides,
  { height, nft }: SaidOf,
  contract: string,
): Promise<string | undefined> {
  const { text } = await fetchReceipts(json_rpc, height, signal);
  const receipts = JSON.parse(text) as { logs: { address: string; topics: string[] }[] }[];
  const last = receipts
    .flatMap(({ logs }) => logs)
    .filter(
      ({ address, topics: [topic, , , id = ''] }) =>
        address.toLowerCase() === contract &&
        topic === transferTopic &&
        id !== '' &&
        BigInt(id).toString() === nft.token_id,
    )
    .at(-1);
  return last === undefined ? undefined : `0x${last.topics[2]?.slice(26)}`;
}
