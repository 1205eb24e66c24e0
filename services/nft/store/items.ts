import type { AccountKey } from '../../common/chain/address.js';
import { holdingOf, isAccount, type ListName } from './tables.js';
import { type TokenState, tokenName } from './types.js';

/** A row of `token_lists` that a batch changes. */
export interface ItemRow {
  readonly list: ListName;
  readonly scope: string;
  readonly height: number;
  readonly id_key: string;
  readonly collection: AccountKey;
  readonly gone: boolean;
  /** Whether it was there before the batch. */
  readonly was: boolean;
}

/**
 * Rows of `token_lists` of one batch, by token and then by list: of several changes of an entry the last one counts. Ids may be
 * long, so that they are part of one key a token.
 */
export type ItemChanges = Map<string, Map<string, ItemRow>>;

export function* itemsOf(changes: ItemChanges): Generator<ItemRow, void, undefined> {
  for (const ofToken of changes.values()) yield* ofToken.values();
}

/** Where a token stands in the lists of one state. */
function placesIn(
  collection: AccountKey,
  state: TokenState | undefined,
): readonly (readonly [ListName, string, number])[] {
  if (state === undefined || state.burnt) return [];
  const { owner, height } = state;
  const ofCollection = [
    ['collection', collection, 0],
    ['collection_height', collection, height],
  ] as const;
  if (!isAccount(owner)) return ofCollection;
  const holding = holdingOf(owner, collection);
  return [
    ...ofCollection,
    ['owner', owner, 0],
    ['owner_height', owner, height],
    ['holding', holding, 0],
    ['holding_height', holding, height],
  ];
}

/** Notes how a token moves in its lists when one state follows another. */
export function moveItems(
  changes: ItemChanges,
  collection: AccountKey,
  id_key: string,
  before: TokenState | undefined,
  after: TokenState,
): void {
  const keyOf = ([list, scope, height]: readonly [ListName, string, number]) => `${list}/${height}/${scope}`;
  const name = tokenName(collection, id_key);
  const ofToken = changes.get(name) ?? new Map<string, ItemRow>();
  changes.set(name, ofToken);
  const [old, now] = [placesIn(collection, before), placesIn(collection, after)];
  const [oldKeys, nowKeys] = [new Set(old.map(keyOf)), new Set(now.map(keyOf))];
  const note = (place: readonly [ListName, string, number], gone: boolean): void => {
    const key = keyOf(place);
    const [list, scope, height] = place;
    // An item that leaves first was there before the batch, one that comes first was not.
    const was = ofToken.get(key)?.was ?? gone;
    ofToken.set(key, { list, scope, height, id_key, collection, gone, was });
  };
  for (const place of old) if (!nowKeys.has(keyOf(place))) note(place, true);
  for (const place of now) if (!oldKeys.has(keyOf(place))) note(place, false);
}
