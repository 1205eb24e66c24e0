import assert from 'node:assert/strict';
import { createLog } from '../../services/common/runtime/log.js';
import { createKubeApi, leases } from '../../services/scoring-operator/kubernetes/api.js';
import {
  type Watched,
  watchNamespaces,
  watchObjects,
} from '../../services/scoring-operator/kubernetes/watch.js';
import { eventually } from '../support/block.js';
import { makeNamespace, type TestNamespace } from '../support/kubernetes/namespace.js';
import { type StallingProxy, startStallingProxy } from '../support/kubernetes/stalling-proxy.js';

interface Lease {
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
  readonly spec?: { readonly holderIdentity?: string };
}

/** Between two comparisons; short, so that a stall is noticed while a test waits. */
const relist_ms = 1_000;

describe('a watch', () => {
  let space: TestNamespace;
  let proxy: StallingProxy;
  let watched: Watched<Lease>;
  const told: string[] = [];
  const counted = { restarted: 0, stalled: 0 };

  const create = (name: string): Promise<Lease> =>
    space.api.create(leases, space.name, {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { name },
    });
  const remove = ({ metadata }: Lease) => space.api.remove(leases, space.name, metadata.name, metadata.uid);
  const names = (): string[] =>
    watched
      .items()
      .map(({ metadata }) => metadata.name)
      .sort();
  const toBe = (wanted: readonly string[], what: string): Promise<void> =>
    eventually(() => names().join() === wanted.join(), what, 30_000);

  before(async () => {
    space = await makeNamespace();
    proxy = await startStallingProxy(space.plane);
    watched = watchObjects<Lease>({
      config: proxy.config,
      api: createKubeApi(proxy.config),
      resource: leases,
      namespace: space.name,
      relist_ms,
      onChange: ({ metadata }) => told.push(metadata.name),
      log: createLog('silent'),
      counters: {
        restarted: () => {
          counted.restarted += 1;
        },
        stalled: () => {
          counted.stalled += 1;
        },
      },
    });
    await watched.synced;
  });
  after(async () => {
    await watched?.stop();
    await proxy?.close();
  });

  it('tells what is made, changed and removed', async () => {
    const [a, b] = [await create('a'), await create('b')];
    await toBe(['a', 'b'], 'both to be known');
    await remove(b);
    await toBe(['a'], 'one to go');
    await space.api.merge(leases, space.name, 'a', { spec: { holderIdentity: 'me' } });
    await eventually(() => watched.get(space.name, 'a')?.spec?.holderIdentity === 'me', 'the change');
    assert.notEqual(watched.get(space.name, 'a')?.metadata.resourceVersion, a.metadata.resourceVersion);
    assert.deepEqual(counted, { restarted: 0, stalled: 0 });
    assert.equal(proxy.watches, 1);
  });

  it('that has fallen silent is replaced once something new was not told', async () => {
    proxy.stall();
    await create('c');
    await toBe(['a', 'c'], 'what the watch has not told');
    assert.deepEqual(counted, { restarted: 0, stalled: 1 });
    assert.ok(told.includes('c'), 'it was told of');
    // The one that has taken over tells by itself, long before the next list.
    await create('d');
    await toBe(['a', 'c', 'd'], 'the next one');
    assert.equal(counted.stalled, 1);
  });

  it('that has fallen silent is replaced once something is gone, though nothing new came', async () => {
    proxy.stall();
    const gone = (await space.api.get<Lease>(leases, space.name, 'c')) as Lease;
    told.length = 0;
    await remove(gone);
    await toBe(['a', 'd'], 'what is gone to be forgotten');
    assert.equal(counted.stalled, 2);
    assert.ok(told.includes('c'), 'it was told of');
  });

  it('that is well is never taken for a silent one, however much goes on', async () => {
    const before = counted.stalled;
    for (let round = 0; round < 40; round++) {
      const one = await create(`busy-${round}`);
      if (round % 2 === 0) await remove(one);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await new Promise((resolve) => setTimeout(resolve, 7_000));
    assert.equal(counted.stalled, before);
    assert.equal(names().filter((name) => name.startsWith('busy-')).length, 20);
  });

  it('of several namespaces, or of all, is one', async () => {
    const [second, third] = [await makeNamespace(), await makeNamespace()];
    for (const one of [second, third])
      await space.api.create(leases, one.name, {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'far' },
      });
    const options = {
      config: space.plane.config(),
      api: space.api,
      resource: leases,
      relist_ms,
      onChange: () => {},
      log: createLog('silent'),
      counters: { restarted: () => {}, stalled: () => {} },
    };
    const two = watchNamespaces<Lease>([space.name, second.name], options);
    const all = watchNamespaces<Lease>([''], options);
    try {
      await Promise.all([two.synced, all.synced]);
      assert.equal(two.get(second.name, 'far')?.metadata.namespace, second.name);
      assert.equal(two.get(third.name, 'far'), undefined);
      assert.equal(two.get(space.name, 'a')?.metadata.name, 'a');
      for (const { name } of [second, third]) assert.equal(all.get(name, 'far')?.metadata.namespace, name);
      assert.ok(all.items().length > two.items().length);
    } finally {
      await two.stop();
      await all.stop();
    }
  });
});
