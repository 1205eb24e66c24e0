import { type AccountKey, parseAccount } from '../../common/chain/address.js';
import type { TxEvent } from '../../common/chain/events.js';
import type { TxSink } from './types.js';

/**
 * Reads what the events of a Wasm tx say of NFTs (cw721 0.18 and 0.19). Only events of type
 * exactly `wasm` count. One event may hold several runs, each beginning with the contract's
 * address, which contracts cannot forge; of a key that stands twice in a run the last counts.
 */
export function decodeWasmEvents(events: readonly TxEvent[], account_prefix: string, sink: TxSink): void {
  for (const event of events) {
    if (event.type !== 'wasm') continue;
    for (const run of runsOf(event)) {
      const collection = parseAccount(run.get('_contract_address') ?? '', account_prefix);
      if (collection !== undefined) decodeRun(collection, run, account_prefix, sink);
    }
  }
}

function runsOf({ attributes }: TxEvent): Map<string, string>[] {
  const runs: Map<string, string>[] = [];
  for (const { key, value } of attributes) {
    if (key === '_contract_address') runs.push(new Map());
    runs.at(-1)?.set(key, value);
  }
  return runs;
}

function decodeRun(
  collection: AccountKey,
  run: ReadonlyMap<string, string>,
  account_prefix: string,
  sink: TxSink,
): void {
  const [action, token_id] = [run.get('action'), run.get('token_id')];
  const ownerOf = (text: string): string => parseAccount(text, account_prefix) ?? `?${text.toWellFormed()}`;
  // cw721 0.18 names a minter at every mint, 0.19 at instantiation.
  if (run.has('minter')) sink.add({ what: 'collection', collection, creator: '' });
  if (action === 'update_collection_info') sink.add({ what: 'refresh_collection', collection });
  if (token_id === undefined) return;
  const token = { collection, token_id };
  const [owner, recipient] = [run.get('owner'), run.get('recipient')];
  if (action === 'mint' && owner !== undefined) {
    sink.add({ what: 'collection', collection, creator: '' });
    const uri = run.get('token_uri')?.toWellFormed();
    sink.add({ what: 'mint', token, owner: ownerOf(owner), ...(uri === undefined ? {} : { uri }) });
  } else if ((action === 'transfer_nft' || action === 'send_nft') && recipient !== undefined) {
    sink.add({ what: 'transfer', token, owner: ownerOf(recipient) });
  } else if (action === 'burn') {
    sink.add({ what: 'burn', token });
  } else if (action === 'update_nft_info') {
    sink.add({ what: 'uri', token });
  } else if (action === 'mint' || action === 'transfer_nft' || action === 'send_nft') {
    sink.problem(collection, `a ${action} that names nobody`);
  }
}
