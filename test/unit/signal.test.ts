import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { childOf, within } from '../../services/common/util/signal.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

describe('a child of a signal', () => {
  it('does not hold whoever has aborted it, however long the signals live', async () => {
    const parent = new AbortController();
    const signals: AbortSignal[] = [];
    const end = (): WeakRef<object> => {
      const child = childOf(parent.signal);
      signals.push(child.signal);
      const owner = { large: new Array(1_000).fill('tables'), end: () => child.abort() };
      const before = { owner, stop: () => owner.end() };
      before.stop();
      return new WeakRef(before);
    };
    const owners = Array.from({ length: 10 }, end);
    for (let left = 20; left > 0 && owners.some((owner) => owner.deref() !== undefined); left -= 1) {
      await sleep(10);
      collect();
    }
    assert.deepEqual(
      owners.filter((owner) => owner.deref() !== undefined),
      [],
    );
    assert.ok(signals.every(({ aborted, reason }) => aborted && reason.name === 'AbortError'));
  });

  it('is aborted with its parent, and its parent not with it', () => {
    const parent = new AbortController();
    const [first, second] = [childOf(parent.signal), childOf(parent.signal)];
    first.abort(new Error('enough'));
    assert.equal((first.signal.reason as Error).message, 'enough');
    assert.equal(parent.signal.aborted, false);
    parent.abort();
    assert.equal(second.signal.aborted, true);
    assert.equal(childOf(parent.signal).signal.aborted, true);
  });
});

describe('a signal that is aborted after a time', () => {
  it('is aborted then, though its parent never is and memory is collected meanwhile', async () => {
    const parent = new AbortController();
    let reason: unknown;
    const listen = (): void => {
      const signal = within(100, parent.signal);
      signal.addEventListener('abort', () => {
        reason = signal.reason;
      });
    };
    listen();
    for (let left = 20; left > 0 && reason === undefined; left -= 1) {
      collect();
      await sleep(50);
    }
    assert.equal((reason as Error | undefined)?.name, 'TimeoutError');
  });

  it('is aborted with its parent before, for its reason', () => {
    const parent = new AbortController();
    const signal = within(60_000, parent.signal);
    parent.abort(new Error('stop'));
    assert.equal((signal.reason as Error).message, 'stop');
  });
});
