import assert from 'node:assert/strict';
import { sleep } from '../../services/common/runtime/lifecycle.js';
import { blockMissing, createForkedReplica, type ForkedReplica } from '../support/attack/forked-replica.js';
import { type ScoringDevnet, startScoringDevnet } from '../support/attack/scoring-devnet.js';

/** First bytes of the calldata of finalizeStage(uint64). */
const finalize = '17abbd50';

/** Longer than a tx is looked for whose nonce is used and that no block shows, in milliseconds. */
const watched_ms = 45_000;

/** What the replica is asked for: everything but the nonce, the height and what is sent. */
const theirs = /^eth_(call|getTransactionReceipt|getTransactionByHash|getBlockByNumber)$/;

describe('a load balancer before a replica on a fork that lacks the finalization', () => {
  let net: ScoringDevnet | undefined;
  let mining: NodeJS.Timeout | undefined;

  afterEach(async () => {
    clearInterval(mining);
    await net?.stop();
  });

  it('makes nobody finalize a stage twice', async () => {
    let replica: ForkedReplica | undefined;
    let isBalanced = true;
    net = await startScoringDevnet('lenient', ({ anvil, proxy }) => {
      const forked = createForkedReplica(anvil);
      replica = forked;
      proxy.meddle = async (request) => {
        const { method, params } = request;
        if (method === 'eth_sendRawTransaction' && String(params[0]).includes(finalize))
          forked.forked_at ??= BigInt(String(await anvil.call('eth_blockNumber')));
        if (isBalanced && theirs.test(method)) return forked.answer(request);
        return forked.isOnlyHere(request) ? blockMissing : undefined;
      };
    });
    const { anvil } = net;
    mining = setInterval(() => void anvil.call('evm_mine').catch(() => {}), 500);
    while ((await net.finalizations()).length === 0) await sleep(100);
    assert.notEqual(replica?.forked_at, undefined);
    await sleep(watched_ms);
    assert.deepEqual(await net.finalizations(), [5n]);
    // Once the replica is gone, all is as if it had never been.
    isBalanced = false;
    await net.untilStep('nothing StageRunning');
    assert.deepEqual(await net.finalizations(), [5n]);
  });
});
