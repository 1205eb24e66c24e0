import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import type { Call } from '../../services/common/clickhouse/database.js';
import { createWriter, type Reindexer } from '../../services/common/reindex/writer.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { createMutex } from '../../services/common/util/concurrency.js';

describe('a mutex', () => {
  it('gives turns in the order of asking, to those who are patient last, and to nobody who has left', async () => {
    const mutex = createMutex();
    const log: string[] = [];
    const work = (name: string) => async () => void log.push(name);
    let isWanted = true;
    let end = (): void => {};
    const first = mutex(() => new Promise<void>((resolve) => (end = resolve)));
    assert.equal(log.length, 0);
    const left = Array.from({ length: 1_000 }, () => mutex(work('left'), { isWanted: () => isWanted }));
    const others = [
      mutex(work('patient'), { isPatient: true }),
      mutex(work('second')),
      mutex(async () => Promise.reject(new Error('no'))),
      mutex(work('third'), { isWanted: () => true }),
    ];
    const outcomes = Promise.allSettled([first, ...left, ...others]);
    await new Promise((resolve) => setImmediate(resolve));
    isWanted = false;
    end();
    const rejected = (await outcomes).filter((outcome) => outcome.status === 'rejected');
    assert.equal(rejected.length, 1_001);
    assert.deepEqual(log, ['second', 'third', 'patient']);
  });

  it('begins after the caller has gone on', async () => {
    let hasBegun = false;
    const turn = createMutex()(async () => {
      hasBegun = true;
    });
    assert.equal(hasBegun, false);
    await turn;
  });
});

describe('comparing views', () => {
  const metrics = createMetrics();

  /** A writer whose views have parts without end. */
  function start(): {
    reindexer: Reindexer;
    mutex: ReturnType<typeof createMutex>;
    parts(): number;
    stop(): void;
  } {
    const mutex = createMutex();
    const stopping = new AbortController();
    let parts = 0;
    const store = {
      async *compareViews({ isWanted }: Call) {
        for (;;) yield await mutex(async () => ({ table: `part ${++parts}`, differences: [] }), { isWanted });
      },
    };
    const reindexer = createWriter({
      service: { name: 'tx' },
      fence: { over: () => ({}), notReadyReason: '' },
      inUse: { running: {}, current: () => ({ store }) },
      signal: stopping.signal,
      log: createLog('silent'),
      metrics,
    } as never);
    return { reindexer, mutex, parts: () => parts, stop: () => stopping.abort() };
  }

  const begin = (reindexer: Reindexer, signal = new AbortController().signal) =>
    reindexer.compareViews(signal)[Symbol.asyncIterator]();

  it('is done for one caller at a time, and the others hear it at once', async () => {
    const { reindexer, mutex } = start();
    const one = begin(reindexer);
    assert.equal((await one.next()).value?.table, 'part 1');
    // Also while the writer writes.
    let end = (): void => {};
    const write = mutex(() => new Promise<void>((resolve) => (end = resolve)));
    await assert.rejects(begin(reindexer).next(), {
      code: status.RESOURCE_EXHAUSTED,
      message: 'the views of the tx service are being compared already',
    });
    assert.match(
      await metrics.registry.metrics(),
      /limit_reached_total{service="tx",limit="CompareViews"} 1\n/,
    );
    end();
    await write;
    await one.return?.();
    assert.equal((await begin(reindexer).next()).done, false);
  });

  it('ends with the caller', async () => {
    const { reindexer, mutex, parts } = start();
    const caller = new AbortController();
    const one = begin(reindexer, caller.signal);
    await one.next();
    let end = (): void => {};
    const held = mutex(() => new Promise<void>((resolve) => (end = resolve)));
    const next = one.next();
    await new Promise((resolve) => setImmediate(resolve));
    caller.abort();
    end();
    await held;
    await assert.rejects(next, { code: status.CANCELLED });
    assert.equal(parts(), 1);
    assert.equal((await begin(reindexer).next()).done, false);
  });

  it('tells the caller when the service stops, as what was compared is not all', async () => {
    const { reindexer, stop } = start();
    const one = begin(reindexer);
    await one.next();
    stop();
    await assert.rejects(one.next(), { code: status.UNAVAILABLE });
  });
});
