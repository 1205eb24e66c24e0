import { createHash } from 'node:crypto';
import type { MadeAct } from './chain.js';
import { pickAnyId, pickContract, textIds } from './choose.js';
import { packet } from './packet.js';
import { alive, bear, burn, give, type MadeContract, type MadeToken, note } from './world.js';

const ids = [...textIds, 'cat-1', 'y'.repeat(300)];
const names = ['Cats', 'cATS', 'Collection (漢)', '100% _', 'nul\0'];

/** As Move prints addresses: without leading zeros, some of whole bytes only. */
const short = (key: string, even: boolean): string => {
  const digits = key.replace(/^0+(?=.)/, '');
  return `0x${even && digits.length % 2 === 1 ? '0' : ''}${digits}`;
};

const address = (seed: string, zeros: number): string =>
  `${'0'.repeat(zeros)}${createHash('sha256').update(seed).digest('hex').slice(zeros)}`;

/** What happens on a Move rollup. */
export function moveActor(act: MadeAct): void {
  const { random, accounts } = act;
  const collection = pickContract(act);
  if (collection === undefined) {
    create(act);
    return;
  }
  const tokens = alive(collection);
  const existing = tokens.length > 0 ? random.pick(tokens) : undefined;
  const id = pickAnyId(act, ids);
  const isThere = collection.tokens.get(id)?.burnt === false;
  const owner = random.pick(accounts);
  switch (random.integer(11)) {
    case 0:
    case 1:
    case 2:
    case 3:
      if (!isThere) mint(act, collection, id, owner);
      return;
    case 4:
    case 5:
      if (existing) transfer(act, existing, owner);
      return;
    case 6:
      if (isThere) return;
      transfer(act, mint(act, collection, id, owner), random.pick(accounts));
      burnOne(act, collection, id);
      if (random.oneIn(2)) mint(act, collection, id, random.pick(accounts));
      return;
    case 7:
      if (existing) burnOne(act, collection, existing.id);
      return;
    case 8:
      if (existing) mutate(act, existing);
      return;
    case 9:
      // A token that owns another.
      if (existing && tokens.length > 1) {
        const holder = random.pick(tokens.filter((token) => token !== existing));
        give(collection, existing.id, holder.object, act.moment);
        note(holder, act.moment);
        act.moment.next();
        moved(act, existing.object, holder.object);
      }
      return;
    default:
      aside(act, collection);
      return;
  }
}

function event(act: MadeAct, type_tag: string, data: object): void {
  act.emit('move', [
    ['type_tag', type_tag],
    ['data', JSON.stringify(data)],
    // The node repeats the members, under their own names.
    ...Object.entries(data).map(([key, value]) => [key, String(value)] as const),
    ['data', 'again'],
    ['msg_index', '0'],
  ]);
}

const print = ({ random }: MadeAct, key: string): string => short(key, random.oneIn(2));

function create(act: MadeAct): void {
  const { world, random, moment, accounts } = act;
  const at = address(`${moment.height}/${random.integer(1e9)}`, random.pick([0, 0, 1, 2, 5]));
  const isForeign = random.oneIn(4);
  const name = isForeign
    ? packet(act, 'nft-transfer').hashed
    : `${random.pick(names)}${random.oneIn(2) ? '' : world.contracts.size}`;
  const creator = isForeign ? (accounts[0] as string) : moment.signer || (accounts[1] as string);
  const collection: MadeContract = {
    ...{ address: at, kind: 'move', name, creator, born: undefined, tokens: new Map() },
  };
  world.contracts.set(at, collection);
  event(act, '0x1::object::CreateEvent', {
    object: print(act, at),
    owner: print(act, creator),
    version: '1',
  });
  bear(collection, moment);
  event(act, '0x1::collection::CreateCollectionEvent', {
    ...{ collection: print(act, at), creator: print(act, creator), name },
  });
}

function mint(act: MadeAct, collection: MadeContract, id: string, owner: string): MadeToken {
  const { random, moment } = act;
  const zeros = Buffer.from(id).length % 3;
  const object = collection.tokens.get(id)?.object ?? address(`${collection.address}/${id}`, zeros);
  const said = `https://m.example/${random.integer(1e6)}${random.oneIn(9) ? '\0' : ''}`;
  // It is made for the creator and goes to its owner, or is made for the owner.
  const goes = random.oneIn(2);
  const first = goes ? collection.creator : owner;
  event(act, '0x1::object::CreateEvent', {
    object: print(act, object),
    owner: print(act, first),
    version: '1',
  });
  const of = { collection: print(act, collection.address), token_id: id };
  event(act, '0x1::collection::MintEvent', { ...of, nft: print(act, object) });
  event(act, '0x1::nft::CreateEvent', { ...of, description: '{"uri":"no"}', uri: said });
  const token = give(collection, id, first, moment, { uri: undefined, said, object });
  moment.next();
  if (goes) {
    give(collection, id, owner, moment);
    moved(act, object, owner);
  }
  return token;
}

function moved(act: MadeAct, object: string, to: string): void {
  event(act, '0x1::object::TransferEvent', { object: print(act, object), from: '0x1', to: print(act, to) });
}

function transfer(act: MadeAct, token: MadeToken, owner: string): void {
  const { height, timestamp } = act.moment;
  Object.assign(token, { owner, height, timestamp });
  note(token, act.moment);
  act.moment.next();
  moved(act, token.object, owner);
}

function burnOne(act: MadeAct, collection: MadeContract, id: string): void {
  const { object = '' } = collection.tokens.get(id) ?? {};
  burn(collection, id, act.moment);
  act.moment.next();
  event(act, '0x1::collection::BurnEvent', {
    ...{ collection: print(act, collection.address), token_id: id, nft: print(act, object) },
  });
  // Objects that are gone do not move, whoever says so.
  if (act.random.oneIn(3)) moved(act, object, act.accounts[2] as string);
}

function mutate(act: MadeAct, token: MadeToken): void {
  const { random, moment } = act;
  const field = random.pick(['uri', 'description']);
  const value = `ipfs://m/${random.integer(1e6)}`;
  note(token, moment);
  if (field === 'uri')
    Object.assign(token, { said: value, height: moment.height, timestamp: moment.timestamp });
  event(act, '0x1::nft::MutationEvent', {
    ...{ nft: print(act, token.object), mutated_field_name: field, old_value: '', new_value: value },
  });
}

/** What concerns no token: collections that change hands or names, other objects, other modules, nonsense. */
function aside(act: MadeAct, collection: MadeContract): void {
  const { random } = act;
  switch (random.integer(5)) {
    case 0:
      moved(act, collection.address, random.pick(act.accounts));
      return;
    case 1:
      collection.name = `${random.pick(names)} new`;
      event(act, '0x1::collection::MutationEvent', {
        collection: print(act, collection.address),
        ...{ mutated_field_name: 'name', old_value: '', new_value: collection.name },
      });
      return;
    case 2:
      moved(act, address(String(random.integer(1e9)), 0), random.pick(act.accounts));
      return;
    case 3:
      event(act, '0x2::collection::MintEvent', { collection: '0x5', token_id: '1', nft: '0x6' });
      return;
    default:
      act.emit('move', [
        ['type_tag', '0x1::collection::MintEvent'],
        ['data', '{'],
      ]);
      act.emit('move', [
        ['type_tag', '0x1::object::TransferEvent'],
        ['data', 'null'],
      ]);
  }
}
