import assert from 'node:assert/strict';
import { AbiCoder } from 'ethers';
import { evmSource } from '../../services/nft/enrich/evm.js';
import { defaultTextLimits } from '../../services/nft/text-limits.js';
import { fakeEndpoints } from '../support/fake-endpoints.js';

const name = AbiCoder.defaultAbiCoder().encode(['string'], ['Art']);
const [good, slow, late] = ['a', 'b', 'c'].map((letter) => letter.repeat(40)) as [string, string, string];

interface Question {
  readonly id: number;
  readonly params: readonly [{ readonly to: string }];
}

/** A node that refuses batches, fails at one contract, and is behind when it is asked of another. */
const node = (tipOf: (contract: string) => number) =>
  fakeEndpoints('jsonrpc', ({ body }) => {
    const [, ...calls] = JSON.parse(body ?? '[]') as Question[];
    const contract = calls[0]?.params[0].to.slice(2) ?? '';
    if (calls.length > 1 || contract === slow) return [502, '<html>too slow</html>'];
    const tip = `0x${tipOf(contract).toString(16)}`;
    return [200, [{ id: 0, result: tip }, ...calls.map(({ id }) => ({ id, result: name }))]];
  });

describe('NFT details: calls that are sent one by one after a batch has failed', () => {
  const { signal } = new AbortController();
  const ask = async (tipOf: (contract: string) => number) =>
    (await evmSource(node(tipOf), defaultTextLimits).collections([good, slow, late], 7, signal)).map(
      ({ is }) => is,
    );

  it('are refused where the node answers others; nothing is known where it is behind', async () => {
    assert.deepEqual(await ask((contract) => (contract === late ? 6 : 7)), [
      'answer',
      'refused',
      'unreached',
    ]);
    assert.deepEqual(await ask(() => 7), ['answer', 'refused', 'answer']);
  });

  it('have reached nobody where none is answered', async () => {
    assert.deepEqual(await ask(() => 6), ['unreached', 'unreached', 'unreached']);
  });
});
