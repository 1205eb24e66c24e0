import assert from 'node:assert/strict';
import { sleep } from '../../services/common/runtime/lifecycle.js';
import { createLog } from '../../services/common/runtime/log.js';
import { ApiError } from '../../services/scoring-operator/kubernetes/api.js';
import {
  acquireLease,
  judge,
  type LeaseApi,
  type LeaseRecord,
} from '../../services/scoring-operator/kubernetes/lease.js';
import { createQueue } from '../../services/scoring-operator/kubernetes/queue.js';
import { toSeconds } from '../../services/scoring-operator/operator/setting-types.js';
import { eventually } from '../support/block.js';

const log = createLog('silent');
const times = { duration_ms: 200, renew_deadline_ms: 120, retry_ms: 20 };

/** An API server with one Lease, which can be away. */
function leaseServer() {
  let record: LeaseRecord | undefined;
  let version = 0;
  const state = { isAway: false, writes: 0 };
  const store = (body: unknown): LeaseRecord => {
    const { spec, metadata } = body as LeaseRecord;
    state.writes += 1;
    record = { metadata: { ...metadata, resourceVersion: String(++version) }, ...(spec && { spec }) };
    return record;
  };
  const here = async (): Promise<void> => {
    await sleep(1);
    if (state.isAway) throw new ApiError(0, 'connection refused');
  };
  const api = {
    async get() {
      await here();
      return record;
    },
    async create(_: unknown, __: string, body: unknown) {
      await here();
      if (record !== undefined) throw new ApiError(409, 'it exists');
      return store(body);
    },
    async replace(_: unknown, __: string, ___: string, body: unknown) {
      await here();
      const { resourceVersion } = (body as LeaseRecord).metadata;
      if (record?.metadata.resourceVersion !== resourceVersion) throw new ApiError(409, 'it has changed');
      return store(body);
    },
  } as unknown as LeaseApi;
  return { api, state, record: () => record };
}

describe('a Lease', () => {
  const place = { namespace: 'a', name: 'b' };
  const options = (api: LeaseApi, identity: string) => ({ api, ...place, identity, times, log });

  it('is judged by how long it has not changed, not by what time it says', () => {
    const spec = { holderIdentity: 'other', leaseDurationSeconds: 15, renewTime: '1999-01-01T00:00:00Z' };
    assert.equal(judge({ spec }, 'me', 14_999, 15_000), 'held');
    assert.equal(judge({ spec }, 'me', 15_000, 15_000), 'free');
    assert.equal(judge({ spec: { ...spec, holderIdentity: 'me' } }, 'me', 0, 15_000), 'mine');
    assert.equal(judge({ spec: { ...spec, holderIdentity: '' } }, 'me', 0, 15_000), 'free');
    assert.equal(judge({}, 'me', 0, 15_000), 'free');
  });

  it('is won by exactly one of several', async () => {
    for (let round = 0; round < 20; round++) {
      const { api } = leaseServer();
      const won = await Promise.all(['a', 'b', 'c', 'd'].map((who) => acquireLease(options(api, who), 0)));
      const held = won.filter((lease) => lease !== undefined);
      assert.equal(held.length, 1);
      await held[0]?.release();
    }
  });

  it('is kept by renewing it, and given back for the next', async () => {
    const { api, record } = leaseServer();
    // It may stand still for longer on a busy machine than it is otherwise held here.
    const held = { duration_ms: 1_000, renew_deadline_ms: 900, retry_ms: 20 };
    const first = await acquireLease({ ...options(api, 'first'), times: held });
    assert.equal(await acquireLease({ ...options(api, 'second'), times: held }, 1_300), undefined);
    assert.equal(first?.lost.aborted, false);
    await first?.release();
    const second = await acquireLease(options(api, 'second'), 100);
    assert.equal(record()?.spec?.holderIdentity, 'second');
    assert.equal(record()?.spec?.leaseTransitions, 1);
    await second?.release();
  });

  it('is lost before another can take it when it cannot be renewed', async () => {
    const { api, state } = leaseServer();
    const first = await acquireLease(options(api, 'first'));
    state.isAway = true;
    // Timers run in the order of their times, however late: no load of the machine changes that.
    await sleep(times.duration_ms + 50, first?.lost);
    assert.equal(first?.lost.aborted, true, 'it is still held');
    await first?.release();
  });

  it('is lost to one that took it over', async () => {
    const { api, record } = leaseServer();
    const first = await acquireLease(options(api, 'first'));
    await api.replace({} as never, 'a', 'b', {
      metadata: { name: 'b', resourceVersion: record()?.metadata.resourceVersion },
      spec: { holderIdentity: 'thief', leaseDurationSeconds: 1 },
    });
    await sleep(100);
    assert.equal(first?.lost.aborted, true);
    await first?.release();
    assert.equal(record()?.spec?.holderIdentity, 'thief');
  });

  it('survives an API server that is away for a moment', async () => {
    const { api, state } = leaseServer();
    const first = await acquireLease(options(api, 'first'));
    state.isAway = true;
    await sleep(60);
    state.isAway = false;
    await sleep(150);
    assert.equal(first?.lost.aborted, false);
    await first?.release();
  });
});

describe('the queue of reconciliations', () => {
  const settings = { least_ms: 10, retry_ms: { first: 20, last: 60 }, atOnce: 2, onFailure: () => {}, log };

  it('never works twice on a key at the same time, and once more when it is wanted meanwhile', async () => {
    let [running, most, count] = [0, 0, 0];
    const queue = createQueue({
      ...settings,
      async work() {
        running += 1;
        most = Math.max(most, running);
        count += 1;
        await sleep(30);
        running -= 1;
        return undefined;
      },
    });
    queue.add('a');
    await sleep(15);
    for (let index = 0; index < 10; index++) queue.add('a');
    await sleep(150);
    assert.deepEqual([most, count], [1, 2]);
    await queue.stop();
  });

  it('waits longer after each failure, and works on others meanwhile', async () => {
    const at: number[] = [];
    let others = 0;
    const queue = createQueue({
      ...settings,
      async work(key) {
        if (key === 'good') {
          others += 1;
          return 10;
        }
        at.push(Date.now());
        throw new Error('no');
      },
    });
    queue.add('bad');
    queue.add('good');
    await eventually(() => at.length > 4, 'the fifth failure');
    await queue.stop();
    const gaps = at.slice(1).map((time, index) => time - (at[index] as number));
    // At least so long, less a fifth and what clocks round; a busy machine may make any of them longer.
    for (const [index, least] of [15, 31, 47, 47].entries())
      assert.ok((gaps[index] as number) >= least, String(gaps));
    assert.ok(others > 5);
  });
});

describe('durations', () => {
  it('are read as Go writes them', () => {
    assert.deepEqual(['90s', '10m', '1h30m', '0s'].map(toSeconds), [90, 600, 5_400, 0]);
    for (const wrong of ['', '10', '-5m', '1.5h', 'soon']) assert.throws(() => toSeconds(wrong));
  });
});
