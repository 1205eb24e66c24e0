import { type AccountKey, parseAccount } from '../../common/chain/address.js';
import type { Endpoints } from '../../common/chain/endpoints.js';
import { isObject, stringOf } from '../../common/chain/events.js';
import { parseInnerJson } from '../../common/util/bounded-input.js';
import { inParallel } from '../../common/util/concurrency.js';
import { type Outcome, read } from './outcome.js';
import { type AskRest, createAskRest, type DetailSource, questionsAtOnce } from './source.js';

/** A token as its resource has it. */
export interface NftResource {
  readonly collection: AccountKey;
  readonly token_id: string;
  readonly uri: string;
}

/** Reads a resource of an object; refused when there is none. */
async function askResource(
  ask: AskRest,
  object: AccountKey,
  struct_tag: string,
  height: number,
  signal: AbortSignal,
): Promise<Outcome<Record<string, unknown>>> {
  const path = `/initia/move/v1/accounts/0x${object}/resources/by_struct_tag?struct_tag=${encodeURIComponent(struct_tag)}`;
  return read(await ask(path, height, signal), dataOf, 'the resource cannot be read');
}

function dataOf({ resource }: Record<string, unknown>): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = parseInnerJson(isObject(resource) ? stringOf(resource['move_resource']) : '');
    return isObject(parsed) && isObject(parsed['data']) ? parsed['data'] : undefined;
  } catch {
    return undefined;
  }
}

/** Which token an object is after a block, 0 for the last one; refused when it is none. */
export async function askNft(
  ask: AskRest,
  object: AccountKey,
  height: number,
  signal: AbortSignal,
): Promise<Outcome<NftResource>> {
  const data = await askResource(ask, object, '0x1::nft::Nft', height, signal);
  return read(
    data,
    ({ collection, token_id, uri }) => {
      const inner = isObject(collection) ? parseAccount(stringOf(collection['inner']), '') : undefined;
      return inner === undefined || typeof token_id !== 'string'
        ? undefined
        : { collection: inner, token_id, uri: stringOf(uri).toWellFormed() };
    },
    'no token',
  );
}

/** Asks for the resources of collections and tokens that are older than the index. */
export function moveSource(rest: Endpoints): DetailSource {
  const ask = createAskRest(rest);
  return {
    collections: (collections, height, signal) =>
      inParallel(collections, questionsAtOnce, async (collection) =>
        read(
          await askResource(ask, collection, '0x1::collection::Collection', height, signal),
          ({ name, creator }) =>
            typeof name === 'string'
              ? { name: name.toWellFormed(), creator: parseAccount(stringOf(creator), '') ?? ('' as const) }
              : undefined,
          'the collection has no name',
        ),
      ),
    uris: (tokens, height, signal) =>
      inParallel(tokens, questionsAtOnce, async ({ object }) =>
        read(await askNft(ask, object, height, signal), ({ uri }) => uri, ''),
      ),
  };
}
