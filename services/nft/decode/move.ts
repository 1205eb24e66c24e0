import { type AccountKey, keyOfHexDigits } from '../../common/chain/address.js';
import { attributeOf, isObject, stringOf, type TxEvent } from '../../common/chain/events.js';
import { messageOf } from '../../common/runtime/errors.js';
import { parseInnerJson } from '../../common/util/bounded-input.js';
import type { Happening, TxSink } from './types.js';

/** A mint whose uri is said by a later event of the same tx. */
type OpenMint = {
  -readonly [K in keyof Extract<Happening, { what: 'mint' }>]: Extract<Happening, { what: 'mint' }>[K];
};

/** What earlier events of a tx say that later ones need. */
interface TxState {
  /** Owners of the objects that the tx created: a new token belongs to its object's owner. */
  readonly created: Map<AccountKey, AccountKey>;
  readonly mints: Map<string, OpenMint>;
}

/** A kind of event by its type tag. */
type Reader = (data: Readonly<Record<string, unknown>>, state: TxState, sink: TxSink) => void;

const readers: Readonly<Record<string, Reader>> = {
  '0x1::object::CreateEvent': (data, { created }, sink) => {
    const [object, owner] = [address(data['object']), address(data['owner'])];
    if (object === undefined || owner === undefined) return;
    created.set(object, owner);
    nameToken(owner, sink);
  },
  '0x1::object::TransferEvent': (data, _, sink) => {
    const [object, to] = [address(data['object']), address(data['to'])];
    if (object === undefined || to === undefined) throw new Error('no object or no receiver');
    sink.add({ what: 'transfer', token: { object }, owner: to });
    nameToken(to, sink);
    const from = address(data['from']);
    if (from !== undefined) nameToken(from, sink);
  },
  '0x1::collection::CreateCollectionEvent': (data, _, sink) => {
    const [collection, creator] = [address(data['collection']), address(data['creator'])];
    if (collection === undefined || creator === undefined) throw new Error('no collection or no creator');
    sink.add({ what: 'collection', collection, creator, name: stringOf(data['name']) });
  },
  '0x1::collection::MutationEvent': (data, _, sink) => {
    const collection = address(data['collection']);
    if (collection !== undefined && data['mutated_field_name'] === 'name')
      sink.add({ what: 'renamed', collection, name: stringOf(data['new_value']) });
  },
  '0x1::collection::MintEvent': (data, { created, mints }, sink) => {
    const token = tokenOf(data);
    const mint: OpenMint = { what: 'mint', token, owner: created.get(token.object) ?? '?' };
    mints.set(`${token.collection}/${token.token_id}`, mint);
    sink.add(mint);
  },
  '0x1::nft::CreateEvent': (data, { mints }) => {
    const mint = mints.get(`${address(data['collection'])}/${stringOf(data['token_id'])}`);
    if (mint !== undefined) mint.uri = stringOf(data['uri']);
  },
  '0x1::nft::MutationEvent': (data, _, sink) => {
    const object = address(data['nft']);
    if (object === undefined) throw new Error('no nft');
    if (data['mutated_field_name'] === 'uri')
      sink.add({ what: 'uri', token: { object }, uri: stringOf(data['new_value']) });
    else sink.add({ what: 'named', token: { object } });
  },
  '0x1::collection::BurnEvent': (data, _, sink) => sink.add({ what: 'burn', token: tokenOf(data) }),
};

/** Reads what the events of a Move tx say of NFTs. Owner and uri of a new token are in them. */
export function decodeMoveEvents(events: readonly TxEvent[], sink: TxSink): void {
  const state: TxState = { created: new Map(), mints: new Map() };
  for (const event of events) {
    if (event.type !== 'move') continue;
    // The first of each: the node repeats the members of `data` after it, under any name.
    const tag = attributeOf(event, 'type_tag');
    const read = Object.hasOwn(readers, tag) ? readers[tag] : undefined;
    if (read === undefined) continue;
    try {
      const data: unknown = parseInnerJson(attributeOf(event, 'data'));
      if (isObject(data)) read(data, state, sink);
    } catch (error) {
      sink.problem(tag, messageOf(error));
    }
  }
}

/** A token can own other objects, and is named where it has, gets or gives one; objects have 32 bytes. */
function nameToken(owner: AccountKey, sink: TxSink): void {
  if (owner.length === 64) sink.add({ what: 'named', token: { object: owner } });
}

function tokenOf(data: Readonly<Record<string, unknown>>) {
  const [collection, object] = [address(data['collection']), address(data['nft'])];
  if (collection === undefined || object === undefined) throw new Error('no collection or no nft');
  return { collection, token_id: stringOf(data['token_id']), object };
}

/** Move drops leading zeros, even whole bytes. */
function address(value: unknown): AccountKey | undefined {
  const digits = /^0x([0-9a-fA-F]{1,64})$/.exec(stringOf(value))?.[1];
  return digits === undefined ? undefined : keyOfHexDigits(digits);
}
