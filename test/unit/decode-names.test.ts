import assert from 'node:assert/strict';
import { bech32 } from '@scure/base';
import { nameScanner } from '../../services/tx/decode/names.js';
import type { DecodeOptions } from '../../services/tx/decode/types.js';

const ALICE = 'init1vwaygemc9eywzcr50l5lw23r0nj860uwxmthy7';
const ALICE_KEY = '63ba4467782e48e160747fe9f72a237ce47d3f8e';
const BOB = 'init13y4evpwj5dnwtd3909wagxg4x7rmq5k77vaje6';
const BOB_KEY = '892b9605d2a366e5b625795dd419153787b052de';
const OBJECT = 'f3d952fa05195434ad7849f84ec7904d4a54d56ebc43e3490a228f199e304ab9';
const ONE = '1'.padStart(40, '0');

function named(text: string, vm: DecodeOptions['vm'] = 'wasm'): string[] {
  const found: string[] = [];
  nameScanner({ vm, account_prefix: 'init' }).scan(text, (key) => found.push(key) > 0);
  return found.sort();
}

describe('nameScanner', () => {
  it('finds an address that is a word, wherever it stands', () => {
    for (const text of [
      ALICE,
      ALICE.toUpperCase(),
      ` ${ALICE} `,
      `${ALICE}/17`,
      `"${ALICE}"`,
      `5factory/${ALICE}/gold`,
      `see ${ALICE}.`,
      `wasm.${ALICE}`,
      `["x",{"a":["${ALICE}"]}]`,
      `{"${ALICE}":1}`,
      `0x${ALICE_KEY}`,
      `0x${ALICE_KEY.toUpperCase()}`,
      `x,0x${ALICE_KEY},y`,
    ]) {
      assert.deepEqual(named(text), [ALICE_KEY], text);
    }
    assert.deepEqual(named(`${ALICE},${BOB},notanaddr, ${ALICE}`), [ALICE_KEY, ALICE_KEY, BOB_KEY]);
  });

  it('finds none where there is none', () => {
    for (const text of [
      '',
      '0x',
      'init1',
      `x${ALICE}`,
      `${ALICE}x`,
      `${ALICE.slice(0, -1)}q`,
      `I${ALICE.slice(1)}`,
      `0x${ALICE_KEY}0`,
      `0x${ALICE_KEY.slice(1)}`,
      `00x${ALICE_KEY}`,
      ALICE_KEY,
      bech32.encode('cosmos', bech32.toWords(Buffer.from(ALICE_KEY, 'hex'))),
      bech32.encode('xinit', bech32.toWords(Buffer.from(ALICE_KEY, 'hex'))),
      `${'0x'.repeat(5000)}`,
      `${'init1'.repeat(5000)}`,
    ]) {
      assert.deepEqual(named(text), [], text.slice(0, 60));
    }
  });

  it('sees through escapes of JSON, and of JSON in JSON', () => {
    const plain = { text: `line\n${ALICE}\t${BOB}`, n: 1, none: null };
    const both = [ALICE_KEY, BOB_KEY].sort();
    assert.deepEqual(named(JSON.stringify(plain)), both);
    assert.deepEqual(named(JSON.stringify({ msg: JSON.stringify([JSON.stringify(plain)]) })), both);
    assert.deepEqual(named(`{"a":"\\u0069nit1${ALICE.slice(5)}"}`), [ALICE_KEY]);
    assert.deepEqual(named(`not json \\ ${ALICE}`), [ALICE_KEY]);
    assert.deepEqual(named(`{"broken \\" ${ALICE}`), [ALICE_KEY]);
  });

  it('survives deep nesting', () => {
    let text = ALICE;
    for (let depth = 0; depth < 20; depth++) text = JSON.stringify([text.slice(0, 100_000)]);
    assert.doesNotThrow(() => named(text));
    const depth = 50_000;
    assert.deepEqual(named(`${'['.repeat(depth)}"\\n${ALICE}"${']'.repeat(depth)}`), [ALICE_KEY]);
  });

  it('knows what hex is an address on each virtual machine', () => {
    const word = `0x${OBJECT}`;
    assert.deepEqual(named(word, 'evm'), []);
    assert.deepEqual(named(word, 'wasm'), [OBJECT]);
    assert.deepEqual(named(word, 'move'), [OBJECT]);
    assert.deepEqual(named('0x1', 'evm'), []);
    assert.deepEqual(named('0x1', 'wasm'), []);
    assert.deepEqual(named('0x1', 'move'), [ONE]);
    assert.deepEqual(named(`0x${'0'.repeat(24)}${ALICE_KEY}`, 'evm'), []);
    assert.deepEqual(named(`0x${'f'.repeat(65)}`, 'move'), []);
  });

  it('reads the notations of Move', () => {
    assert.deepEqual(
      named(`[0x${ALICE_KEY} 0x1 0xb7e]`, 'move'),
      [ONE, 'b7e'.padStart(40, '0'), ALICE_KEY].sort(),
    );
    assert.deepEqual(named('0x1,0xb7eb03f6cbf6a571e7771b55730e135ddbf451b', 'move'), [
      ONE,
      '0b7eb03f6cbf6a571e7771b55730e135ddbf451b',
    ]);
    assert.deepEqual(named(`0x${ALICE_KEY}::lab::Shout`, 'move'), [ALICE_KEY]);
    const short = '9328df3106470bbabd7da52eb50f3b4c51e0007e98f9b152cbcd84985c90f5';
    assert.deepEqual(named(`{"collection":"0x${short}"}`, 'move'), [`00${short}`]);
  });
});
