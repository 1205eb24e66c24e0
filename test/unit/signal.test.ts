import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { within } from '../../services/common/util/signal.js';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

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
