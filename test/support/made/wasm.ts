import { createHash } from 'node:crypto';
import { parseAccount, toBech32 } from '../../../services/common/chain/address.js';
import type { MadeAct } from './chain.js';
import { pickContract, pickId, textIds } from './choose.js';
import { packet } from './packet.js';
import { bear, burn, give, glimpse, type MadeContract } from './world.js';

/**
 * Kinds of contracts: cw721 0.18 and 0.19; `quiet` has nft_info without a uri, `mute` none at
 * all; `pretender` is no collection, `late` becomes one; `wild` emits what it likes.
 */
const kinds = ['0.18', '0.18', '0.19', '0.19', 'quiet', 'mute', 'pretender', 'late', 'wild', 'wild'] as const;
const tellsAtBirth = (kind: string): boolean => kind === '0.19' || kind === 'late';

const ids = [...textIds, '%2541', 'x'.repeat(3_000)];
const names = ['Base Cats', 'BASE CATS', '<b>&"q"</b>', 'ΣΑΣ', '100%', '_', ''];

/** What happens on a Wasm rollup. */
export function wasmActor(act: MadeAct): void {
  const { random, accounts, moment } = act;
  const contract = pickContract(act);
  if (contract === undefined) {
    instantiate(act);
    return;
  }
  const id = pickId(act, contract, ids);
  const owner = random.pick(accounts);
  switch (random.integer(11)) {
    case 0:
    case 1:
    case 2:
      mint(act, contract, id, owner);
      return;
    case 3:
    case 4:
      transfer(act, contract, id, owner);
      return;
    case 5:
      mint(act, contract, id, owner);
      transfer(act, contract, id, random.pick(accounts));
      burnOne(act, contract, id);
      if (random.oneIn(2)) mint(act, contract, id, random.pick(accounts));
      return;
    case 6:
      burnOne(act, contract, id);
      return;
    case 7:
      tellUri(act, contract, id);
      return;
    case 8:
      if (['pretender', 'wild'].includes(contract.kind)) return;
      contract.name = `${random.pick(names)} ${random.integer(3)}`;
      moment.next();
      run(act, contract, [['action', 'update_collection_info']]);
      return;
    case 9:
      wild(act, contract, id);
      return;
    default:
      run(act, contract, [
        ['update_minter_ownership', toBech32(owner, 'init')],
        ['owner', toBech32(owner, 'init')],
      ]);
      return;
  }
}

function instantiate(act: MadeAct): void {
  const { world, random, moment } = act;
  const kind = random.pick(kinds);
  const seed = `${moment.hash}/${world.contracts.size}/${moment.height}/${random.integer(1e9)}`;
  const address = createHash('sha256').update(seed).digest('hex');
  const named = !['pretender', 'late'].includes(kind);
  const isForeign = named && random.oneIn(4);
  const name = isForeign ? packet(act, `wasm.${toBech32(address, 'init')}`).path : random.pick(names);
  const creator = moment.signer || (act.accounts[1] as string);
  const contract: MadeContract = {
    ...{ address, kind, name: named ? name : undefined, creator, born: undefined, tokens: new Map() },
  };
  world.contracts.set(address, contract);
  act.emit('instantiate', [['_contract_address', toBech32(address, 'init')]]);
  if (!tellsAtBirth(kind)) return;
  bear(contract, moment);
  run(act, contract, [
    ['minter', toBech32(creator, 'init')],
    ['creator', toBech32(creator, 'init')],
  ]);
}

/** An event of a contract; some hold more than one run. */
function run(
  act: MadeAct,
  { address }: MadeContract,
  attributes: readonly (readonly [string, string])[],
): void {
  const own: [string, string] = ['_contract_address', toBech32(address, 'init')];
  const other: [string, string] = ['_contract_address', toBech32('9'.repeat(64), 'init')];
  const before = act.random.oneIn(6) ? [other, ['action', 'noop'] as const] : [];
  act.emit('wasm', [...before, own, ...attributes, ['msg_index', '0']]);
}

const idOf = (id: string): [string, string] => ['token_id', id];

function mint(act: MadeAct, contract: MadeContract, id: string, owner: string): void {
  const { random, moment } = act;
  bear(contract, moment);
  const uri = `https://w.example/${random.integer(1e6)}`;
  const speaks = contract.kind === '0.18' || contract.kind === '0.19' || contract.kind === 'late';
  const says = contract.kind !== '0.18' && random.oneIn(2);
  const node = speaks ? (random.oneIn(5) ? undefined : says ? uri : `${uri}?18`) : undefined;
  const said = says ? { said: uri } : {};
  give(contract, id, owner, moment, { uri: node, ...said });
  moment.next();
  run(act, contract, [
    ['action', 'mint'],
    ...(contract.kind === '0.18' ? [['minter', toBech32(owner, 'init')] as const] : []),
    ['owner', random.oneIn(5) ? `0x${owner}` : toBech32(owner, 'init')],
    // Of two the last counts.
    ...(random.oneIn(5) ? [idOf('another')] : []),
    idOf(id),
    ...(says ? [['token_uri', uri] as const] : []),
  ]);
}

function transfer(act: MadeAct, contract: MadeContract, id: string, owner: string): void {
  if (contract.tokens.get(id)?.burnt !== false) glimpse(contract, act.moment);
  give(contract, id, owner, act.moment);
  act.moment.next();
  run(act, contract, [
    ['action', act.random.pick(['transfer_nft', 'send_nft'])],
    ['recipient', toBech32(owner, 'init')],
    idOf(id),
  ]);
}

function burnOne(act: MadeAct, contract: MadeContract, id: string): void {
  burn(contract, id, act.moment);
  act.moment.next();
  run(act, contract, [['action', 'burn'], idOf(id)]);
}

function tellUri(act: MadeAct, contract: MadeContract, id: string): void {
  const { random, moment } = act;
  const token = contract.tokens.get(id);
  if (token !== undefined && !token.burnt) {
    const speaks = ['0.18', '0.19', 'late'].includes(contract.kind);
    if (speaks) token.uri = random.oneIn(6) ? undefined : `ipfs://w/${random.integer(1e6)}`;
    Object.assign(token, { height: moment.height, timestamp: moment.timestamp });
  }
  run(act, contract, [['action', 'update_nft_info'], idOf(id)]);
}

/** What no contract should emit. */
function wild(act: MadeAct, contract: MadeContract, id: string): void {
  const { random, moment, emit } = act;
  const address: [string, string] = ['_contract_address', toBech32(contract.address, 'init')];
  const mintOf = (owner: readonly (readonly [string, string])[]) =>
    [address, ['action', 'mint'] as const, ...owner, idOf(id)] as const;
  if (contract.kind !== 'wild' || random.oneIn(2)) {
    // None of these is one.
    emit('wasm', mintOf([]));
    emit('wasm-foo', mintOf([['owner', toBech32(random.pick(act.accounts), 'init')]]));
    emit('wasm', [['action', 'mint'], ['owner', 'x'], idOf(id)]);
    emit('wasm', [address, ['action', 'transfer_nft'], idOf(id)]);
    return;
  }
  const text = random.pick([
    'nobody',
    '',
    'nul\0',
    'cosmos1vwaygemc9eywzcr50l5lw23r0nj860uw2mg3vr',
    '漢字',
    '0xzz',
  ]);
  bear(contract, moment);
  give(contract, id, parseAccount(text, 'init') ?? `?${text}`, moment, { uri: undefined });
  moment.next();
  emit('wasm', mintOf([['owner', text]]));
}
