import { createHash } from 'node:crypto';
import type { MadeAct } from './chain.js';
import { pickContract, pickId } from './choose.js';
import { alive, bear, burn, give, type MadeContract } from './world.js';

const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const metadataTopic = '0xf8e1a15aba9398e019f0b49df1a4fde98ee17ae345cb5f6b5e2c27f5033e8ce7';
const batchMetadataTopic = '0x6bd5c950a8d8df17f772f5af37cb3655737899cbf903264b9795592da439661c';
const contractUriTopic = '0xa5d4097edda6d87cb9329af83fb3712ef77eeb13738ffe43cc35a4ce305ad962';
const single1155Topic = '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62';

/** Kinds of contracts: most answer, some only pretend; a proxied one was made by no tx of its own. */
const kinds = ['plain', 'plain', 'plain', 'proxied', 'bytes32', 'nameless', 'late', 'silent'] as const;

const ids = ['0', '1', '2', '9', '10', '11', '100', String(2n ** 256n - 1n), String(2n ** 255n)];
const names = ['Cats', 'cats', 'Meta "Dogs" & 漢字', '100% _x_', 'a/b', '🐈 nul\0'];

const word = (digits: string): string => `0x${digits.padStart(64, '0')}`;
const number = (id: string): string => word(BigInt(id).toString(16));

/** What happens on an EVM rollup: ERC-721 contracts, ERC-20s beside them, and logs of anybody. */
export function evmActor(act: MadeAct): void {
  const { random, accounts, moment, emit } = act;
  const contract = pickContract(act);
  if (contract === undefined) {
    deploy(act);
    return;
  }
  const id = pickId(act, contract, ids);
  const owner = random.pick(accounts);
  switch (random.integer(14)) {
    case 0:
    case 1:
    case 2:
      mint(act, contract, id, owner);
      return;
    case 3:
    case 4:
    case 5:
      move(act, contract, id, owner);
      return;
    case 6:
      // All of it in one tx.
      mint(act, contract, id, owner);
      move(act, contract, id, random.pick(accounts));
      burnOne(act, contract, id);
      if (random.oneIn(2)) mint(act, contract, id, random.pick(accounts));
      return;
    case 7:
      burnOne(act, contract, id);
      return;
    case 8:
      if (!random.oneIn(4)) return;
      for (let n = random.integer(60); n > 0; n--)
        mint(act, contract, String(1_000 + random.integer(200)), owner);
      return;
    case 9:
      tellUri(act, contract, id);
      return;
    case 10:
      tellUris(act, contract);
      return;
    case 11:
      if (contract.kind === 'late' || contract.kind === 'plain')
        contract.name = `${random.pick(names)} ${random.integer(3)}`;
      moment.next();
      log(act, contract.address, [contractUriTopic], '0x');
      return;
    case 12:
      emit('evm', [
        ['log', random.pick(['{', 'null', '7', `{"address":"0x1","topics":["${transferTopic}"]}`])],
        ['log', `"${transferTopic}`],
      ]);
      return;
    default:
      // An ERC-20 transfer, an ERC-1155 one, and one from nobody to nobody: no NFT moves.
      log(act, contract.address, [transferTopic, word(owner), word(accounts[1] as string)], word('5'));
      log(
        act,
        contract.address,
        [single1155Topic, word(owner), word(''), word(owner)],
        word('7') + word('1').slice(2),
      );
      log(act, contract.address, [transferTopic, word(''), word(''), number(id)], '0x');
      return;
  }
}

function deploy({ world, random, moment, emit }: MadeAct): void {
  const kind = random.pick(kinds);
  const seed = `${moment.hash}/${world.contracts.size}/${moment.height}/${random.integer(1e9)}`;
  // Some begin with zeros.
  const digits = createHash('sha256').update(seed).digest('hex').slice(0, 40);
  const address = random.oneIn(3) ? `0000${digits.slice(4)}` : digits;
  const name = ['nameless', 'late'].includes(kind) ? undefined : random.pick(names);
  const contract: MadeContract = {
    ...{ address, kind, name, creator: '', born: undefined, tokens: new Map() },
  };
  if (kind === 'bytes32') contract.name = 'Bytes';
  world.contracts.set(address, contract);
  if (kind === 'proxied') return;
  bear(contract, moment, moment.signer);
  emit('contract_created', [['contract', `0x${address.toUpperCase()}`]]);
}

function log({ emit, random }: MadeAct, address: string, topics: readonly string[], data: string): void {
  const text = random.oneIn(2) ? address.toUpperCase() : address;
  const other: [string, string][] = random.oneIn(3) ? [['msg_index', '0']] : [];
  emit('evm', [['log', JSON.stringify({ address: `0x${text}`, topics, data })], ...other]);
}

/** A contract that no tx is known to have made came to be with its first token. */
const see = ({ moment }: MadeAct, contract: MadeContract): void => bear(contract, moment, moment.signer);

function mint(act: MadeAct, contract: MadeContract, id: string, owner: string): void {
  const { random, moment } = act;
  see(act, contract);
  const uri = contract.kind === 'silent' ? undefined : `https://x.example/${id}/${random.integer(1e6)}`;
  give(contract, id, owner, moment, { uri });
  moment.next();
  log(act, contract.address, [transferTopic, word(''), word(owner), number(id)], '0x');
}

function move(act: MadeAct, contract: MadeContract, id: string, owner: string): void {
  see(act, contract);
  const token = contract.tokens.get(id);
  const from = token?.owner || (act.accounts[2] as string);
  give(contract, id, owner, act.moment);
  act.moment.next();
  log(act, contract.address, [transferTopic, word(from), word(owner), number(id)], '0x');
}

function burnOne(act: MadeAct, contract: MadeContract, id: string): void {
  const from = contract.tokens.get(id)?.owner || (act.accounts[3] as string);
  burn(contract, id, act.moment);
  act.moment.next();
  log(act, contract.address, [transferTopic, word(from), word(''), number(id)], '0x');
}

/** ERC-4906, of one token. */
function tellUri(act: MadeAct, contract: MadeContract, id: string): void {
  const { random, moment } = act;
  const token = contract.tokens.get(id);
  if (token !== undefined && !token.burnt) {
    if (token.uri !== undefined) token.uri = `ipfs://${random.integer(1e6)}`;
    Object.assign(token, { height: moment.height, timestamp: moment.timestamp });
  }
  if (random.oneIn(2)) log(act, contract.address, [metadataTopic], number(id));
  else log(act, contract.address, [metadataTopic, number(id)], '0x');
}

/** ERC-4906, of many. */
function tellUris(act: MadeAct, contract: MadeContract): void {
  const [first, last] = [act.random.integer(10), 10 + act.random.integer(1_200)];
  for (const token of alive(contract))
    if (token.uri !== undefined && BigInt(token.id) >= first && BigInt(token.id) <= last)
      token.uri = `ar://${act.random.integer(1e6)}`;
  log(act, contract.address, [batchMetadataTopic], number(String(first)) + number(String(last)).slice(2));
}
