import assert from 'node:assert/strict';
import { BinaryWriter } from '@bufbuild/protobuf/wire';
import { parseFields } from '../../services/common/chain/proto/decode.js';
import { schema } from '../../services/common/chain/proto/messages/index.js';
import { alignDecoded, decodeTxRaw, parseTxRaw } from '../../services/common/chain/txraw.js';
import { recordings } from '../support/facts.js';
import { recordedBlocks } from '../support/material.js';

type Part = (writer: BinaryWriter) => BinaryWriter;

const message = (...parts: Part[]): Uint8Array =>
  parts.reduce((writer, part) => part(writer), new BinaryWriter()).finish();
const bytes =
  (field: number, value: Uint8Array): Part =>
  (writer) =>
    writer.uint32((field << 3) | 2).bytes(value);
const text = (field: number, value: string): Part => bytes(field, Buffer.from(value));
const varint =
  (field: number, value: bigint | number): Part =>
  (writer) =>
    writer.uint32(field << 3).uint64(value);
const any = (type: string, value: Uint8Array): Uint8Array => message(text(1, type), bytes(2, value));

/** What the fields of a message besides its type are decoded to, as the first message of a tx. */
function decodeMessage(type: string, value: Uint8Array): object {
  const body = message(bytes(1, any(type, value)));
  const [first] = JSON.parse(decodeTxRaw(message(bytes(1, body)))).body.messages;
  const { '@type': decodedType, ...fields } = first;
  assert.equal(decodedType, type);
  return fields;
}

describe('decodeTxRaw', () => {
  for (const recording of recordings) {
    it(`spells every tx of the recording ${recording} as the node does, to the byte`, () => {
      let compared = 0;
      for (const block of recordedBlocks(recording).values()) {
        for (const tx of block.material.txs) {
          assert.equal(tx.decoded_locally, false);
          assert.equal(decodeTxRaw(tx.raw), tx.decoded.toString('utf8'), `height ${block.height}`);
          compared++;
        }
      }
      assert.ok(compared > 100);
    });
  }

  it('keeps the bytes of messages that it does not know or cannot read', () => {
    for (const [type, hex] of [
      ['/new.v1.MsgNew', '0a03616263'],
      ['/cosmos.bank.v1beta1.MsgSend', '0aff'],
    ] as const) {
      const value = Buffer.from(hex, 'hex');
      assert.deepEqual(decodeMessage(type, value), { value: value.toString('base64') });
    }
  });

  it('prints defaults, times, decimals, maps of a oneof and packed numbers as the node does', () => {
    const feegrant = message(
      bytes(2, message(varint(1, 3600))),
      bytes(5, message(varint(1, 1795257890), varint(2, 169000000))),
    );
    assert.deepEqual(decodeMessage('/cosmos.feegrant.v1beta1.PeriodicAllowance', feegrant), {
      basic: { spend_limit: [], expiration: null },
      period: '3600s',
      period_spend_limit: [],
      period_can_spend: [],
      period_reset: '2026-11-21T10:44:50.169Z',
    });
    const prices = bytes(2, message(text(1, 'umin'), text(2, '150000000000000000')));
    assert.deepEqual(decodeMessage('/opinit.opchild.v1.MsgUpdateMinGasPrices', message(prices)), {
      authority: '',
      min_gas_prices: [{ denom: 'umin', amount: '0.150000000000000000' }],
    });
    const pin = message(bytes(2, Buffer.from([1, 2, 0xff, 0x7f])));
    assert.deepEqual(decodeMessage('/cosmwasm.wasm.v1.MsgPinCodes', pin), {
      authority: '',
      code_ids: ['1', '2', '16383'],
    });
    const consensus = message(bytes(3, Buffer.from('ab', 'hex')));
    assert.deepEqual(decodeMessage('/ibc.lightclients.tendermint.v1.ConsensusState', consensus), {
      timestamp: '0001-01-01T00:00:00Z',
      root: { hash: null },
      next_validators_hash: 'AB',
    });
    const validator = message(bytes(2, message(bytes(1, Buffer.from('ed')))), varint(3, 2n ** 63n - 1n));
    const set = message(bytes(1, validator));
    const decoded = {
      address: null,
      pub_key: { ed25519: 'ZWQ=' },
      voting_power: '9223372036854775807',
      proposer_priority: '0',
    };
    const header = decodeMessage('/ibc.lightclients.tendermint.v1.Header', message(bytes(2, set)));
    const expected = { validators: [decoded], proposer: null, total_voting_power: '0' };
    assert.deepEqual((header as { validator_set: unknown }).validator_set, expected);
  });

  it('decodes multisig signers, an unknown sign mode and a message in a message', () => {
    const key = (byte: number) =>
      any('/cosmos.crypto.secp256k1.PubKey', message(bytes(1, Buffer.alloc(33, byte))));
    const multisig = any(
      '/cosmos.crypto.multisig.LegacyAminoPubKey',
      message(varint(1, 2), bytes(2, key(2)), bytes(2, key(3))),
    );
    const single = (mode: number) => message(bytes(1, message(varint(1, mode))));
    const bits = message(varint(1, 2), bytes(2, Buffer.from([0xc0])));
    const modes = message(bytes(1, bits), bytes(2, single(127)), bytes(2, single(9999)));
    const multi = message(bytes(2, modes));
    const authInfo = message(bytes(1, message(bytes(1, multisig), bytes(2, multi), varint(3, 7))));
    const decoded = JSON.parse(decodeTxRaw(message(bytes(2, authInfo)))) as { auth_info: unknown };
    assert.deepEqual(decoded.auth_info, {
      signer_infos: [
        {
          public_key: {
            '@type': '/cosmos.crypto.multisig.LegacyAminoPubKey',
            threshold: 2,
            public_keys: [2, 3].map((byte) => ({
              '@type': '/cosmos.crypto.secp256k1.PubKey',
              key: Buffer.alloc(33, byte).toString('base64'),
            })),
          },
          mode_info: {
            multi: {
              bitarray: { extra_bits_stored: 2, elems: 'wA==' },
              mode_infos: [{ single: { mode: 'SIGN_MODE_LEGACY_AMINO_JSON' } }, { single: { mode: 9999 } }],
            },
          },
          sequence: '7',
        },
      ],
      fee: null,
      tip: null,
    });
  });

  it('gives the usual shape for bytes that are no tx, however they are nested', () => {
    const empty = {
      body: {
        messages: [],
        memo: '',
        timeout_height: '0',
        extension_options: [],
        non_critical_extension_options: [],
      },
      auth_info: { signer_infos: [], fee: { amount: [], gas_limit: '0', payer: '', granter: '' }, tip: null },
      signatures: [],
    };
    for (const bad of ['', 'ff', '0a', '0a05', '08', 'deadbeef', '0affffffffffffffffffff01']) {
      const decoded = JSON.parse(decodeTxRaw(Buffer.from(bad, 'hex'))) as typeof empty;
      assert.deepEqual(decoded.body, empty.body, bad);
      assert.deepEqual(decoded.signatures, []);
      assert.deepEqual(decoded.auth_info.signer_infos, []);
    }
    const broken = Buffer.from('0aff', 'hex');
    const damaged = message(bytes(1, broken), bytes(2, broken), text(3, 'sig'));
    assert.deepEqual(JSON.parse(decodeTxRaw(damaged)), { ...empty, signatures: ['c2ln'] });
    let nested = any('/cosmos.bank.v1beta1.MsgSend', new Uint8Array());
    for (let depth = 0; depth < 3000; depth++) {
      nested = any('/cosmos.authz.v1beta1.MsgExec', message(bytes(2, nested)));
    }
    assert.ok(JSON.parse(decodeTxRaw(message(bytes(1, message(bytes(1, nested)))))));
  });

  it('never throws on damaged bytes of real txs', () => {
    const block = recordedBlocks('move').get(106);
    const raw = block?.material.txs[0]?.raw ?? Buffer.alloc(0);
    assert.ok(raw.length > 500);
    for (let at = 0; at < raw.length; at++) {
      const damaged = Buffer.from(raw);
      damaged[at] = (damaged[at] ?? 0) ^ 0xff;
      JSON.parse(decodeTxRaw(damaged));
      JSON.parse(decodeTxRaw(raw.subarray(0, at)));
    }
  });
});

describe('the message schema', () => {
  it('has no line that cannot be read and names only messages that are there', () => {
    const builtIn = /^(string|bytes|bool|u?int(32|64)|any|timestamp|duration|int|dec|json|hex|enum:.*)$/;
    for (const [name, lines] of Object.entries(schema)) {
      const numbers = parseFields(lines).map((field) => field.number);
      assert.equal(new Set(numbers).size, numbers.length, name);
      for (const field of parseFields(lines)) {
        const known = builtIn.test(field.type) || Object.hasOwn(schema, field.type);
        assert.ok(known, `${name}.${field.name}: ${field.type}`);
      }
    }
  });
});

describe('parseTxRaw', () => {
  it('takes the parts apart and refuses other bytes', () => {
    const raw = parseTxRaw(message(text(1, 'body'), text(2, 'auth'), text(3, 'one'), text(3, 'two')));
    assert.equal(Buffer.from(raw?.body_bytes ?? []).toString(), 'body');
    assert.equal(Buffer.from(raw?.auth_info_bytes ?? []).toString(), 'auth');
    assert.deepEqual(
      raw?.signatures.map((signature) => Buffer.from(signature).toString()),
      ['one', 'two'],
    );
    assert.equal(parseTxRaw(Buffer.from('0aff', 'hex')), undefined);
    assert.equal(parseTxRaw(Buffer.from('0801', 'hex')), undefined);
  });
});

describe('alignDecoded', () => {
  const raw = (...signatures: string[]) => message(text(1, 'b'), ...signatures.map((one) => text(3, one)));
  const decoded = (memo: string, ...signatures: string[]) =>
    JSON.stringify({
      body: { memo },
      signatures: signatures.map((one) => Buffer.from(one).toString('base64')),
    });

  it('puts each tx in its place, whatever is missing or out of order', () => {
    const raws = [raw('a'), raw('b', 'c'), raw('d')];
    const [a, b, d] = [decoded('1', 'a'), decoded('2', 'b', 'c'), decoded('3', 'd')];
    assert.deepEqual(alignDecoded(raws, [a, b, d]), [a, b, d]);
    assert.deepEqual(alignDecoded(raws, [d, b, a]), [a, b, d]);
    assert.deepEqual(alignDecoded(raws, [a, d]), [a, undefined, d]);
    assert.deepEqual(alignDecoded(raws, []), [undefined, undefined, undefined]);
  });

  it('drops what belongs to another block or cannot be read', () => {
    const others = [decoded('1', 'z'), 'null', '{"signatures":', '{}'];
    assert.deepEqual(alignDecoded([raw('a')], others), [undefined]);
    assert.deepEqual(alignDecoded([Buffer.from('0aff', 'hex')], [decoded('1')]), [undefined]);
  });

  it('goes by order among equal signatures only when none is missing', () => {
    const raws = [raw(), raw('a'), raw()];
    const [first, a, second] = [decoded('1'), decoded('2', 'a'), decoded('3')];
    assert.deepEqual(alignDecoded(raws, [first, a, second]), [first, a, second]);
    assert.deepEqual(alignDecoded(raws, [a, second]), [undefined, a, undefined]);
    const unsigned = '{"signatures":null}';
    assert.deepEqual(alignDecoded([raw()], [unsigned]), [unsigned]);
  });

  it('aligns the block of 135 when the node drops one and turns the rest round', () => {
    const txs = recordedBlocks('wasm').get(102)?.material.txs ?? [];
    assert.equal(txs.length, 135);
    const texts = txs.map((tx) => tx.decoded.toString('utf8'));
    const given = texts.filter((_, index) => index !== 77).reverse();
    const expected = texts.map((one, index) => (index === 77 ? undefined : one));
    const raws = txs.map((tx) => tx.raw);
    assert.deepEqual(alignDecoded(raws, given), expected);
  });
});
