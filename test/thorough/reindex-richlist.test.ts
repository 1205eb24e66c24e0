import assert from 'node:assert/strict';
import type { Change, Holder } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import { verifyViews } from '../../tools/verify/views.js';
import { eventually } from '../support/block.js';
import { execute, testDatabase, uniquePrefix } from '../support/database.js';
import { holdAt } from '../support/gate.js';
import { connectReindex, generationsOf } from '../support/reindex.js';
import { type ModelBlock, modelBlocks, modelTokens } from '../support/richlist-model.js';
import { startTestService, type TestService } from '../support/richlist-service.js';
import { ask, collect, stream } from '../support/rpc.js';
import { endsAfterEach } from '../support/suite.js';
import { createScreen } from '../support/views.js';

describe('rebuilding the tables of the richlist service', () => {
  const endLater = endsAfterEach();

  interface Subject extends TestService, Pick<ReturnType<typeof connectReindex>, 'rebuild'> {
    /** The database of the first generation. */
    readonly name: string;
  }

  async function start(
    blocks: ModelBlock[],
    given: { env?: Record<string, string>; fault?: (point: string) => void | Promise<void> } = {},
  ): Promise<Subject> {
    const prefix = uniquePrefix();
    const service = await startTestService(blocks, {
      env: {
        CLICKHOUSE_DATABASE: prefix,
        REINDEX_KEEP_MS: '0',
        REINDEX_PERCENT: '100',
        ...given.env,
      },
      ...(given.fault === undefined ? {} : { fault: given.fault }),
    });
    const { rebuild, close } = connectReindex(service.process.address);
    endLater(() => {
      close();
      return service.stop();
    });
    await service.reaches(blocks.length);
    return { ...service, rebuild, name: `${prefix}_richlist` };
  }

  /** Every list, and every balance that there ever was. */
  async function everything({ client, holders }: TestService): Promise<unknown[]> {
    const all: unknown[] = [];
    for (const token of modelTokens) {
      const denom = `0x${token}`;
      const list: Holder[] = await holders(denom);
      const request = { denom, from_height: 0, to_height: 0 };
      const changes = await collect(stream(client).streamChanges(request), (some) => some.changes);
      all.push(list, changes);
    }
    return all;
  }

  it('heals every list, again and again, where the node has pruned all of it', async () => {
    const blocks = modelBlocks(31, 30);
    const running = await start(blocks, {
      env: { RECONCILE_INTERVAL_MS: '50', RECONCILE_DRIFTING_MS: '100' },
    });
    const { name, rebuild, holders, node, metrics } = running;
    const database = await testDatabase();
    const healed = async (): Promise<number> =>
      (await metrics.healedBalances.get()).values.reduce((sum, { value }) => sum + value, 0);
    // Something was set right, and nothing is any more.
    let last = 0;
    await eventually(async () => {
      const before = last;
      last = await healed();
      await new Promise((resolve) => setTimeout(resolve, 400));
      return last > 0 && last === before;
    }, 'balances that are set right');
    const before = await everything(running);
    assert.ok(before.flat().some((each) => (each as Change).is_heal));

    /** What `weft verify --views` says, and its exit code. */
    const verified = async (): Promise<[printed: string, code: number]> => {
      const { screen, printed } = createScreen();
      const order = { service: 'richlist', address: running.process.address } as const;
      const code = await verifyViews([order], screen, new AbortController().signal);
      return [printed(), code];
    };
    const whole = 'richlist: account_balances, holder_list, holder_counts: no difference\n';
    assert.deepEqual(await verified(), [whole, 0]);
    for (const [table, condition] of [
      ['holder_list', 'cityHash64(account) % 2 = 0'],
      ['holder_counts', '1'],
      ['account_balances', 'cityHash64(account) % 3 = 0'],
    ])
      await execute(`DELETE FROM ${name}.${table} WHERE ${condition}`);
    assert.notDeepEqual(await everything(running).catch(() => undefined), before);
    const [told, code] = await verified();
    assert.equal(code, 1);
    for (const view of ['holder_list', 'holder_counts', 'account_balances'])
      assert.match(told, new RegExp(`^richlist\\.${view}: \\[.*\\] is missing$`, 'm'));
    assert.match(told, /differences: weft reindex richlist makes the tables again/);
    // Neither the state of the first block nor any other is there to be asked.
    node.troubles({ earliest_state: 1_000 });
    await rebuild();
    assert.deepEqual(await everything(running), before);
    assert.deepEqual(await verified(), [whole, 0]);
    await rebuild();
    assert.deepEqual(await everything(running), before);
    for (const denom of ['uAAA', 'ibc/B0B'])
      assert.ok((await holders(denom)).length > 0, `${denom} has its name`);
    node.troubles({});
    running.grow(modelBlocks(31, 34).slice(30));
    await running.reaches(34);
    await eventually(
      async () => (await generationsOf(database, name)).join() === `${name}_g3`,
      'the old tables to be removed',
    );
  });

  it('is unwound with the tables in use when the chain is rolled back meanwhile', async () => {
    const hold = holdAt('reindex prepared');
    endLater(hold.open);
    const blocks = modelBlocks(32, 30);
    const running = await start([...blocks], { fault: hold.fault });
    const rebuilding = running.rebuild();
    await eventually(hold.isReached, 'the tables');
    running.cutTo(12);
    running.grow(modelBlocks(99, 16, blocks.slice(0, 12)).slice(12));
    await running.reaches(28);
    hold.open();
    await rebuilding;
    await running.reaches(28);
    const rebuilt = await everything(running);
    await running.rebuild();
    assert.deepEqual(await everything(running), rebuilt);
    const { rich_list_height } = await ask(running.client).getStatus({});
    assert.equal(rich_list_height, 28);
  });
});
