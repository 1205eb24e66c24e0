import assert from 'node:assert/strict';
import { compareBytes, tokenIdOf, tokenKey } from '../../services/nft/token-key.js';

describe('NFT token keys', () => {
  it('sort numbers by value and before other ids, and those by code point', () => {
    const sorted = [
      ...['0', '1', '2', '9', '10', '11', '99', '100', '12345678901234567890'],
      ...[String(2n ** 255n), String(2n ** 256n - 1n)],
      // Not numbers: a leading zero, a sign, 2^256 and more.
      ...['', '\0', '-1', '00', '01', String(2n ** 256n), '1e3', '9'.repeat(78), '9'.repeat(79)],
      ...['A', 'a', 'a/b', 'ab', 'é', '漢字', '\uffff', '🐈'],
    ];
    const shuffled = [...sorted].reverse();
    shuffled.sort((a, b) => compareBytes(tokenKey(a), tokenKey(b)));
    assert.deepEqual(shuffled, sorted);
  });

  it('give the id back', () => {
    for (const id of [
      '0',
      '7',
      String(2n ** 256n - 1n),
      '007',
      '',
      'nul\0id',
      '漢字 "q" <&> 🐈/%',
      '2',
      '1x',
    ])
      assert.equal(tokenIdOf(tokenKey(id)), id);
    assert.equal(tokenIdOf(tokenKey('a\ud800b')), 'a\ufffdb');
  });
});
