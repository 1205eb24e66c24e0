import { type AccountKey, parseAccount, toBech32 } from '../../common/chain/address.js';
import type { Endpoints } from '../../common/chain/endpoints.js';
import { isObject, stringOf } from '../../common/chain/events.js';
import { inParallel } from '../../common/util/concurrency.js';
import { type Outcome, read } from './outcome.js';
import { type CollectionAnswer, createAskRest, type DetailSource, questionsAtOnce } from './source.js';

/** Asks contracts with smart queries, and the node who created them. */
export function wasmSource(rest: Endpoints, account_prefix: string): DetailSource {
  const ask = createAskRest(rest);
  const pathOf = (collection: AccountKey): string =>
    `/cosmwasm/wasm/v1/contract/${toBech32(collection.padStart(64, '0'), account_prefix)}`;
  const query = async (collection: AccountKey, message: object, height: number, signal: AbortSignal) => {
    const text = Buffer.from(JSON.stringify(message)).toString('base64');
    const outcome = await ask(`${pathOf(collection)}/smart/${encodeURIComponent(text)}`, height, signal);
    return read(outcome, ({ data }) => (isObject(data) ? data : undefined), 'the answer has no data');
  };

  const askCollection = async (
    collection: AccountKey,
    height: number,
    signal: AbortSignal,
  ): Promise<Outcome<CollectionAnswer>> => {
    const info = await query(collection, { contract_info: {} }, height, signal);
    const name = read(
      info,
      (data) => (typeof data['name'] === 'string' ? data['name'].toWellFormed() : undefined),
      'contract_info has no name',
    );
    if (name.is !== 'answer') return name;
    const contract = await ask(pathOf(collection), height, signal);
    return read(
      contract,
      ({ contract_info }) => ({
        name: name.value,
        creator: isObject(contract_info)
          ? (parseAccount(stringOf(contract_info['creator']), account_prefix) ?? ('' as const))
          : ('' as const),
      }),
      '',
    );
  };

  return {
    collections: (collections, height, signal) =>
      inParallel(collections, questionsAtOnce, (collection) => askCollection(collection, height, signal)),
    uris: (tokens, height, signal) =>
      inParallel(tokens, questionsAtOnce, async ({ collection, token_id }) => {
        const info = await query(collection, { nft_info: { token_id } }, height, signal);
        if (info.is !== 'answer') return info;
        const { token_uri } = info.value;
        return { is: 'answer', value: typeof token_uri === 'string' ? token_uri.toWellFormed() : undefined };
      }),
  };
}
