import assert from 'node:assert/strict';
import { type Kubectl, podOf, reachable, type Source, startStranger } from './connections.js';
import { weftImage } from './images.js';

/** A release with network policies, where they are enforced. */
export interface Subject {
  readonly kubectl: Kubectl;
  readonly namespace: string;
  /** Addresses of what pods ask outside the release, by what they are; they answer every pod without a policy. */
  readonly servers: Readonly<Record<string, string>>;
}

const readers = ['block', 'tx', 'nft', 'richlist'];
const consumers = ['tx-ingest', 'nft-ingest', 'richlist-ingest'];
const served = ['block:7001', 'tx:7002', 'nft:7003', 'richlist:7004'];
const chain = ['json-rpc', 'rest', 'rpc'];

/** What pods of each component reach. */
const needed: Readonly<Record<string, readonly string[]>> = {
  gateway: served,
  'block-ingest': ['clickhouse', ...chain],
  ...Object.fromEntries(consumers.map((name) => [name, ['block-ingest:7001', 'clickhouse', ...chain]])),
  ...Object.fromEntries(readers.map((name) => [name, ['clickhouse']])),
  'scoring-operator': ['api-server', 'clickhouse', 'contract', 'l1', ...served, ...chain],
};

/** What pods of other namespaces reach of the release, which lets the one call it and the other read metrics. */
const neededFar: Readonly<Record<string, readonly string[]>> = {
  visitors: ['gateway:8080'],
  monitoring: ['gateway:9090', 'scoring-operator:9090', 'tx:9090'],
};

/** Where something listens in pods of the release. */
const ports: Readonly<Record<string, readonly number[]>> = {
  gateway: [8080, 9090],
  'block-ingest': [7001],
  'tx-ingest': [7002],
  block: [7001],
  tx: [7002, 9090],
  nft: [7003],
  richlist: [7004],
  'scoring-operator': [9090],
};

/** Tries every connection between two components, and to what is outside. */
export function connectionSuite(open: () => Subject): void {
  it('lets pods reach what they need, and nothing else', async () => {
    const { kubectl, namespace, servers } = open();
    const inRelease: Record<string, string> = {};
    const sources = new Map<string, Source>();
    for (const name of Object.keys(needed)) {
      const pod = await podOf(kubectl, namespace, name);
      sources.set(name, pod);
      for (const port of ports[name] ?? []) inRelease[`${name}:${port}`] = `${pod.address}:${port}`;
    }
    const reached: Record<string, string[]> = {};
    for (const [name, source] of sources) {
      // No network is between a pod and itself.
      const others = Object.entries({ ...servers, ...inRelease }).filter(
        ([to]) => !to.startsWith(`${name}:`),
      );
      reached[name] = await reachable(kubectl, source, Object.fromEntries(others));
    }
    for (const name of Object.keys(neededFar)) {
      const stranger = await startStranger(kubectl, name, `${weftImage.repository}:${weftImage.tag}`);
      // Whoever has no policy does: so it was one that refused.
      assert.deepEqual(await reachable(kubectl, stranger, servers), Object.keys(servers).sort());
      reached[name] = await reachable(kubectl, stranger, inRelease);
    }
    const expected = Object.entries({ ...needed, ...neededFar }).map(([name, all]) => [
      name,
      [...all].sort(),
    ]);
    assert.deepEqual(reached, Object.fromEntries(expected));
  });
}
