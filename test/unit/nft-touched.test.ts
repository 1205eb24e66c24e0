import assert from 'node:assert/strict';
import type { NftBlock } from '../../services/nft/decode/types.js';
import { knowNothing } from '../../services/nft/store/known.js';
import { countsTouchedBy } from '../../services/nft/store/touched.js';

const [collection, object, minter, receiver] = ['c', 'd', '1', '2'].map((digit) =>
  digit.repeat(digit < 'a' ? 40 : 64),
) as [string, string, string, string];
const tx = { hash: 'f'.repeat(64), signer: minter };

describe('the counts that blocks change', () => {
  it('are those of the receiver too when an object is moved by the block that made it', () => {
    const block: NftBlock = {
      height: 7,
      hash: 'A',
      parent_hash: 'B',
      timestamp: '2026-01-01T00:00:00Z',
      events: [
        { what: 'mint', token: { collection, token_id: 'x', object }, owner: minter, tx, index: 0 },
        { what: 'transfer', token: { object }, owner: receiver, tx, index: 1 },
      ],
      problems: [],
    };
    assert.deepEqual(
      [...countsTouchedBy([block], knowNothing()).keys()].sort(),
      [`/${collection}`, `${minter}/${collection}`, `${receiver}/${collection}`].sort(),
    );
  });

  it('leave out objects that are no tokens', () => {
    const block = { events: [{ what: 'transfer', token: { object }, owner: receiver, tx, index: 0 }] };
    assert.equal(countsTouchedBy([block as unknown as NftBlock], knowNothing()).size, 0);
  });
});
