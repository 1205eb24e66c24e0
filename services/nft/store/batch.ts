import type { AccountKey } from '../../common/chain/address.js';
import type { NftBlock, NftEvent, TokenRef } from '../decode/types.js';
import { tokenKey } from '../token-key.js';
import { type ItemChanges, moveItems } from './items.js';
import { countKey, type Known } from './known.js';
import { isAccount } from './tables.js';
import { changeOf, placeOf, step, withBirth } from './token.js';
import {
  type AccountChange,
  type Ask,
  type Birth,
  type Change,
  type CollectionName,
  type Origin,
  type TokenState,
  tokenName,
} from './types.js';

/** A token that a batch touched, as it is after it. */
export interface TouchedToken {
  readonly collection: AccountKey;
  readonly id_key: string;
  readonly state: TokenState;
}

/** A count that a batch touched. */
export interface TouchedCount {
  readonly owner: string;
  readonly collection: AccountKey;
  readonly n: number;
}

/** Rows of a batch, table by table. */
export interface Batch {
  readonly changes: Change[];
  readonly accountChanges: AccountChange[];
  readonly tokens: Map<string, TouchedToken>;
  readonly items: ItemChanges;
  readonly counts: Map<string, TouchedCount>;
  readonly objects: { object: AccountKey; collection: AccountKey; id_key: string; at: number }[];
  readonly contracts: { contract: AccountKey; creator: string; timestamp: string; at: number }[];
  readonly births: Birth[];
  readonly classes: { class_name: string; origin_name: string; at: number }[];
  readonly asks: Ask[];
  /** Move: names that the chain says. */
  readonly names: CollectionName[];
  /** Collections of which more is known now, as they were known before. */
  readonly origins: Map<AccountKey, Origin | undefined>;
}

/** A batch without rows. */
export const emptyBatch = (): Batch => ({
  changes: [],
  accountChanges: [],
  tokens: new Map(),
  items: new Map(),
  counts: new Map(),
  objects: [],
  contracts: [],
  births: [],
  classes: [],
  asks: [],
  names: [],
  origins: new Map(),
});

interface Context {
  readonly batch: Batch;
  readonly known: Known;
  readonly vm: 'evm' | 'move' | 'wasm';
  readonly timestamp: string;
  readonly at: number;
}

/**
 * Adds a block's rows to a batch, and to `known` what it changes. Pure but for the two: the
 * same blocks on the same knowledge give the same rows.
 *
 * @param turn awaited between events: a block may have very many.
 */
export async function addBlock(
  batch: Batch,
  known: Known,
  block: NftBlock,
  vm: Context['vm'],
  turn: () => Promise<void> | undefined,
): Promise<void> {
  const { height, timestamp } = block;
  for (const event of block.events) {
    addEvent({ batch, known, vm, timestamp, at: placeOf(height, event.index) }, event);
    await turn();
  }
}

function addEvent(context: Context, event: NftEvent): void {
  const { batch, known, at, timestamp } = context;
  switch (event.what) {
    case 'contract': {
      const creation = { creator: event.tx.signer, timestamp, at };
      if (known.contracts.has(event.contract)) return;
      known.contracts.set(event.contract, creation);
      batch.contracts.push({ contract: event.contract, ...creation });
      return;
    }
    case 'class':
      if (known.classes.get(event.class_name) === event.origin_name) return;
      known.classes.set(event.class_name, event.origin_name);
      batch.classes.push({ class_name: event.class_name, origin_name: event.origin_name, at });
      return;
    case 'collection':
      addBirth(context, event.collection, {
        kind: 'certain',
        born_at: at,
        creator: event.creator,
        name: event.name ?? '',
        timestamp,
      });
      return;
    case 'renamed':
      addBirth(context, event.collection, {
        kind: 'renamed',
        born_at: at,
        creator: '',
        name: event.name,
        timestamp,
      });
      return;
    case 'refresh_collection':
      if (known.origins.has(event.collection)) askCollection(context, event.collection);
      return;
    case 'refresh_tokens':
      if (known.origins.has(event.collection))
        askTokens(context, event.collection, tokenKey(event.first_id), tokenKey(event.last_id));
      return;
    default:
      addTokenEvent(context, event);
  }
}

type TokenEvent = Extract<NftEvent, { token: TokenRef }>;

function addTokenEvent(context: Context, event: TokenEvent): void {
  const { batch, known, vm, at, timestamp } = context;
  const place = placeOfToken(known, event.token);
  if (place === undefined) return;
  const { collection, id_key } = place;
  const name = tokenName(collection, id_key);
  const before = known.tokens.get(name);
  // An object that is gone cannot move on Move; elsewhere contracts say what they like.
  if (vm === 'move' && event.what === 'transfer' && before?.burnt) return;
  const { what, tx } = event;
  const uri = 'uri' in event ? event.uri : undefined;
  const askedUri = what === 'uri' && uri === undefined;
  const wanted = {
    kind: what,
    owner: 'owner' in event ? event.owner : undefined,
    uri,
    object: event.token.object,
    at,
    tx_hash: tx.hash,
    timestamp,
    listed: tx.hash !== '' && !askedUri,
  };
  const after = step(before, wanted);
  if (after === undefined) return;
  known.tokens.set(name, after);
  batch.tokens.set(name, { collection, id_key, state: after });
  batch.changes.push(changeOf(collection, id_key, before, after, wanted));
  moveItems(batch.items, collection, id_key, before, after);
  moveHoldings(context, { collection, id_key }, what, before, after);
  if (event.token.object !== undefined && event.token.collection !== undefined && what === 'mint')
    rememberObject(context, event.token.object, place);
  if (after.minted_at === at) {
    addFirstSight(context, collection, what === 'mint', tx.signer);
    // On Move a mint says the uri.
    if (vm !== 'move' || what !== 'mint') askTokens(context, collection, id_key, id_key);
  } else if (askedUri) askTokens(context, collection, id_key, id_key);
}

function placeOfToken(known: Known, token: TokenRef): { collection: AccountKey; id_key: string } | undefined {
  if (token.collection === undefined) return known.objects.get(token.object);
  return { collection: token.collection, id_key: tokenKey(token.token_id) };
}

function rememberObject(
  { batch, known, at }: Context,
  object: AccountKey,
  token: { collection: AccountKey; id_key: string },
): void {
  if (known.objects.has(object)) return;
  known.objects.set(object, token);
  batch.objects.push({ object, ...token, at });
}

/** A token came to be: its collection did at the latest now. */
function addFirstSight(context: Context, collection: AccountKey, isMint: boolean, signer: string): void {
  const { known, vm, at, timestamp } = context;
  if (known.origins.has(collection)) return;
  const contract = known.contracts.get(collection);
  addBirth(context, collection, {
    // On Wasm a transfer alone may be of anything.
    kind: isMint || vm === 'evm' ? 'certain' : 'seen',
    born_at: contract?.at ?? at,
    creator: contract?.creator ?? (vm === 'evm' ? signer : ''),
    name: '',
    timestamp: contract?.timestamp ?? timestamp,
  });
}

function addBirth(context: Context, collection: AccountKey, row: Omit<Birth, 'collection' | 'at'>): void {
  const { batch, known, vm, at } = context;
  const birth: Birth = { collection, ...row, at };
  const before = known.origins.get(collection);
  const origin = withBirth(before, birth);
  if (origin === undefined || origin === before) return;
  known.origins.set(collection, origin);
  if (!batch.origins.has(collection)) batch.origins.set(collection, before);
  batch.births.push(birth);
  if (vm !== 'move' || origin.creator === '') {
    askCollection(context, collection);
    return;
  }
  const { creator, name } = origin;
  batch.names.push({ collection, name, origin_name: known.classes.get(name) ?? '', creator, at });
}

function askCollection({ batch, at }: Context, collection: AccountKey): void {
  const last = batch.asks.at(-1);
  if (last?.subject === 'collection' && last.collection === collection && last.at === at) return;
  batch.asks.push({ at, subject: 'collection', collection, first_key: '', last_key: '' });
}

function askTokens(
  { batch, at }: Context,
  collection: AccountKey,
  first_key: string,
  last_key: string,
): void {
  batch.asks.push({ at, subject: 'tokens', collection, first_key, last_key });
}

/** Notes what a change of a token changes for accounts and for its collection, and in their counts. */
function moveHoldings(
  { batch, known, at }: Context,
  { collection, id_key }: { readonly collection: AccountKey; readonly id_key: string },
  what: TokenEvent['what'],
  before: TokenState | undefined,
  after: TokenState,
): void {
  if (what === 'named') return;
  const add = (account: string, change: AccountChange['change']): void => {
    batch.accountChanges.push({ account, collection, id_key, at, change });
    if (change === 0) return;
    const key = countKey(account, collection);
    const n = (known.counts.get(key) ?? 0) + change;
    known.counts.set(key, n);
    batch.counts.set(key, { owner: account, collection, n });
  };
  const [existed, exists] = [before?.burnt === false, !after.burnt];
  if (existed !== exists) add('', exists ? 1 : -1);
  const [old, now] = [existed ? (before?.owner ?? '') : '', exists ? after.owner : ''];
  if (old === now) {
    if (isAccount(now)) add(now, 0);
    return;
  }
  if (isAccount(old)) add(old, -1);
  if (isAccount(now)) add(now, 1);
}
