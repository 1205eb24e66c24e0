import assert from 'node:assert/strict';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { events } from '../../services/scoring-operator/kubernetes/api.js';
import type { Controller } from '../../services/scoring-operator/operator/controller.js';
import { unseen } from '../../services/scoring-operator/operator/look.js';
import { createOperatorMetrics } from '../../services/scoring-operator/operator/metrics.js';
import { reconcile } from '../../services/scoring-operator/operator/reconcile.js';
import {
  drainFinalizer,
  type Job,
  labels,
  type ScoringProgram,
  type Status,
} from '../../services/scoring-operator/operator/resource.js';
import { sampleSpec } from '../support/kubernetes/programs.js';

const meta = { namespace: 'a', uid: 'u', resourceVersion: '1' };
const program = {
  apiVersion: 'v1',
  kind: 'ScoringProgram',
  metadata: { ...meta, name: 'p', generation: 1, finalizers: [drainFinalizer] },
  // Its ConfigMap is not there: nothing is applied.
  spec: { ...sampleSpec, policy: { configMapRef: { name: 'none', key: 'policy.yaml' } } },
} as unknown as ScoringProgram;
const job = {
  metadata: {
    ...meta,
    name: 'p-score-1',
    creationTimestamp: '2020-01-01T00:00:00Z',
    labels: { [labels.program]: 'p', [labels.phase]: 'score' },
  },
  status: { startTime: '2020-01-01T00:00:00Z' },
} as unknown as Job;

describe('a reconciliation of a program whose Job does not start', () => {
  /** Reconciles once; `list` is how the API server lists events. */
  async function reconciled(list: () => Promise<unknown>) {
    const metrics = createMetrics();
    const asked: unknown[] = [];
    const statuses: Status[] = [];
    const api = {
      list(resource: unknown) {
        asked.push(resource);
        return list();
      },
      get: async () => undefined,
      configMap: async () => undefined,
      async applyStatus(_: unknown, __: string, ___: string, { status }: { status: Status }) {
        statuses.push(status);
      },
    };
    const controller = {
      api,
      programs: { get: () => program },
      cronJobs: { items: () => [] },
      jobs: { items: () => [job] },
      observer: { watch: () => unseen, forget() {} },
      record: async () => {},
      metrics: createOperatorMetrics(metrics),
      log: createLog('silent'),
      counted: new Set<string>(),
      since: 0,
      pure: new Map<string, string>(),
    } as unknown as Controller;
    const again_ms = await reconcile(controller, 'a/p');
    assert.deepEqual(asked, [events]);
    assert.equal(statuses.length, 1);
    return { again_ms, status: statuses[0], shown: await metrics.registry.metrics() };
  }

  for (const problem of ['403 Forbidden: events.k8s.io', 'timed out'])
    it(`tells everything else when the events cannot be read: ${problem}`, async () => {
      const { again_ms, status, shown } = await reconciled(() => Promise.reject(new Error(problem)));
      assert.deepEqual(status?.score?.activeJobs, ['p-score-1']);
      assert.ok(status?.conditions?.some(({ type }) => type === 'Degraded'));
      assert.match(shown, /weft_vip_condition\{namespace="a",program="p",type="Ready"\}/);
      assert.equal(again_ms, 5_000, 'it is looked at again soon');
    });
});
