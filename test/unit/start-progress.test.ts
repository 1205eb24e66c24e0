import assert from 'node:assert/strict';
import type { BlockServiceClient } from '../../services/common/gen/indexer/block/v1/block.js';
import type { TxServiceClient } from '../../services/common/gen/indexer/tx/v1/tx.js';
import { progressLine, showProgress } from '../../tools/start/progress.js';
import { eventually } from '../support/block.js';

describe('the line of progress', () => {
  const line = (seconds: number, from: number, to: number, target: number): string =>
    progressLine([
      { at: 0, height: from, target },
      { at: seconds * 1000, height: to, target },
    ]);

  it('gives the rate and the time left', () => {
    assert.equal(line(10, 0, 3_120, 20_000), 'indexing 3,120 of 20,000 blocks, 312 blocks/s, 55s left');
    assert.equal(line(10, 100, 145, 1_000), 'indexing 145 of 1,000 blocks, 4.5 blocks/s, 3m 10s left');
    assert.equal(line(1, 0, 10, 100_010), 'indexing 10 of 100,010 blocks, 10 blocks/s, 2h 46m left');
  });

  it('gives no time while there is no rate', () => {
    assert.equal(line(10, 5, 5, 1_000), 'indexing 5 of 1,000 blocks, 0.0 blocks/s');
    assert.equal(progressLine([{ at: 0, height: 1, target: 9 }]), 'indexing 1 of 9 blocks, 0.0 blocks/s');
    assert.equal(progressLine([]), '');
  });
});

describe('the progress that is shown', () => {
  /** Services that are as far as a test says. */
  function world(isTTY: boolean) {
    const state = { height: 0, tx_height: 0, node_height: 0, isUp: true };
    const client = (answer: () => object) => ({
      getStatus: (
        _request: object,
        _metadata: object,
        _options: object,
        done: (...args: unknown[]) => void,
      ) => setImmediate(() => (state.isUp ? done(null, answer()) : done({ code: 14, details: 'down' }))),
    });
    const block = client(() => ({ height: state.height, node_height: state.node_height }));
    const tx = client(() => ({ height: state.tx_height }));
    let text = '';
    const screen = {
      isTTY,
      write: (more: string) => {
        text += more;
      },
    };
    const controller = new AbortController();
    const running = showProgress(
      screen,
      block as unknown as BlockServiceClient,
      tx as unknown as TxServiceClient,
      controller.signal,
    );
    const shows = (part: string) => eventually(() => text.includes(part), JSON.stringify(part));
    const stop = (): Promise<void> => {
      controller.abort();
      return running;
    };
    return { state, shows, stop, text: () => text };
  }

  it('is a line that is written over on a terminal, until the slower service has caught up', async () => {
    const { state, shows, stop, text } = world(true);
    Object.assign(state, { height: 1_000, tx_height: 400, node_height: 1_000 });
    await shows('\r\x1b[Kindexing 400 of 1,000 blocks');
    state.tx_height = 1_000;
    await shows('\r\x1b[Kcaught up at block 1,000\n');
    state.node_height = 1_030;
    await shows('\r\x1b[Kindexing 1,000 of 1,030 blocks');
    await stop();
    assert.equal(text().split('\n').length, 2, 'one line is left');
  });

  it('is a line now and then elsewhere; a service that fails, or knows no tip, is waited for', async () => {
    const { state, shows, stop, text } = world(false);
    state.isUp = false;
    await new Promise((resolve) => setTimeout(resolve, 600));
    state.isUp = true;
    assert.equal(text(), '');
    Object.assign(state, { height: 10, tx_height: 10, node_height: 100 });
    await shows('indexing 10 of 100 blocks');
    Object.assign(state, { height: 100, tx_height: 100 });
    await shows('caught up at block 100\n');
    await stop();
    assert.doesNotMatch(text(), /\r/);
  });
});
