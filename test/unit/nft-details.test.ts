import assert from 'node:assert/strict';
import { AbiCoder } from 'ethers';
import { decodedAgain } from '../../services/gateway/json.js';
import { decodeText, encodeNumber, readAnswers } from '../../services/nft/enrich/evm.js';
import { jobAfter } from '../../services/nft/enrich/outcome.js';
import { fold } from '../../services/nft/token-key.js';

const encoded = (text: string): string => AbiCoder.defaultAbiCoder().encode(['string'], [text]);

describe('NFT details: texts that contracts return', () => {
  it('are strings, or 32 bytes that end in zeros', () => {
    for (const text of ['', 'Art', 'Ünïcode / 50% "quoted" 艺术 🎨', 'x'.repeat(5_000), 'nul\0'])
      assert.equal(decodeText(encoded(text), 16_384), text);
    assert.equal(decodeText(`0x${Buffer.from('MKR').toString('hex').padEnd(64, '0')}`, 16_384), 'MKR');
  });

  it('are nothing where the answer is cut, empty or says what cannot be', () => {
    const good = encoded('x'.repeat(100)).slice(2);
    const odd = [
      ...['0x', '', '0x12', `0x${good.slice(0, 200)}`, `0x${'f'.repeat(128)}`, 'abc', '0xzz'],
      `0x${'20'.padStart(64, '0')}${'f'.repeat(64)}`,
      `0x${'ffffffffffff'.padStart(64, '0')}${good.slice(64)}`,
      `0x${'20'.padStart(64, '0')}${(2 ** 40).toString(16).padStart(64, '0')}`,
    ];
    for (const data of odd) assert.equal(decodeText(data, 16_384), undefined, data.slice(0, 80));
  });

  it('may hold bytes that are no UTF-8', () => {
    const bytes = `0x${'20'.padStart(64, '0')}${'2'.padStart(64, '0')}${'c328'.padEnd(64, '0')}`;
    assert.equal(decodeText(bytes, 16_384), '\ufffd(');
  });

  it('are asked for with the number of the token', () => {
    assert.equal(encodeNumber('255'), 'ff'.padStart(64, '0'));
    assert.equal(encodeNumber(String(2n ** 256n - 1n)), 'f'.repeat(64));
  });
});

describe('NFT details: answers of a batch', () => {
  const batch = (tip: number, ...rest: object[]): string =>
    JSON.stringify([{ id: 0, result: `0x${tip.toString(16)}` }, ...rest]);

  it('may come in any order, and a missing one counts as refused', () => {
    const body = batch(9, { id: 3, error: { message: 'Reverted' } }, { id: 1, result: '0xaa' });
    assert.deepEqual(readAnswers(3, 5, 200, body), [
      { is: 'answer', value: '0xaa' },
      { is: 'refused', why: 'no answer' },
      { is: 'refused', why: 'Reverted' },
    ]);
  });

  it('of a node that is behind say nothing: what it knows may be old', () => {
    const body = batch(4, { id: 1, error: { message: 'Reverted' } }, { id: 2, result: '0xaa' });
    assert.throws(() => readAnswers(2, 5, 200, body), { reason: 'behind' });
    assert.equal(readAnswers(2, 4, 200, body)[1]?.is, 'answer');
  });

  it('are errors where there is no batch, or no height', () => {
    assert.throws(() => readAnswers(1, 5, 200, '{"error":{"message":"batches are off"}}'), /no batch/);
    assert.throws(() => readAnswers(1, 5, 200, '[{"id":1,"result":"0x"}]'), /eth_blockNumber/);
    assert.throws(() => readAnswers(1, 5, 502, '<html>'), /no JSON/);
  });
});

describe('NFT details: what becomes of an ask that was not answered', () => {
  const ask = { at: 5, subject: 'collection', collection: 'c', first_key: '', last_key: '' } as const;
  const refused = { is: 'refused', why: 'no' } as const;

  it('a refusal is asked again, later each time, and then given up', () => {
    let job = jobAfter(ask, refused, 1_000, 3);
    const waits: number[] = [];
    while (job.state === 'pending') {
      waits.push(job.next_ms - 1_000);
      job = jobAfter(job, refused, 1_000, 3);
    }
    assert.equal(job.state, 'failed');
    assert.deepEqual(waits, [2_000, 10_000]);
  });

  it('a node that is away does not count, however often', () => {
    let job = jobAfter(ask, { is: 'unreached', why: 'away' }, 0, 2);
    for (let n = 0; n < 50; n++) job = jobAfter(job, { is: 'unreached', why: 'away' }, 0, 2);
    assert.deepEqual([job.state, job.attempts], ['pending', 0]);
  });
});

describe('names that are searched', () => {
  it('are the same in every case and script', () => {
    for (const [a, b] of [
      ['ÜNÏ', 'ünï'],
      ['ΣΑΣ', 'σας'],
      ['ΣΑΣ', 'σασ'],
      ['ЖИЗНЬ', 'жизнь'],
      ['艺术', '艺术'],
    ] as const)
      assert.equal(fold(a), fold(b));
  });
});

describe('a text that may be encoded twice', () => {
  it('is decoded once more only where that gives another text', () => {
    assert.equal(decodedAgain('a%2Fb'), 'a/b');
    assert.equal(decodedAgain('50%'), undefined);
    assert.equal(decodedAgain('%zz'), undefined);
    assert.equal(decodedAgain('plain'), undefined);
  });
});
