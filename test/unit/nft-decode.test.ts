import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { keyOfHexDigits, toBech32 } from '../../services/common/chain/address.js';
import type { BlockMaterial } from '../../services/common/gen/indexer/block/v1/block.js';
import { decodeBlock } from '../../services/nft/decode/block.js';
import type { Happening, NftBlock } from '../../services/nft/decode/types.js';
import { recordedBlocks } from '../support/material.js';

type Vm = 'evm' | 'move' | 'wasm';
type Attributes = readonly (readonly [string, string])[];
interface Event {
  readonly type: string;
  readonly attributes: Attributes;
}

const head = { height: 7, hash: 'AA', parent_hash: '99', timestamp: '2026-11-21T09:20:10.1Z' };
const signer = 'a'.repeat(40);

/** A block of one tx with these events. */
function decode(vm: Vm, events: readonly Event[], code: number | null = 0): NftBlock {
  const all = [
    { type: 'tx', attributes: [['acc_seq', `${toBech32(signer, 'init')}/4`] as const] },
    ...events,
  ];
  const result = {
    code,
    events: all.map(({ type, attributes }) => ({
      type,
      attributes: attributes.map(([key, value]) => ({ key, value })),
    })),
  };
  const material: BlockMaterial = {
    txs: [
      {
        raw: Buffer.from('raw'),
        result: Buffer.from(JSON.stringify(result)),
        decoded: Buffer.from('{}'),
        decoded_locally: false,
      },
    ],
    receipts: Buffer.from('[]'),
    block_events: Buffer.from('[]'),
  };
  return decodeBlock(head, material, { vm, account_prefix: 'init' });
}

/** What happened, without where. */
const happenings = (block: NftBlock): Happening[] =>
  block.events.map(({ tx: _tx, index: _index, ...happening }) => happening as Happening);

const word = (value: bigint | string): string =>
  (typeof value === 'bigint' ? value.toString(16) : value).padStart(64, '0');
const transfer = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const contract = `c0ffee${'0'.repeat(34)}`;
const [alice, bob] = ['1'.repeat(40), '2'.repeat(40)];
const log = (topics: readonly string[], data = '0x'): Event => ({
  type: 'evm',
  attributes: [['log', JSON.stringify({ address: `0x${contract.toUpperCase()}`, topics, data })]],
});
const moveEvent = (type_tag: string, data: string): Event => ({
  type: 'move',
  // The node repeats members after the data, under any name.
  attributes: [
    ['type_tag', type_tag],
    ['data', data],
    ['data', 'again'],
    ['type_tag', 'x'],
  ],
});
const event = (type: string, data: object): Event => moveEvent(`0x1::${type}`, JSON.stringify(data));
const collection = 'c'.repeat(64);
const address = toBech32(collection, 'init');
/** What a Wasm contract tells. */
const run = (...attributes: Attributes): Attributes => [['_contract_address', address], ...attributes];
const wasm = (attributes: Attributes, type = 'wasm'): Event => ({ type, attributes });
const moved = (from: string, to: string, id: bigint): Event =>
  log([transfer, `0x${word(from)}`, `0x${word(to)}`, `0x${word(id)}`]);

describe('NFT events of an EVM block', () => {
  it('a log with four topics mints, moves or burns, an ERC-20 one does nothing', () => {
    const token = (token_id: string) => ({ collection: contract, token_id });
    const block = decode('evm', [
      moved('', alice, 2n ** 256n - 1n),
      moved(alice, bob, 0n),
      moved(bob, '', 7n),
      moved('', '', 8n),
      log([transfer, `0x${word(alice)}`, `0x${word(bob)}`], `0x${word(5n)}`),
      log([transfer, `0x${word(alice)}`, `0x${word(bob)}`, `0x${word(1n)}`], `0x${word(5n)}`),
    ]);
    assert.deepEqual(happenings(block), [
      { what: 'mint', token: token(String(2n ** 256n - 1n)), owner: alice },
      { what: 'transfer', token: token('0'), owner: bob },
      { what: 'burn', token: token('7') },
    ]);
    assert.deepEqual(
      block.events.map(({ index }) => index),
      [0, 1, 2],
    );
    const hash = createHash('sha256').update('raw').digest('hex');
    assert.deepEqual(block.events[0]?.tx, { hash, signer });
    assert.deepEqual(block.problems, []);
  });

  it('ERC-4906 tells of new uris, of one token and of many, with indexed numbers or without', () => {
    const one = '0xf8e1a15aba9398e019f0b49df1a4fde98ee17ae345cb5f6b5e2c27f5033e8ce7';
    const many = '0x6bd5c950a8d8df17f772f5af37cb3655737899cbf903264b9795592da439661c';
    const range = { what: 'refresh_tokens', collection: contract, first_id: '1', last_id: '300' };
    const uri = { what: 'uri', token: { collection: contract, token_id: '9' } };
    const block = decode('evm', [
      log([one], `0x${word(9n)}`),
      log([one, `0x${word(9n)}`]),
      log([many], `0x${word(1n)}${word(300n)}`),
      log([many, `0x${word(1n)}`, `0x${word(300n)}`]),
      log([one]),
    ]);
    assert.deepEqual(happenings(block), [uri, uri, range, range]);
  });

  it('a contract is noted when it is created, and nothing of a failed tx counts', () => {
    const created = { type: 'contract_created', attributes: [['contract', `0x${contract}`] as const] };
    assert.deepEqual(happenings(decode('evm', [created])), [{ what: 'contract', contract }]);
    assert.deepEqual(happenings(decode('evm', [created, moved('', alice, 1n)], 5)), []);
    assert.deepEqual(happenings(decode('evm', [created], null)).length, 1);
  });

  it('what is no log is told, and the rest of the block goes on', () => {
    const broken = (value: string): Event => ({ type: 'evm', attributes: [['log', value]] });
    const block = decode('evm', [
      broken(`{"address":"0x1","topics":["${transfer}"],"data":"0x"}`),
      broken(`{"${transfer}`),
      broken(`{"address":"0x${contract}","topics":["${transfer}",null,7,"x"],"data":"0x"}`),
      moved('', alice, 1n),
    ]);
    assert.equal(block.problems.length, 3);
    assert.equal(block.events.length, 1);
  });
});

describe('NFT events of a Move block', () => {
  const [collection, nft] = [keyOfHexDigits('c'.repeat(63)), keyOfHexDigits('d'.repeat(62))];
  const token = { collection: `0x${collection}`, token_id: 'nul\0', nft: `0x${nft}` };
  const mutation = (of: object, mutated_field_name: string, new_value: string) => ({
    ...of,
    mutated_field_name,
    new_value,
  });

  it('a mint has the owner of its object and the uri that comes after it', () => {
    const block = decode('move', [
      event('collection::CreateCollectionEvent', {
        collection: `0x${'c'.repeat(63)}`,
        creator: '0x1',
        name: 'N',
      }),
      event('object::CreateEvent', { object: `0x${'d'.repeat(62)}`, owner: '0x0b' }),
      event('collection::MintEvent', token),
      event('nft::CreateEvent', { ...token, nft: undefined, uri: 'u' }),
      event('object::TransferEvent', { object: token.nft, from: '0xb', to: `0x${'e'.repeat(64)}` }),
      event('nft::MutationEvent', mutation({ nft: token.nft }, 'uri', 'v')),
      event('nft::MutationEvent', mutation({ nft: token.nft }, 'description', 'd')),
      event('collection::MutationEvent', mutation({ collection: token.collection }, 'name', 'M')),
      event('collection::BurnEvent', token),
    ]);
    const found = { collection, token_id: 'nul\0', object: nft };
    assert.deepEqual(happenings(block), [
      { what: 'collection', collection, creator: '1'.padStart(40, '0'), name: 'N' },
      { what: 'mint', token: found, owner: 'b'.padStart(40, '0'), uri: 'u' },
      { what: 'transfer', token: { object: nft }, owner: 'e'.repeat(64) },
      { what: 'named', token: { object: 'e'.repeat(64) } },
      { what: 'uri', token: { object: nft }, uri: 'v' },
      { what: 'named', token: { object: nft } },
      { what: 'renamed', collection, name: 'M' },
      { what: 'burn', token: found },
    ]);
  });

  it('a token that has, gets or gives another object is named', () => {
    const [giver, taker] = ['a'.repeat(64), 'e'.repeat(64)];
    const block = decode('move', [
      event('object::CreateEvent', { object: '0x7', owner: `0x${giver}` }),
      event('object::CreateEvent', { object: '0x8', owner: '0xb' }),
      event('object::TransferEvent', { object: `0x${nft}`, from: `0x${giver}`, to: `0x${taker}` }),
    ]);
    assert.deepEqual(happenings(block), [
      { what: 'named', token: { object: giver } },
      { what: 'transfer', token: { object: nft }, owner: taker },
      { what: 'named', token: { object: taker } },
      { what: 'named', token: { object: giver } },
    ]);
  });

  it('what cannot be read is told, and the rest goes on', () => {
    const block = decode('move', [
      moveEvent('0x1::collection::MintEvent', '{'),
      event('collection::MintEvent', { token_id: 'x' }),
      event('object::TransferEvent', { object: 'x' }),
      moveEvent('constructor', '{}'),
      event('collection::BurnEvent', { collection: '0x1', token_id: 'x', nft: '0x2' }),
    ]);
    assert.equal(block.problems.length, 3);
    assert.equal(block.events.length, 1);
  });

  it('a class that came over IBC has the name that its packet tells', () => {
    const packet = (class_id: string, data: unknown): Event => ({
      type: 'recv_packet',
      attributes: [
        ['packet_data', JSON.stringify({ classId: class_id, classData: data })],
        ['packet_src_port', 'nft-transfer'],
        ['packet_src_channel', 'channel-0'],
        ['packet_dst_port', 'nft-transfer'],
        ['packet_dst_channel', 'channel-1'],
      ],
    });
    const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
    const class_id = 'move/33d9f8e321aa4f2ee5d58c4f6e9fb18c4fc015cd0c1402d3454a89019994f388';
    const block = decode('move', [
      packet(class_id, base64({ name: 'Initia Dogs' })),
      packet(`nft-transfer/channel-0/${class_id}`, base64({ name: 'comes home' })),
      packet('other', 'no base64 of JSON'),
      packet('nameless', base64({})),
    ]);
    assert.deepEqual(happenings(block), [
      {
        what: 'class',
        class_name: 'ibc/D57B69E44EB3A8D480357EF070FF1436BF9E953CDCA748A0AE2EFA7E6CD2397A',
        origin_name: 'Initia Dogs',
      },
      { what: 'class', class_name: `nft-transfer/channel-1/${class_id}`, origin_name: 'Initia Dogs' },
    ]);
    assert.equal(block.problems.length, 1);
  });
});

describe('NFT events of a Wasm block', () => {
  const born = { what: 'collection', collection, creator: '' };

  it('reads mints, moves and burns, several runs in one event, the last of equal keys', () => {
    const block = decode('wasm', [
      wasm([
        ...run(
          ['action', 'mint'],
          ['owner', toBech32(alice, 'init')],
          ['token_id', 'a'],
          ['token_id', 'b'],
          ['token_uri', 'u'],
        ),
        ...run(
          ['action', 'transfer_nft'],
          ['recipient', toBech32(bob, 'init').toUpperCase()],
          ['token_id', 'b'],
        ),
        ...run(['action', 'send_nft'], ['recipient', `0x${alice}`], ['token_id', '']),
      ]),
      wasm(run(['action', 'burn'], ['token_id', 'b'])),
      wasm(run(['action', 'update_nft_info'], ['token_id', 'b'])),
      wasm(run(['action', 'update_collection_info'])),
      wasm(run(['minter', 'x'], ['creator', 'y'])),
    ]);
    const token = { collection, token_id: 'b' };
    assert.deepEqual(happenings(block), [
      born,
      { what: 'mint', token, owner: alice, uri: 'u' },
      { what: 'transfer', token, owner: bob },
      { what: 'transfer', token: { collection, token_id: '' }, owner: alice },
      { what: 'burn', token },
      { what: 'uri', token },
      { what: 'refresh_collection', collection },
      born,
    ]);
  });

  it('an owner that names no account stays as it came, and a mint without one is none', () => {
    const mint = (owner: string) => run(['action', 'mint'], ['owner', owner], ['token_id', 't']);
    const owners = ['notbech32', '', 'cosmos1vwaygemc9eywzcr50l5lw23r0nj860uw2mg3vr'];
    const block = decode('wasm', [
      ...owners.map((owner) => wasm(mint(owner))),
      wasm(run(['action', 'mint'], ['token_id', 't'])),
      wasm(run(['action', 'mint'], ['owner', address])),
      wasm(run(['action', 'transfer_nft'], ['token_id', 't'])),
      wasm(mint(address), 'wasm-foo'),
      wasm(mint(address).slice(1)),
      wasm([['_contract_address', 'nonsense'], ...mint(address).slice(1)]),
    ]);
    assert.deepEqual(
      happenings(block).flatMap((one) => (one.what === 'mint' ? [one.owner] : [])),
      owners.map((owner) => `?${owner}`),
    );
    assert.equal(block.problems.length, 2);
  });
});

describe('NFT events of recorded blocks', () => {
  for (const [recording, vm] of [
    ['evm', 'evm'],
    ['move', 'move'],
    ['wasm-hostile', 'wasm'],
  ] as const) {
    it(`of ${recording} are read, and every problem is told`, () => {
      const problems: string[] = [];
      let events = 0;
      for (const block of recordedBlocks(recording).values()) {
        const decoded = decodeBlock(block, block.material, { vm, account_prefix: 'init' });
        problems.push(...decoded.problems.map(({ reason }) => reason));
        events += decoded.events.length;
      }
      assert.ok(events > 40, `${events} events`);
      assert.ok(
        problems.every((reason) => /names nobody/.test(reason)),
        problems.join('; '),
      );
    });
  }
});

describe('texts in NFT events that are longer than they may be', () => {
  const long = '🎨'.repeat(10_000);
  const limitsOf = (block: NftBlock) => block.problems.map(({ limit }) => limit);

  it('are cut at the end of a character: uris and names', () => {
    const told = decode('wasm', [
      wasm(run(['action', 'mint'], ['token_id', 'one'], ['owner', long], ['token_uri', `a${long}`])),
    ]);
    const mint = happenings(told).find(({ what }) => what === 'mint') as { uri?: string; owner?: string };
    assert.equal(mint.uri, `a${'🎨'.repeat(4_095)}`);
    assert.equal(mint.owner, `?${'🎨'.repeat(255)}`);
    assert.deepEqual(limitsOf(told), ['NFT_URI_BYTES', 'NFT_NAME_BYTES']);
    const move = decode('move', [
      event('collection::CreateCollectionEvent', { collection: '0xc', creator: '0xd', name: long }),
      event('collection::MintEvent', { collection: '0xc', nft: '0xe', token_id: 'one' }),
      event('nft::CreateEvent', { collection: '0xc', token_id: 'one', uri: long }),
    ]);
    const [created, minted] = happenings(move) as { name?: string; uri?: string }[];
    assert.equal(created?.name, '🎨'.repeat(256));
    assert.equal(minted?.uri, '🎨'.repeat(4_096));
    assert.match(
      move.problems[0]?.reason ?? '',
      /name is longer than 1024 bytes: it is cut \(NFT_NAME_BYTES\)/,
    );
  });

  it('leave a token out where they are its id', () => {
    const mintOf = (token_id: string): Event =>
      wasm(run(['action', 'mint'], ['token_id', token_id], ['owner', toBech32(alice, 'init')]));
    const block = decode('wasm', [mintOf('x'.repeat(4_096)), mintOf('x'.repeat(4_097))]);
    assert.equal(happenings(block).filter(({ what }) => what === 'mint').length, 1);
    assert.deepEqual(limitsOf(block), ['NFT_ID_BYTES']);
  });
});
