import assert from 'node:assert/strict';
import { type ChildEvent, waitingJobs, whyWaiting } from '../../services/scoring-operator/operator/jobs.js';
import type { Job } from '../../services/scoring-operator/operator/resource.js';

const at = (second: number): string => new Date(1_000_000_000_000 + second * 1_000).toISOString();
const ms = (second: number): number => Date.parse(at(second));
const job = (name: string, status: Job['status'] = { startTime: at(0) }): Job => ({
  metadata: { name, namespace: 'a', uid: name, resourceVersion: '1', creationTimestamp: at(0) },
  status: status as NonNullable<Job['status']>,
});
const event = (name: string, note: string, more: Partial<ChildEvent> = {}): ChildEvent => ({
  metadata: { creationTimestamp: at(5) },
  type: 'Warning',
  reason: 'FailedMount',
  note,
  regarding: { kind: 'Pod', name },
  ...more,
});

describe('a Job that does not start', () => {
  it('is one that runs on paper, has had the time, and has no pod that runs', () => {
    const ended = { startTime: at(0), conditions: [{ type: 'Failed', status: 'True' }] };
    const all = [
      job('a'),
      job('b', { startTime: at(0), ready: 1 }),
      job('c', ended),
      job('d', { startTime: at(30) }),
    ];
    const names = (now: number): string[] => waitingJobs(all, ms(now)).map(({ metadata }) => metadata.name);
    assert.deepEqual(names(9), []);
    assert.deepEqual(names(20), ['a']);
    assert.deepEqual(names(40), ['a', 'd']);
  });

  it('is explained by the newest warning about it or its pods', () => {
    const told = whyWaiting(
      'score',
      [job('p-score-1')],
      [
        event('p-score-1-xyz', 'older', { deprecatedLastTimestamp: at(6) }),
        event('p-score-1-xyz', 'newest', { reason: 'Failed', series: { lastObservedTime: at(9) } }),
        event('p-score-12-xyz', 'of another Job', { eventTime: at(20) }),
        event('p-score-1-xyz', 'no warning', { type: 'Normal', eventTime: at(21) }),
        event('p-score-1', 'of something else', { regarding: { kind: 'Node', name: 'p-score-1' } }),
      ],
    );
    assert.deepEqual(told, {
      reason: 'JobNotStarting',
      message: 'the score Job p-score-1-xyz does not start: Failed: newest',
    });
  });

  it('is not explained by what was said of an earlier one of its name, nor by nothing', () => {
    const old = event('p-1', 'quota', {
      metadata: { creationTimestamp: at(-60) },
      regarding: { kind: 'Job', name: 'p-1' },
    });
    assert.equal(whyWaiting('score', [job('p-1')], [old]), undefined);
    assert.equal(whyWaiting('score', [job('p-1')], []), undefined);
    const now = { ...old, metadata: { creationTimestamp: at(1) } };
    assert.equal(whyWaiting('score', [job('p-1')], [now])?.reason, 'JobNotStarting');
  });

  it('says when a Secret, or a key of it, is what it lacks', () => {
    const reason = (note: string) => whyWaiting('finalize', [job('p-1')], [event('p-1-x', note)])?.reason;
    for (const note of [
      'MountVolume.SetUp failed for volume "signer" : references non-existent secret key: privateKey',
      'MountVolume.SetUp failed for volume "signer" : secret "signer" not found',
      "Error: couldn't find key url in Secret a/clickhouse",
      'Error: secret "clickhouse" not found',
    ])
      assert.equal(reason(note), 'SecretMissing', note);
    for (const note of [
      'Failed to pull image "weft:1"',
      'MountVolume.SetUp failed for volume "policy" : configmap "policy" not found',
    ])
      assert.equal(reason(note), 'JobNotStarting', note);
  });
});
