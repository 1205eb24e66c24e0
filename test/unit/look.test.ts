import assert from 'node:assert/strict';
import { createLook } from '../../services/common/consumer/look.js';

/** Tables with these blocks, and somebody who shows them. */
function world() {
  let blocks = ['a1', 'a2', 'a3'];
  let slow: Promise<void> | undefined;
  let shown = { height: 0, hash: '' };
  const told: string[] = [];
  const look = createLook({
    head: {
      get position() {
        return shown;
      },
      advance: (now) => {
        shown = now;
        told.push(`advance ${now.height}`);
      },
      cutTo: (now) => {
        shown = now;
        told.push(`cut ${now.height}`);
      },
      takeRepairs: () => {},
    },
    read: async () => {
      const now = { height: blocks.length, hash: blocks.at(-1) ?? '' };
      const wait = slow;
      slow = undefined;
      await wait;
      return { position: now, repairs: 0 };
    },
    hashes: async (from, to) =>
      blocks.slice(from - 1, to).map((hash, index) => ({ height: from + index, hash })),
  });
  return {
    look,
    told,
    shown: () => shown,
    set: (next: string[]) => {
      blocks = next;
    },
    hold: (until: Promise<void>) => {
      slow = until;
    },
  };
}

describe('looking at tables that another process writes', () => {
  it('tells more blocks from a rollback, also from one that has been overtaken', async () => {
    const { look, told, set } = world();
    await look();
    set(['a1', 'a2', 'a3', 'a4']);
    await look();
    set(['a1', 'a2']);
    await look();
    set(['a1', 'b2', 'b3', 'b4', 'b5']);
    await look();
    set([]);
    await look();
    assert.deepEqual(told, ['advance 3', 'advance 4', 'cut 2', 'cut 5', 'cut 0']);
  });

  it('never goes back when a slow look ends after a quick one', async () => {
    const { look, shown, set, hold } = world();
    let release = (): void => {};
    hold(
      new Promise((resolve) => {
        release = resolve;
      }),
    );
    const first = look();
    await new Promise((resolve) => setImmediate(resolve));
    set(['a1', 'a2', 'a3', 'a4']);
    const second = look();
    release();
    await Promise.all([first, second]);
    assert.equal(shown().height, 4);
  });
});
