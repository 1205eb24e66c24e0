import assert from 'node:assert/strict';
import { type Endpoints, NodeError } from '../../services/common/chain/endpoints.js';
import { denomOf } from '../../services/richlist/ingest/names.js';
import { contractInDenom } from '../../services/richlist/node/denoms.js';
import { readBalances } from '../../services/richlist/node/erc20.js';
import { addressOf, pagesOf } from '../../services/richlist/node/state.js';

const word = (hex: string): string => `0x${hex.padStart(64, '0')}`;
const failsWith = (reason: string) => (error: unknown) =>
  error instanceof NodeError && error.reason === reason;

describe('answers to questions for balances', () => {
  const read = (count: number, answers: unknown) => readBalances(count, 200, JSON.stringify(answers));

  it('are put into the order of the questions', () => {
    const answers = [
      { id: 1, result: word('ff') },
      { id: 0, result: word('f'.repeat(64)) },
    ];
    assert.deepEqual(read(2, answers), [2n ** 256n - 1n, 255n]);
  });

  it('tell a contract that does not answer from a node that does not have the state', () => {
    const answers = [
      { id: 0, result: '0x' },
      { id: 1, result: '0x05' },
      { id: 2, error: { code: 3, message: 'execution reverted' } },
      { id: 3, error: { code: -32000, message: 'failed to load state at height 3; version does not exist' } },
      { id: 4, error: { code: -32000, message: 'requested height is greater than the latest block height' } },
      { id: 5, result: `${word('1')}00` },
      // A contract that reverts with such words is a contract all the same.
      { id: 6, error: { code: 3, message: 'execution reverted: pruned' } },
    ];
    assert.deepEqual(read(7, answers), [
      'unreadable',
      'unreadable',
      'unreadable',
      'gone',
      'gone',
      'unreadable',
      'unreadable',
    ]);
  });

  it('are refused unless each question has one', () => {
    assert.throws(() => read(2, [{ id: 0, result: word('1') }]), failsWith('incomplete'));
    assert.throws(() => read(1, [{ id: 0 }]), failsWith('incomplete'));
    assert.throws(() => read(1, [null]), failsWith('incomplete'));
    assert.throws(() => read(1, { error: { message: 'batch too large' } }), failsWith('error_answer'));
    assert.throws(() => readBalances(1, 502, '<html>'), failsWith('not_json'));
  });
});

describe('names of tokens and accounts', () => {
  it('a contract in a denom is found in any case', () => {
    const hex = 'e7f1725E7734CE288F8367e1Bb143E90bb3F0512';
    assert.equal(contractInDenom(`EVM/${hex.toUpperCase()}`), hex.toLowerCase());
    for (const other of ['evm/', `evm/${hex}0`, `evm/0x${hex}`, `l2/${hex}`, 'GAS', ''])
      assert.equal(contractInDenom(other), undefined);
  });

  it('a contract that the bank does not know has the denom that it would have', () => {
    assert.equal(
      denomOf('e7f1725e7734ce288f8367e1bb143e90bb3f0512'),
      'evm/e7f1725E7734CE288F8367e1Bb143E90bb3F0512',
    );
  });

  it('accounts of every kind have an address', () => {
    assert.equal(addressOf({ address: 'init1a' }), 'init1a');
    assert.equal(addressOf({ base_account: { address: 'init1b' } }), 'init1b');
    assert.equal(addressOf({ base_vesting_account: { base_account: { address: 'init1c' } } }), 'init1c');
    assert.equal(addressOf({}), undefined);
    assert.equal(addressOf(null), undefined);
  });
});

describe('lists of the node', () => {
  /** A node whose pages have these keys of the next one. */
  const rest = (nextKey: (page: number) => string): { rest: Endpoints; asked: () => number } => {
    let asked = 0;
    const ask: Endpoints['ask'] = async (_, read) => {
      asked += 1;
      return read(200, JSON.stringify({ items: [asked], pagination: { next_key: nextKey(asked) } }));
    };
    return { rest: { api: 'rest', urls: [], ask, close: async () => {} }, asked: () => asked };
  };
  const readAll = async ({ rest: node }: { rest: Endpoints }): Promise<number[]> => {
    const all: number[] = [];
    for await (const page of pagesOf<number>(node, '/list', 'items', 1, new AbortController().signal))
      all.push(...page);
    return all;
  };

  it('are read to their end', async () => {
    const node = rest((page) => (page < 200 ? `key ${page}` : ''));
    assert.equal((await readAll(node)).length, 200);
  });

  it('that come round again are an error, however long the circle', async () => {
    for (const [before, circle] of [
      [0, 1],
      [3, 2],
      [10, 70],
    ] as const) {
      const node = rest((page) => `key ${page <= before ? -page : (page - before) % circle}`);
      await assert.rejects(readAll(node), /no end/);
      assert.ok(node.asked() < 5 * (before + circle) + 5, `${node.asked()} pages`);
    }
  });
});
