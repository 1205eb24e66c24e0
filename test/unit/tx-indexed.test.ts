import assert from 'node:assert/strict';
import { indexed } from '../../services/tx/read/reader.js';
import { createHead, nothing } from '../../services/tx/store/cursor.js';

const signal = new AbortController().signal;

describe('a call for txs that another service has already', () => {
  it('goes on at once when their block is there', async () => {
    const head = createHead();
    head.advance({ ...nothing, height: 5, hash: 'A' });
    await indexed(head, 5, { deadline: undefined, signal });
  });

  it('waits until their block comes', async () => {
    const head = createHead();
    setTimeout(() => head.advance({ ...nothing, height: 4, hash: 'A' }), 10);
    setTimeout(() => head.advance({ ...nothing, height: 5, hash: 'B' }), 30);
    await indexed(head, 5, { deadline: undefined, signal });
    assert.equal(head.position.height, 5);
  });

  it('is refused when it does not come in time, with time left to say so', async () => {
    const refused = assert.rejects(
      indexed(createHead(), 5, { deadline: Date.now() + 600, signal }),
      /block 5 is not indexed yet/,
    );
    // Timers run in the order of their times, however late.
    const late = new Promise((resolve) => setTimeout(resolve, 600, 'late'));
    assert.equal(await Promise.race([refused, late]), undefined);
  });
});
