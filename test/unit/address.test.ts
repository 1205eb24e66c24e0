import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { bech32 } from '@scure/base';
import { parseAccount, toBech32, toHex } from '../../services/common/chain/address.js';
import { accountOfPublicKey, pubkeyToAccount } from '../../services/common/chain/pubkey.js';

const DAVE = '0b7eb03f6cbf6a571e7771b55730e135ddbf451b';
const DAVE_BECH32 = 'init1pdltq0mvha49w8nhwx64wv8pxhwm73gms6a8jv';
const CONTRACT = 'ade4a5f5803a439835c636395a8d648dee57b2fc90d98dc17fa887159b69638b';
const CONTRACT_BECH32 = 'init14hj2tavq8fpesdwxxcu44rty3hh90vhujrvcmstl4zr3txmfvw9sx58pds';
const ONE = '0000000000000000000000000000000000000001';

const parse = (text: string) => parseAccount(text, 'init');

describe('parseAccount', () => {
  const encoded = (prefix: string, bytes: Uint8Array) => bech32.encode(prefix, bech32.toWords(bytes), 100);

  it('reads one account in all its spellings as one key', () => {
    for (const text of [
      DAVE_BECH32,
      DAVE_BECH32.toUpperCase(),
      `0x${DAVE}`,
      `0X${DAVE.toUpperCase()}`,
      `0x${DAVE.slice(1)}`,
      `0x${'0'.repeat(24)}${DAVE}`,
      encoded('init', Buffer.from('0'.repeat(24) + DAVE, 'hex')),
      encoded('initvaloper', Buffer.from(DAVE, 'hex')),
    ]) {
      assert.equal(parse(text), DAVE, text);
    }
    assert.equal(parse(CONTRACT_BECH32), CONTRACT);
    assert.equal(parse(`0x${CONTRACT}`), CONTRACT);
  });

  it('pads short Move addresses to 20 bytes, and longer ones to 32', () => {
    assert.equal(parse('0x1'), ONE);
    assert.equal(parse('0x01'), ONE);
    assert.equal(parse('init1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqpqr5e3d'), ONE);
    assert.equal(parse('0x0'), '0'.repeat(40));
    const object = '9328df3106470bbabd7da52eb50f3b4c51e0007e98f9b152cbcd84985c90f5';
    assert.equal(parse(`0x${object}`), `00${object}`);
    assert.equal(parse(`0x${'f'.repeat(41)}`), 'f'.repeat(41).padStart(64, '0'));
  });

  it('refuses what is no account of this chain', () => {
    for (const text of [
      '',
      '0',
      '0x',
      '0xzz',
      `0x${'0'.repeat(65)}`,
      `0x${'f'.repeat(65)}`,
      DAVE,
      ` ${DAVE_BECH32}`,
      'init1',
      'init',
      `I${DAVE_BECH32.slice(1)}`,
      `${DAVE_BECH32.slice(0, -1)}w`,
      toBech32(DAVE, 'cosmos'),
      encoded('initvalcons', Buffer.from(DAVE, 'hex')),
      encoded('init', Buffer.alloc(19)),
      encoded('init', Buffer.alloc(33)),
      `init1${'q'.repeat(5000)}`,
      '0x\u0661',
    ]) {
      assert.equal(parse(text), undefined, text.slice(0, 80));
    }
  });

  it('goes back to bech32 and hex', () => {
    assert.equal(toBech32(DAVE, 'init'), DAVE_BECH32);
    assert.equal(toBech32(CONTRACT, 'init'), CONTRACT_BECH32);
    assert.equal(toHex(DAVE), `0x${DAVE}`);
    assert.equal(parse(toBech32(ONE, 'init')), ONE);
  });

  it('takes any prefix of the configuration', () => {
    assert.equal(parseAccount(toBech32(DAVE, 'cosmos'), 'cosmos'), DAVE);
  });
});

describe('public keys', () => {
  const ethereumKey = '/initia.crypto.v1beta1.ethsecp256k1.PubKey';
  const cosmosKey = '/cosmos.crypto.secp256k1.PubKey';
  const multisig = '/cosmos.crypto.multisig.LegacyAminoPubKey';
  // Keys of frank and of an Ethereum wallet, from the recordings.
  const FRANK = 'ApCG55Q74Mbl+//ST3rwBJ/do9w0F60fhlQhWBCDSGXM';
  const ETH = 'A4MYU1tUEF1Keq5gwI/EX5aHGBtP38YlvRp1P6c5f+11';

  it('keccak for Ethereum keys, ripemd160 of sha256 for Cosmos ones', () => {
    assert.equal(pubkeyToAccount(ethereumKey, ETH), 'f39fd6e51aad88f6f4ce6ab8827279cfffb92266');
    const frank = parse('init1fe8cs6zzxp52f38y6ztajs75m565qnx25zraf4');
    assert.equal(pubkeyToAccount(cosmosKey, FRANK), frank);
  });

  it('a multisig is the hash of its amino encoding', () => {
    const keys = [ETH, FRANK];
    const secp = (key: string) => `12 26 EB5AE987 21 ${Buffer.from(key, 'base64').toString('hex')}`;
    const encoded = `22C1F7E2 08 02 ${keys.map(secp).join(' ')}`.replaceAll(' ', '');
    const expected = createHash('sha256').update(Buffer.from(encoded, 'hex')).digest('hex').slice(0, 40);
    const public_keys = keys.map((key) => ({ '@type': cosmosKey, key }));
    assert.equal(accountOfPublicKey({ '@type': multisig, threshold: 2, public_keys }), expected);
  });

  it('has no account for what is missing, unknown or broken', () => {
    assert.equal(accountOfPublicKey(null), undefined);
    assert.equal(accountOfPublicKey({}), undefined);
    assert.equal(accountOfPublicKey({ '@type': '/new.PubKey', key: ETH }), undefined);
    assert.equal(pubkeyToAccount(ethereumKey, 'AAAA'), undefined);
    assert.equal(pubkeyToAccount(cosmosKey, 'AnJNZ0T'), undefined);
    assert.equal(accountOfPublicKey({ '@type': multisig, threshold: 1, public_keys: [null] }), undefined);
    assert.equal(accountOfPublicKey({ '@type': multisig, threshold: -1, public_keys: [] }), undefined);
    let nested: object = { '@type': cosmosKey, key: ETH };
    for (let depth = 0; depth < 50; depth++)
      nested = { '@type': multisig, threshold: 1, public_keys: [nested] };
    assert.equal(accountOfPublicKey(nested), undefined);
  });
});
