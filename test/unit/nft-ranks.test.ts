import assert from 'node:assert/strict';
import type { ItemList } from '../../services/nft/read/items.js';
import { createRanks } from '../../services/nft/read/ranks.js';
import type { Reading } from '../../services/nft/read/reader.js';

const list = (scope: string): ItemList => ({ list: 'collection', scope, hidden: [] });
/** A stretch that begins at an id. */
const stretch = (id_key: string, n: number) => ({ height: 0, id_key, collection: 'c', n });

describe('the ranks of a list of tokens', () => {
  it('are counted once for a position, and again for what a rollback has come between', async () => {
    const head = { rollbacks: 0 };
    let counted = 0;
    let rolledBack = false;
    const database = {
      rows: async () => {
        counted += 1;
        // The chain is rolled back while the list is counted, and the same height comes again.
        if (rolledBack) head.rollbacks += 1;
        rolledBack = false;
        return [stretch('a', 500), stretch(`m${counted}`, 500)];
      },
    };
    const begin = () =>
      ({
        ...{ database, head, end: 100, rollbacks: head.rollbacks, call: {} },
        tables: { of: () => 't' },
      }) as unknown as Reading;
    const ranks = createRanks();
    const enter = async (scope = 'c', reading = begin()) =>
      (await ranks.enter(reading, list(scope), 700, false)).anchor?.[1];
    rolledBack = true;
    assert.equal(await enter(), 'm1');
    // What was counted then is of neither chain.
    assert.equal(await enter(), 'm2');
    assert.equal(await enter(), 'm2');
    assert.equal(counted, 2);
    // Begun before a rollback, counted after it.
    const early = begin();
    head.rollbacks += 1;
    assert.equal(await enter('d', early), 'm3');
    assert.equal(await enter('d'), 'm4');
    assert.equal(await enter('d'), 'm4');
    assert.equal(await enter(), 'm5', 'what was counted before a rollback counts no more');
  });
});
