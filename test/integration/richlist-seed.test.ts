import assert from 'node:assert/strict';
import { eventually } from '../support/block.js';
import { uniquePrefix } from '../support/database.js';
import { createGate } from '../support/gate.js';
import {
  holdersOf,
  type Ledger,
  type ModelBlock,
  modelAccounts,
  modelBlocks,
  modelTokens,
  summed,
} from '../support/richlist-model.js';
import { startTestService, type TestService } from '../support/richlist-service.js';
import { endsAfterEach } from '../support/suite.js';

const [bank, ibc] = modelTokens as [string, string];

describe('the state that the rich list begins with', function () {
  this.timeout(120_000);
  const endLater = endsAfterEach();
  const start = async (...args: Parameters<typeof startTestService>): Promise<TestService> => {
    const service = await startTestService(...args);
    return { ...service, stop: endLater(() => service.stop()) };
  };

  async function expectLists(running: TestService, ledger: Ledger): Promise<void> {
    for (const token of [bank, ibc])
      assert.deepEqual(await running.holders(`0x${token}`), holdersOf(ledger, token), token);
  }

  /** Accounts that hold something that the logs do not tell of. */
  const silent = (blocks: readonly ModelBlock[]): string[] =>
    modelAccounts.filter(
      (account) =>
        (blocks[0]?.truth.get(`${bank}${account}`) ?? 0n) > 0n ||
        (blocks[0]?.truth.get(`${ibc}${account}`) ?? 0n) > 0n,
    );

  it('has holders without an entry in the auth module', async () => {
    const blocks = modelBlocks(21, 3);
    const without_account = silent(blocks).slice(1, 4);
    assert.ok(without_account.length > 0);
    const service = await start(blocks, { troubles: { without_account } });
    await service.reaches(3);
    await expectLists(service, summed(blocks));
  });

  for (const owners of ['unimplemented', 'html'] as const)
    it(`is begun with all the same where the node does not know owners (${owners}), which is counted`, async () => {
      const blocks = modelBlocks(22, 3);
      const service = await start(blocks, { troubles: { owners } });
      await service.reaches(3);
      await expectLists(service, summed(blocks));
      const { values } = await service.metrics.problems.get();
      assert.ok(values.some(({ labels, value }) => labels.kind === 'holders_unknown' && value > 0));
    });

  it('shows that it is being read, and is read anew, exactly, after an end in the middle', async () => {
    const blocks = modelBlocks(23, 10);
    const env = { CLICKHOUSE_DATABASE: uniquePrefix(), SEED_CONCURRENCY: '1' };
    let writes = 0;
    const hold = createGate();
    const fault = async (point: string): Promise<void> => {
      if (!point.startsWith('richlist write')) return;
      writes += 1;
      // In the middle of the second part: the first is written.
      if (writes === 9) await hold.opened;
    };
    const first = await start(blocks, { env, fault });
    await eventually(async () => writes >= 9, 'the second part');
    const { ready, reason } = first.process.readiness();
    assert.equal(ready, false);
    assert.match(reason, /being read at height 1: \d+ accounts, \d+ balances so far/);
    const { values } = await first.metrics.seededBalances.get();
    assert.ok((values[0]?.value ?? 0) > 0);
    const stopping = first.stop();
    hold.open();
    await stopping;
    const service = await start(blocks, { env });
    await service.reaches(10);
    await expectLists(service, summed(blocks));
    assert.deepEqual(service.process.readiness(), { ready: true, reason: '' });
  });

  it('keeps the service from being ready, also while the node has given no balance yet', async () => {
    const blocks = modelBlocks(24, 3);
    const balances = createGate();
    const running = await start(blocks, { troubles: { hold_balances: balances.opened } });
    endLater(balances.open);
    await eventually(
      async () => running.process.readiness().reason.includes('being read at height 1: 0 accounts'),
      'the reason',
      20_000,
    );
    assert.equal(running.process.readiness().ready, false);
    balances.open();
    await running.reaches(3);
    assert.deepEqual(running.process.readiness(), { ready: true, reason: '' });
  });
});
