import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import type { Holder } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import { eventually } from '../support/block.js';
import {
  holdersOf,
  type Ledger,
  type ModelBlock,
  modelBlocks,
  modelTokens,
  summed,
} from '../support/richlist-model.js';
import { startTestService, type TestService } from '../support/richlist-service.js';
import { ask, collect, stream } from '../support/rpc.js';
import { thoroughIt } from '../support/sample.js';
import { endsAfterEach } from '../support/suite.js';

const [bank, ibc, custom, drifting] = modelTokens as [string, string, string, string];
const denoms = ['uAAA', 'ibc/B0B', `0x${custom}`, `evm/${drifting.toUpperCase()}`];

const counted = async (counter: { get(): Promise<{ values: { value: number }[] }> }): Promise<number> =>
  (await counter.get()).values.reduce((sum, { value }) => sum + value, 0);

describe('the richlist service', function () {
  this.timeout(120_000);
  const endLater = endsAfterEach();
  const start = async (...args: Parameters<typeof startTestService>): Promise<TestService> => {
    const service = await startTestService(...args);
    return { ...service, stop: endLater(() => service.stop()) };
  };

  /** Compares every list with a ledger. */
  async function expectLists(running: TestService, ledger: Ledger, tokens = modelTokens): Promise<void> {
    for (const token of tokens)
      assert.deepEqual(await running.holders(`0x${token}`), holdersOf(ledger, token), token);
  }

  it('lists what the logs lead to from the state after the first block', async () => {
    const blocks = modelBlocks(11, 40);
    const running = await start(blocks);
    await running.reaches(40);
    // The custom tokens are no bank denoms: what they were before block 1 nobody tells.
    await expectLists(running, summed(blocks), [bank, ibc]);
    for (const denom of denoms) assert.ok(Array.isArray(await running.holders(denom)), denom);
  });

  it('begins with the latest state where the first one is pruned, and shows nothing before that height', async () => {
    const blocks = modelBlocks(12, 30);
    const heights = new Set<number>();
    const running = await start([], { env: { RECONCILE_INTERVAL_MS: '0' } });
    running.node.troubles({ earliest_state: 25 });
    running.grow(blocks);
    await eventually(async () => {
      const { rich_list_height } = await ask(running.client).getStatus({});
      heights.add(rich_list_height);
      return rich_list_height === 30;
    }, 'height 30');
    assert.deepEqual(
      [...heights].filter((height) => height !== 0 && height < 30),
      [],
    );
    await expectLists(running, (blocks.at(-1) as ModelBlock).truth, [bank, ibc]);
    running.grow(modelBlocks(12, 45).slice(30));
    await running.reaches(45);
    const early = ask(running.client).getBalance({
      denom: 'uAAA',
      account: `0x${'1'.padStart(40, '0')}`,
      height: 29,
    });
    await assert.rejects(early, { code: status.OUT_OF_RANGE });
  });

  it('heals what the logs do not tell, counts it, and leaves alone what they do', async () => {
    const blocks = modelBlocks(13, 30);
    const running = await start(blocks, {
      env: { RECONCILE_INTERVAL_MS: '50', RECONCILE_DRIFTING_MS: '200' },
    });
    await running.reaches(30);
    const { truth } = blocks.at(-1) as ModelBlock;
    // Who was only ever given some without a log is known to nobody.
    const touched = new Set(
      blocks.flatMap(({ deltas }) =>
        [...(deltas.get(drifting)?.keys() ?? [])].map((account) => `0x${account}`),
      ),
    );
    const expected = modelTokens.map((token) =>
      holdersOf(truth, token).filter(({ account }) => token !== drifting || touched.has(account)),
    );
    let lists: Holder[][] = [];
    await eventually(async () => {
      lists = await Promise.all(modelTokens.map((token) => running.holders(`0x${token}`)));
      return JSON.stringify(lists) === JSON.stringify(expected);
    }, 'every balance to equal the node').catch(() => assert.deepEqual(lists, expected));
    // The list shows what is being written a moment before it counts.
    await eventually(
      async () => (await counted(running.metrics.healedBalances)) > 0,
      'a count of corrections',
    );
    assert.ok((await counted(running.metrics.comparedBalances)) > 0);
    const request = { denom: 'uAAA', from_height: 0, to_height: 0 };
    const changes = await collect(stream(running.client).streamChanges(request), (some) => some.changes);
    assert.ok(changes.length > 0);
    assert.ok(changes.every((change) => !change.is_heal));
  });

  it('believes no answer that is given once only', async () => {
    const blocks = modelBlocks(14, 20);
    const running = await start(blocks);
    await running.reaches(20);
    const before = await Promise.all(denoms.slice(0, 2).map((denom) => running.holders(denom)));
    await running.stop();
    // The same with a node that lies about the first answers of comparing.
    const lied = await start(blocks, { env: { RECONCILE_INTERVAL_MS: '50' } });
    lied.node.troubles({ lies: 15 });
    await lied.reaches(20);
    await eventually(
      async () => (await counted(lied.metrics.comparedBalances)) >= 20,
      'balances to be compared',
    );
    assert.deepEqual(await Promise.all(denoms.slice(0, 2).map((denom) => lied.holders(denom))), before);
  });

  it('is not stopped by contracts that do not answer, by odd logs, or by small batches', async () => {
    const odd = [
      'no JSON',
      '{"address":"0x1","topics":["0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef","0x0","0x0"],"data":"0x"}',
      `{"address":"0x${bank}","topics":["0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef","0x${'f'.repeat(64)}","0x${'1'.padStart(64, '0')}"],"data":"0x01"}`,
      `{"address":null,"topics":{},"data":"ddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"}`,
    ];
    const blocks = modelBlocks(15, 25);
    const running = await start(blocks, {
      env: { RECONCILE_INTERVAL_MS: '50', BALANCE_BATCH: '50' },
      extra: (height) => (height % 5 === 0 ? odd : []),
    });
    running.node.troubles({ largest_batch: 3, reverting: [drifting] });
    await running.reaches(25);
    await eventually(
      async () => (await counted(running.metrics.comparedBalances)) >= 10,
      'balances to be compared',
    );
    await expectLists(running, summed(blocks), [bank, ibc]);
    const problems = (await running.metrics.problems.get()).values;
    assert.ok(problems.some(({ labels, value }) => labels.kind === 'log' && value > 0));
    assert.ok(problems.some(({ labels, value }) => labels.kind === 'balance' && value > 0));
  });

  thoroughIt(
    'compares the balances of the others beside contracts that keep the node from answering',
    async () => {
      const blocks = modelBlocks(20, 25);
      const running = await start(blocks, { env: { RECONCILE_INTERVAL_MS: '50' } });
      running.node.troubles({ endless: [drifting], lying: [bank] });
      await running.reaches(25);
      const { truth } = blocks.at(-1) as ModelBlock;
      await eventually(
        async () =>
          JSON.stringify(await running.holders(`0x${custom}`)) === JSON.stringify(holdersOf(truth, custom)),
        'the third token to equal the node',
        30_000,
      );
    },
  );

  thoroughIt('gets through a node of which one answer in three fails', async () => {
    const blocks = modelBlocks(16, 20);
    const running = await start([], { env: { RECONCILE_INTERVAL_MS: '50' } });
    running.node.troubles({ fail_one_in: 3 });
    running.grow(blocks);
    await running.reaches(20);
    await expectLists(running, summed(blocks), [bank, ibc]);
  });

  thoroughIt('unwinds a rollback to what an undisturbed run has', async () => {
    const blocks = modelBlocks(17, 30);
    const running = await start(blocks);
    await running.reaches(30);
    const fork = modelBlocks(99, 25, blocks.slice(0, 14)).slice(14);
    running.cutTo(14);
    running.grow(fork.map((block) => ({ ...block, hash: `Y${block.hash}` })));
    await running.reaches(39);
    await expectLists(running, summed(blocks), [bank, ibc]);
    // Down to below the state that it began with: from the beginning.
    running.cutTo(0);
    running.grow(modelBlocks(77, 50).map((block) => ({ ...block, hash: `Z${block.hash}` })));
    await running.reaches(50);
    await expectLists(running, summed(blocks), [bank, ibc]);
  });

  it('learns denoms later from a node that did not tell them at first', async () => {
    const blocks = modelBlocks(18, 20);
    const running = await start([], { env: { RECONCILE_INTERVAL_MS: '50' } });
    running.node.troubles({ nameless: true });
    running.grow(blocks);
    await running.reaches(20);
    running.node.troubles({});
    const name = `evm/${custom.toUpperCase()}`;
    await eventually(async () => (await running.holders(name)) !== undefined, 'the denom');
    for (const spelling of ['uaaa', 'UAAA', 'IBC/b0b'])
      assert.ok((await running.holders(spelling)).length > 0);
    await assert.rejects(running.holders('uaa'), { code: status.NOT_FOUND });
  });

  it('streams all holders at any height', async () => {
    const blocks = modelBlocks(19, 30);
    const running = await start(blocks);
    await running.reaches(30);
    for (const height of [1, 7, 30]) {
      const held = stream(running.client).streamHolders({ denom: 'uAAA', height });
      const found = await collect(held, ({ holders }) => holders);
      const expected = holdersOf(summed(blocks.slice(0, height)), bank);
      assert.deepEqual(
        found,
        expected.sort((a, b) => (a.account < b.account ? -1 : 1)),
        String(height),
      );
    }
  });

  it('says so on a rollup without EVM', async () => {
    const running = await start([], { env: { VM_TYPE: 'move' } });
    await assert.rejects(running.holders('uinit'), { code: status.UNIMPLEMENTED });
    await eventually(() => running.process.readiness().ready, 'the service to be ready');
  });
});
