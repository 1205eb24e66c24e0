import assert from 'node:assert/strict';
import { sleep } from '../../services/common/runtime/lifecycle.js';
import { type ScoringDevnet, startScoringDevnet } from '../support/attack/scoring-devnet.js';
import { createStuckReplica } from '../support/attack/stuck-replica.js';

/** First bytes of the calldata of finalizeStage(uint64). */
const finalize = '17abbd50';

/** How long the operator may go on after the first finalization, in milliseconds: it looks every second. */
const watched_ms = 5_000;

/** Who is asked: the state of the stuck replica and everything else of a good one, or whichever comes. */
const balancers: Readonly<Record<string, (method: string) => boolean>> = {
  'by method': (method) => method === 'eth_call' || method === 'eth_blockNumber',
  'at random': (method) => method !== 'eth_sendRawTransaction' && Math.random() < 0.5,
};

describe('a load balancer before a replica that got stuck before the first finalization', () => {
  let net: ScoringDevnet | undefined;

  afterEach(async () => {
    await net?.stop();
    net = undefined;
  });

  for (const [kind, balancer] of [
    ['lenient', 'by method'],
    ['lenient', 'at random'],
    ['ours', 'by method'],
  ] as const)
    it(`makes nobody finalize a stage twice: ${balancer}, a contract of the kind ${kind}`, async () => {
      let isBalanced = true;
      net = await startScoringDevnet(kind, ({ anvil, proxy }) => {
        const replica = createStuckReplica(anvil);
        proxy.meddle = async (request) => {
          const { method, params } = request;
          const isFinal = method === 'eth_sendRawTransaction' && String(params[0]).includes(finalize);
          if (isFinal) replica.stuck_at ??= BigInt(String(await anvil.call('eth_blockNumber')));
          return isBalanced && balancers[balancer]!(method) ? replica.answer(request) : undefined;
        };
      });
      while ((await net.finalizations()).length === 0) await sleep(100);
      await sleep(watched_ms);
      assert.deepEqual(await net.finalizations(), [5n]);
      // Once the replica is gone, all is as if it had never been.
      isBalanced = false;
      await net.untilStep('nothing StageRunning');
      assert.deepEqual(await net.finalizations(), [5n]);
    });
});
