import assert from 'node:assert/strict';
import { blockTotals } from '../../services/block/totals.js';
import type { BlockMaterial } from '../../services/common/gen/indexer/block/v1/block.js';
import { decodeBlock } from '../../services/tx/decode/block.js';
import type { DecodedBlock, DecodeOptions } from '../../services/tx/decode/types.js';

const ALICE = 'init1vwaygemc9eywzcr50l5lw23r0nj860uwxmthy7';
const ALICE_KEY = '63ba4467782e48e160747fe9f72a237ce47d3f8e';
const BOB = 'init13y4evpwj5dnwtd3909wagxg4x7rmq5k77vaje6';
const BOB_KEY = '892b9605d2a366e5b625795dd419153787b052de';
const FRANK_KEY = '4e4f8868423068a4c4e4d097d943d4dd35404cca';
const CONTRACT = 'e7f1725e7734ce288f8367e1bb143e90bb3f0512';

const HEAD = { height: 7, hash: 'AA', parent_hash: 'BB', timestamp: '2026-11-21T09:19:59.127960737Z' };

interface Parts {
  result?: object | string | null;
  decoded?: object | string;
  raw?: Buffer;
}

const text = (value: object | string | null | undefined): Buffer =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value ?? {}));

function material(
  txs: Parts[],
  receipts: object[] | string = [],
  events: object[] | string = [],
): BlockMaterial {
  return {
    txs: txs.map(({ result, decoded, raw }, index) => ({
      raw: raw ?? Buffer.from([index]),
      result: text(result),
      decoded: text(decoded),
      decoded_locally: false,
    })),
    receipts: text(receipts),
    block_events: text(events),
  };
}

function decode(block: BlockMaterial, vm: DecodeOptions['vm'] = 'wasm'): DecodedBlock {
  return decodeBlock(HEAD, block, { vm, account_prefix: 'init' });
}

const event = (type: string, ...pairs: [string, string][]) => ({
  type,
  attributes: pairs.map(([key, value]) => ({ key, value, index: true })),
});

const sign = (...messages: object[]) => ({ body: { messages }, auth_info: { signer_infos: [] } });

describe('the body of a tx', () => {
  it('has no null and nothing missing, whatever the node leaves out', () => {
    const result = {
      code: 5,
      data: null,
      log: null,
      gas_wanted: '1',
      events: [
        { type: 'wasm', attributes: null },
        {
          type: null,
          attributes: [{ key: 'k', value: null }, { key: 'l', value: 'v', index: true }, null, 7],
        },
        null,
      ],
    };
    const decoded = { body: { messages: [] }, n: 1 };
    const [tx] = decode(material([{ result, decoded }])).txs;
    assert.deepEqual(JSON.parse(tx?.body ?? ''), {
      txhash: '6E340B9CFFB37A989CA544E6BB780A2C78901D3FB33738768511A30617AFA01D',
      height: '7',
      codespace: '',
      code: 5,
      data: '',
      raw_log: '',
      logs: [],
      info: '',
      gas_wanted: '1',
      gas_used: '0',
      tx: decoded,
      timestamp: HEAD.timestamp,
      events: [
        { type: 'wasm', attributes: [] },
        {
          type: '',
          attributes: [
            { key: 'k', value: '', index: false },
            { key: 'l', value: 'v', index: true },
          ],
        },
      ],
    });
  });

  it('carries the decoded tx to the byte: numbers beyond 2^53, NULs, spacing', () => {
    const decoded =
      '{"body":{ "messages":[{"msg":{"n":18446744073709551615,"x":1.0}}],"memo":"a\\u0000\\u2028b"}}';
    const [tx] = decode(material([{ result: { log: 'nul\u0000' }, decoded }])).txs;
    assert.ok(tx);
    assert.ok(tx.body.includes(`"tx":${decoded},`));
    assert.equal((JSON.parse(tx.body) as { raw_log: string }).raw_log, 'nul\u0000');
  });

  it('has the types of the top-level messages once each, without the slash', () => {
    const types = ['/a.MsgA', '/b.MsgB', '/a.MsgA', 'c.MsgC', ''];
    const decoded = sign(...types.map((type) => ({ '@type': type, msgs: [{ '@type': '/inner.Msg' }] })), {});
    assert.deepEqual(decode(material([{ decoded }])).txs[0]?.msgs, ['a.MsgA', 'b.MsgB', 'c.MsgC']);
  });
});

describe('what cannot be read', () => {
  it('is stored with what is known, and told', () => {
    for (const bad of ['', 'null', '[]', '"x"', '{"a":', '\u0000']) {
      const block = decode(material([{ result: bad, decoded: bad }, { decoded: sign({ '@type': '/a.A' }) }]));
      assert.equal(block.txs.length, 2, bad);
      assert.equal(block.problems.length, 2, bad);
      const body = JSON.parse(block.txs[0]?.body ?? '');
      assert.deepEqual([body.events, body.tx.body.messages], [[], []]);
      assert.deepEqual(block.txs[1]?.msgs, ['a.A']);
    }
  });

  it('never throws, whatever shape the JSON has', () => {
    const odd: unknown[] = [0, null, 'x', [], {}, [[]], [null], [{ attributes: 5 }], { type: 1 }];
    for (const value of odd) {
      const members = ['code', 'data', 'log', 'events', 'gas_used', 'codespace'];
      const parts = {
        result: Object.fromEntries(members.map((member) => [member, value])),
        decoded: { body: { messages: value }, auth_info: { signer_infos: value, fee: value } },
      };
      const odds = decode(material([parts], [value as object], [value as object]), 'evm');
      assert.equal(odds.txs.length, 1);
      JSON.parse(odds.txs[0]?.body ?? '');
      decode(material([parts], 'oops', 'oops'), 'move');
      blockTotals(material([parts]));
    }
  });

  it('tells of receipts and block events that are no JSON', () => {
    assert.match(decode(material([], '[{'), 'evm').problems[0] ?? '', /^receipts: /);
    assert.match(decode(material([], [], '[{'), 'move').problems[0] ?? '', /^block events: /);
    assert.deepEqual(decode(material([], '', ''), 'evm').problems, []);
  });
});

describe('signers', () => {
  const key = {
    '@type': '/cosmos.crypto.secp256k1.PubKey',
    key: 'ApCG55Q74Mbl+//ST3rwBJ/do9w0F60fhlQhWBCDSGXM',
  };
  const signersOf = (parts: Parts) =>
    [...(decode(material([parts])).txs[0]?.named().accounts ?? [])]
      .filter(([, signer]) => signer)
      .map(([one]) => one);
  const withKeys = (keys: unknown[], ...messages: object[]) => ({
    body: { messages },
    auth_info: { signer_infos: keys.map((public_key) => ({ public_key })) },
  });

  it('are those of acc_seq, all of them, in order, once', () => {
    const events = [
      event('tx', ['fee_payer', ALICE]),
      event('tx', ['acc_seq', `${BOB}/0`]),
      event('tx', ['acc_seq', `${ALICE}/3`], ['acc_seq', `${BOB}/1`]),
      event('other', ['acc_seq', 'init1tg0hjdqw46gy9sfqg568jzvx09fcv3datu00pv/0']),
    ];
    assert.deepEqual(signersOf({ result: { events }, decoded: withKeys([key]) }), [BOB_KEY, ALICE_KEY]);
  });

  it('are those of the public keys when no event names them', () => {
    assert.deepEqual(signersOf({ decoded: withKeys([key, key], { sender: ALICE }) }), [FRANK_KEY]);
  });

  it('are those of the messages when a key is missing or unknown', () => {
    assert.deepEqual(signersOf({ decoded: withKeys([null], { sender: ALICE }) }), [ALICE_KEY]);
    const granted = withKeys([key, null], { granter: ALICE, grantee: BOB });
    assert.deepEqual(signersOf({ decoded: granted }), [ALICE_KEY, FRANK_KEY]);
    assert.deepEqual(signersOf({ decoded: sign({ grantee: BOB, msgs: [{ sender: ALICE }] }) }), [BOB_KEY]);
    const sent = sign({ inputs: [{ address: BOB }, { address: ALICE }] });
    assert.deepEqual(signersOf({ decoded: sent }), [BOB_KEY, ALICE_KEY]);
    assert.deepEqual(signersOf({ decoded: sign({ sender: 'nobody' }, { value: 'AA==' }) }), []);
  });
});

describe('accounts on EVM', () => {
  const topic = (key: string) => `0x${'0'.repeat(24)}${key}`;
  const log = (topics: string[], data = '0x') => JSON.stringify({ address: `0x${CONTRACT}`, topics, data });
  const accountsOf = (...events: object[]) =>
    [
      ...(decode(material([{ result: { events } }]), 'evm')
        .txs[0]?.named()
        .accounts.keys() ?? []),
    ].sort();

  it('are the address of a log and its topics that are addresses, not its data', () => {
    const hash = `0x${'dd'.repeat(32)}`;
    const value = log([hash, topic(ALICE_KEY), topic(BOB_KEY)], `0x${FRANK_KEY}`);
    assert.deepEqual(accountsOf(event('evm', ['log', value])), [ALICE_KEY, BOB_KEY, CONTRACT].sort());
  });

  it('are not what a call returned', () => {
    const ret = event('call', ['contract', `0x${CONTRACT}`], ['ret', `0x${ALICE_KEY}`]);
    assert.deepEqual(accountsOf(ret), [CONTRACT]);
    assert.deepEqual(accountsOf(event('other', ['ret', `0x${ALICE_KEY}`])), [ALICE_KEY]);
    assert.deepEqual(accountsOf(event('x', ['y', topic(ALICE_KEY)])), []);
  });

  it('are found in a log that is no JSON, as in any other text', () => {
    assert.deepEqual(accountsOf(event('evm', ['log', `broken {0x${ALICE_KEY}`])), [ALICE_KEY]);
  });

  it('come from the receipt too: from, to, contractAddress, logs', () => {
    const receipt = {
      transactionHash: `0x${'AB'.repeat(32)}`,
      gasUsed: '0x64',
      status: '0x1',
      from: `0x${ALICE_KEY}`,
      to: null,
      contractAddress: `0x${CONTRACT.toUpperCase()}`,
      logs: [{ address: `0x${FRANK_KEY}`, topics: [topic(BOB_KEY)], data: '0x' }],
    };
    const result = { code: 0, gas_used: '100', events: [event('evm', ['log', log([])])] };
    const block = decode(material([{ result }], [receipt]), 'evm');
    assert.deepEqual(block.problems, []);
    const named = [ALICE_KEY, BOB_KEY, CONTRACT, FRANK_KEY].sort();
    assert.deepEqual(
      [...(block.txs[0]?.named().accounts ?? [])].sort(),
      named.map((key) => [key, false]),
    );
    const [evmTx] = block.evm_txs;
    assert.equal(evmTx?.hash, 'ab'.repeat(32));
    assert.equal(evmTx.accounts.get(ALICE_KEY), true);
    assert.equal(evmTx.accounts.size, 4);
  });
});

describe('which tx a receipt belongs to', () => {
  const signedBy = (mode: unknown) => ({
    body: {},
    auth_info: { signer_infos: [{ mode_info: { single: { mode } } }] },
  });
  const [ethereum, cosmos] = [signedBy(9999), signedBy('SIGN_MODE_DIRECT')];
  const tx = (code: number, gas: number, decoded: object = cosmos, logs = 0) => ({
    result: {
      code,
      gas_used: String(gas),
      events: [event('evm', ...Array.from({ length: logs }, (): [string, string] => ['log', '{}']))],
    },
    decoded,
  });
  const receipt = (from: number, status: number, gas: number, logs = 0) => ({
    transactionHash: `0x${String(from).repeat(64)}`,
    from: `0x${String(from).repeat(40)}`,
    status: `0x${status}`,
    gasUsed: `0x${gas.toString(16)}`,
    logs: Array.from({ length: logs }, () => ({ address: `0x${CONTRACT}`, topics: [] })),
  });
  /** The `from` digit of each tx's receipt, or '-'. */
  const pairs = (txs: Parts[], receipts: object[]) => {
    const block = decode(material(txs, receipts), 'evm');
    const digit = (keys: string[]) => keys.find((one) => one !== CONTRACT)?.[0] ?? '-';
    return [block.txs.map((tx) => digit([...tx.named().accounts.keys()])).join(''), block.problems.length];
  };

  it('is told by order, gas, success and logs', () => {
    const txs = [tx(0, 5), tx(0, 5), tx(0, 9), tx(0, 7, cosmos, 2)];
    const receipts = [receipt(1, 1, 5), receipt(2, 1, 5), receipt(3, 1, 9), receipt(4, 1, 7, 2)];
    assert.deepEqual(pairs(txs, receipts), ['1234', 0]);
  });

  it('a failed tx has one only when an Ethereum wallet signed it', () => {
    const txs = [tx(3, 5), tx(3, 5, ethereum, 1), tx(0, 5)];
    assert.deepEqual(pairs(txs, [receipt(1, 0, 5), receipt(2, 1, 5)]), ['-12', 0]);
  });

  it('a tx without a receipt is stepped over', () => {
    const txs = [tx(0, 5), tx(0, 6), tx(0, 5, cosmos, 1)];
    assert.deepEqual(pairs(txs, [receipt(1, 1, 6), receipt(2, 1, 5, 1)]), ['-12', 0]);
  });

  it('a receipt that fits none is kept as an EVM tx and told', () => {
    const txs = [tx(0, 5), tx(0, 6)];
    assert.deepEqual(pairs(txs, [receipt(1, 1, 99), receipt(2, 1, 6)]), ['-2', 1]);
    assert.equal(decode(material(txs, [receipt(1, 1, 99)]), 'evm').evm_txs.length, 1);
  });

  it('a receipt without a hash is left out and told, a timestamp of the node is overruled', () => {
    const receipts = [{ from: '0x' }, { ...receipt(1, 1, 1), timestamp: '0x5', a: 1 }];
    const block = decode(material([], receipts), 'evm');
    assert.deepEqual([block.evm_txs.length, block.problems.length], [1, 2]);
    assert.equal(JSON.parse(block.evm_txs[0]?.body ?? '').timestamp, HEAD.timestamp);
  });

  it('there are none on other rollups', () => {
    assert.deepEqual(decode(material([], [receipt(1, 1, 1)]), 'move').evm_txs, []);
  });
});

describe('Move stores', () => {
  const created = (data: string) =>
    event('move', ['type_tag', '0x1::primary_fungible_store::PrimaryStoreCreatedEvent'], ['data', data]);
  const pair = `{"owner_addr":"0x1","store_addr":"0x${'c'.repeat(63)}","metadata_addr":"0x2"}`;
  const expected = { store: `0${'c'.repeat(63)}`, owner: '1'.padStart(40, '0') };

  it('come from the events of txs and of the block', () => {
    const block = decode(material([{ result: { events: [created(pair)] } }], [], [created(pair)]), 'move');
    assert.deepEqual(block.stores, [expected, expected]);
    assert.deepEqual(block.txs[0]?.named().stores, [expected.store]);
    assert.equal(block.txs[0]?.named().accounts.get(expected.owner), false);
  });

  it('are left out when the event cannot be read or is of another type or rollup', () => {
    const broken = ['{', '[]', '{"owner_addr":"0x1"}'].map(created);
    const events = [...broken, event('move', ['data', pair])];
    assert.deepEqual(decode(material([{ result: { events } }]), 'move').stores, []);
    const other = decode(material([{ result: { events: [created(pair)] } }]), 'wasm');
    assert.deepEqual([other.stores, other.txs[0]?.named().stores], [[], []]);
  });
});

describe('blockTotals', () => {
  it('is not misled by a log or an attribute that talks of gas', () => {
    const lie = '{"gas_used":"999","gas_wanted":"999"}';
    const result = { log: lie, events: [event('x', ['gas_used', lie])], gas_wanted: '5', gas_used: '4' };
    const totals = blockTotals(material([{ result }]));
    assert.deepEqual([totals.gas_used, totals.gas_wanted], [4n, 5n]);
  });

  it('counts what can be read, sums by denom and sorts by it', () => {
    const fee = (...amount: unknown[]) => ({ auth_info: { fee: { amount } } });
    const huge = { denom: 'B', amount: '18446744073709551616' };
    const txs = [
      {
        result: { gas_used: '9007199254740993', gas_wanted: '5' },
        decoded: fee({ denom: 'b', amount: '7' }),
      },
      {
        result: { gas_used: '1', gas_wanted: 3, code: 5 },
        decoded: fee({ denom: 'b', amount: '1' }, huge, { amount: '1' }),
      },
      { result: '{', decoded: '{' },
      { result: { gas_used: '-4', gas_wanted: 'x' }, decoded: fee(null, { denom: 'a', amount: null }) },
    ];
    assert.deepEqual(blockTotals(material(txs)), {
      gas_used: 9007199254740994n,
      gas_wanted: 8n,
      total_fee: JSON.stringify([huge, { denom: 'a', amount: '0' }, { denom: 'b', amount: '8' }]),
    });
  });
});
