import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../../services/common/clickhouse/database.js';
import { startReplayNode } from '../../tools/replay/node.js';
import {
  lease_ms,
  startWriterWorld,
  type WriterProcess,
  type WriterWorld,
  writing,
} from '../support/attack/writers.js';
import { eventually } from '../support/block.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { readFacts } from '../support/facts.js';
import { randomFrom } from '../support/random.js';
import { type Stack, startStack } from '../support/stack.js';
import { tableDigests } from '../support/table-digests.js';

describe('two writers of the same tables', function () {
  this.timeout(400_000);
  const { contracts, holders } = readFacts('evm');
  /** As much of the chain as has something of everything in it. */
  const tip = 100;
  const clean = uniquePrefix();
  let database: Database;
  let expected: Record<string, string>;
  let answers: unknown[];

  /** What users ask, of every service. */
  const paths = [
    ...['/status', '/indexer/block/v1/blocks?pagination.limit=1000', '/indexer/block/v1/avg_blocktime'],
    ...['txs', 'evm-txs', 'evm-internal-txs'].map((list) => `/indexer/tx/v1/${list}?pagination.limit=1000`),
    ...Object.keys(holders ?? {}).map(
      (denom) => `/indexer/richlist/v1/${encodeURIComponent(denom)}?pagination.limit=1000`,
    ),
    ...Object.values(holders ?? {})
      .flatMap((list) => list.slice(0, 3))
      .flatMap(({ account }) => [
        `/indexer/tx/v1/txs/by_account/${account}?pagination.limit=1000`,
        `/indexer/nft/v1/tokens/by_account/${account}?pagination.limit=1000`,
      ]),
    ...['/indexer/nft/v1/collections?pagination.limit=1000'],
    ...Object.values((contracts ?? {}) as Record<string, string>).map(
      (contract) => `/indexer/nft/v1/tokens/by_collection/${contract}?pagination.limit=1000`,
    ),
  ];

  const ask = async (stack: Stack): Promise<unknown[]> =>
    Promise.all(
      paths.map(async (path) => {
        const response = await fetch(stack.url + path);
        return [path, response.status, await response.json()];
      }),
    );

  before(async () => {
    database = await testDatabase();
    const node = await startReplayNode({ recording: 'evm', tip });
    const stack = await startStack(node, { env: { CLICKHOUSE_DATABASE: clean } });
    await stack.reaches(tip, true);
    await stack.knowsNfts(tip);
    answers = await ask(stack);
    await stack.stop();
    await node.close();
    expected = await tableDigests(database, clean);
  });

  /** Compares every table with those of the clean index, and the API with its answers. */
  async function isExact({ prefix }: WriterWorld): Promise<void> {
    assert.deepEqual(await tableDigests(database, prefix), expected);
    const node = await startReplayNode({ recording: 'evm', tip });
    const stack = await startStack(node, { env: { CLICKHOUSE_DATABASE: prefix, ROLE: 'serve' } });
    try {
      await stack.reaches(tip, true);
      assert.deepEqual(await ask(stack), answers);
    } finally {
      await stack.stop();
      await node.close();
    }
  }

  /** Runs a scenario while the chain grows, and judges what is left. */
  async function scenario(act: (world: WriterWorld) => Promise<void>): Promise<void> {
    const world = await startWriterWorld(database, tip, 60);
    try {
      await act(world);
      await world.isComplete();
    } catch (error) {
      console.error(world.said());
      await world.stop();
      throw error;
    }
    for (const code of await world.stop()) assert.equal(code, 0, 'what still ran ends with 0');
    await isExact(world);
  }

  /** Resolves when each service has written some of the chain, and more than it had. */
  async function isUnderWay(world: WriterWorld, more = 10): Promise<void> {
    const before = await Promise.all(writing.map(world.height));
    for (const [index, service] of writing.entries()) {
      const wanted = Math.min(tip, (before[index] as number) + more);
      await eventually(async () => (await world.height(service)) >= wanted, `more of ${service}`, 90_000);
    }
  }

  const each = <T>(writers: Readonly<Record<string, T>>, act: (writer: T) => void): void =>
    Object.values(writers).forEach(act);
  /** Resolves when a process writes, or waits until it may. */
  const isUp = ({ said, service }: WriterProcess): Promise<void> =>
    eventually(() => /writes the tables/.test(said()), `${service} to be up`, 60_000);
  const end = ({ child }: WriterProcess): boolean => child.kill('SIGTERM');

  it('do no harm when the next one starts at the moment in which the one before is told to end', () =>
    scenario(async (world) => {
      const first = world.startAll();
      await isUnderWay(world);
      each(first, end);
      world.startAll();
      for (const { ended } of Object.values(first)) assert.equal(await ended, 0);
    }));

  it('do no harm when it starts a while after, three times in a row', () =>
    scenario(async (world) => {
      let writers = world.startAll();
      await isUnderWay(world);
      for (let handOver = 0; handOver < 3; handOver++) {
        const before = writers;
        await Promise.all(Object.values(before).map(isUp));
        each(before, end);
        await sleep(1_500);
        writers = world.startAll();
        for (const { ended } of Object.values(before)) assert.equal(await ended, 0);
      }
    }));

  it('do no harm when the first is frozen for longer than the lease, and wakes up', () =>
    scenario(async (world) => {
      const first = world.startAll();
      await isUnderWay(world);
      each(first, ({ child }) => child.kill('SIGSTOP'));
      const second = world.startAll();
      for (const { service, said } of Object.values(second))
        await eventually(
          () => said().includes('this process writes'),
          `${service} to be taken over`,
          20 * lease_ms,
        );
      await isUnderWay(world, 2);
      each(first, ({ child }) => child.kill('SIGCONT'));
      for (const { ended, said } of Object.values(first)) {
        assert.equal(await ended, 75);
        assert.match(said(), /another process writes the tables of the \w+ service by now/);
      }
    }));

  it('do no harm when the first is killed', () =>
    scenario(async (world) => {
      const first = world.startAll();
      await isUnderWay(world);
      each(first, ({ child }) => child.kill('SIGKILL'));
      world.startAll();
    }));

  it('do no harm to themselves when statements reach the server long after they were given up', () =>
    scenario(async (world) => {
      const { proxy } = world;
      const writers = world.startAll();
      await isUnderWay(world);
      const random = randomFrom(7);
      const late = { insert: 0, delete: 0 };
      proxy.meddle = ({ kind, table }) => {
        // Signs of life count less than rows, and removals are rare: they come after a failure.
        const isSign = table === 'writers';
        if (late.insert + late.delete >= 12 || !random.oneIn(isSign ? 12 : kind === 'delete' ? 2 : 6))
          return undefined;
        if (!isSign) late[kind] += 1;
        return { late: lease_ms / 2 + random.integer(2 * lease_ms) };
      };
      await world.isComplete();
      proxy.meddle = undefined;
      await proxy.settled();
      assert.ok(late.insert >= 4, JSON.stringify(late));
      for (const { service, said } of Object.values(writers))
        assert.doesNotMatch(said(), /TypeError/, service);
    }));

  it('do no harm when three start at once: one writes, and the others wait', () =>
    scenario(async (world) => {
      const all = [world.startAll(), world.startAll(), world.startAll()];
      await isUnderWay(world);
      for (const service of writing) {
        const group = all.map((writers) => writers[service]);
        // On a busy machine one may have been silent for the lease, and ends.
        const hasLost = ({ said }: (typeof group)[number]): boolean => /another process writes/.test(said());
        const leading = group.filter((one) => one.said().includes('this process writes') && !hasLost(one));
        assert.equal(leading.length, 1, service);
        for (const one of group) if (!hasLost(one)) assert.equal(one.child.exitCode, null, service);
        leading[0]?.child.kill('SIGKILL');
      }
    }));
});
