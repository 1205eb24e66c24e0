import assert from 'node:assert/strict';
import { scoreInterface } from '../../services/scoring-operator/contract/artifact.js';
import { type ScoringDevnet, startScoringDevnet } from '../support/attack/scoring-devnet.js';
import { query } from '../support/database.js';

describe('a JSON-RPC URL that lies to the scoring operator', () => {
  let net: ScoringDevnet | undefined;

  afterEach(async () => {
    await net?.stop();
    net = undefined;
  });

  for (const [what, height] of [
    ['is far above the newest', '0x7fffffff'],
    ['is there, and does not have the tx', '0x1'],
    ['no chain can reach', '0x7fffffffffffffff'],
  ] as const)
    it(`does not stop it with one receipt whose block ${what}`, async () => {
      let lies = 0;
      net = await startScoringDevnet('ours', ({ proxy }) => {
        proxy.meddle = ({ method }) => {
          if (method !== 'eth_getTransactionReceipt' || lies > 0) return undefined;
          return (reply) => {
            if (reply.result === null) return reply;
            lies += 1;
            return { result: { ...(reply.result as object), blockNumber: height } };
          };
        };
      });
      await net.untilStep('nothing StageRunning');
      assert.equal(lies, 1);
      assert.deepEqual(await net.finalizations(), [5n]);
      const head = BigInt(String(await net.anvil.call('eth_blockNumber')));
      const rows = await query<{ height: string }>(
        `SELECT toString(height) AS height FROM ${net.tables}.txs FINAL`,
      );
      for (const row of rows)
        assert.ok(BigInt(row.height) > 1n && BigInt(row.height) <= head, `block ${row.height}, at ${head}`);
    });

  it('does not keep it busy with stages without end, all of them finalized', async () => {
    const stages = scoreInterface.getFunction('stages')!.selector;
    net = await startScoringDevnet('ours', ({ proxy }) => {
      proxy.meddle = ({ method, params }) => {
        const { data } = (params[0] ?? {}) as { readonly data?: string };
        if (method !== 'eth_call' || !data?.startsWith(stages)) return undefined;
        const [stage] = scoreInterface.decodeFunctionData('stages', data);
        return { result: scoreInterface.encodeFunctionResult('stages', [stage, 0n, true]) };
      };
    });
    await net.untilStep('alarm FinalizedTooEarly');
  });
});
