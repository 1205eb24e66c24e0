import assert from 'node:assert/strict';
import type { BlockMaterial } from '../../services/common/gen/indexer/block/v1/block.js';
import { decodeBlock } from '../../services/richlist/decode/block.js';
import { addLog, type Deltas, transferTopic } from '../../services/richlist/decode/transfers.js';

const [a, b] = ['a'.repeat(40), 'b'.repeat(40)];
const token = 'c'.repeat(40);
const word = (hex: string): string => `0x${hex.padStart(64, '0')}`;
const transfer = (from: string, to: string, amount: bigint, more: object = {}) => ({
  address: `0x${token.toUpperCase()}`,
  topics: [`0x${transferTopic}`, word(from), word(to)],
  data: word(amount.toString(16)),
  ...more,
});

/** What logs move, and what is wrong with them. */
function added(...logs: object[]): [Record<string, bigint>, (string | undefined)[]] {
  const deltas: Deltas = new Map();
  const problems = logs.map((log) => addLog(deltas, log));
  return [Object.fromEntries(deltas.get(token) ?? []), problems];
}

describe('an ERC-20 transfer log', () => {
  const largest = 2n ** 256n - 1n;

  it('takes from one and gives to the other, up to uint256', () => {
    assert.deepEqual(added(transfer(a, b, 7n)), [{ [a]: -7n, [b]: 7n }, [undefined]]);
    assert.deepEqual(added(transfer(a, b, largest))[0], { [a]: -largest, [b]: largest });
  });

  it('mints from nobody and burns to nobody', () => {
    assert.deepEqual(added(transfer('', a, 5n), transfer(a, '', 2n))[0], { [a]: 3n });
  });

  it('to oneself moves nothing, and the holder counts as touched', () => {
    assert.deepEqual(added(transfer(a, a, 9n))[0], { [a]: 0n });
  });

  it('is told from an ERC-721 transfer and from other logs', () => {
    const four = transfer(a, b, 1n);
    four.topics.push(word('1'));
    const other = transfer(a, b, 1n, { topics: [word('1'), word(a), word(b)] });
    assert.deepEqual(added(four, other, {}), [{}, [undefined, undefined, undefined]]);
  });

  it('that cannot be read moves nothing and says why', () => {
    const wrong = [
      transfer(a, b, 1n, { address: '0x12' }),
      transfer(a, b, 1n, { topics: [`0x${transferTopic}`, `0x${'f'.repeat(64)}`, word(b)] }),
      transfer(a, b, 1n, { topics: [`0x${transferTopic}`, null, word(b)] }),
      transfer(a, b, 1n, { data: '0x' }),
      transfer(a, b, 1n, { data: 5 }),
    ];
    const [moved, problems] = added(...wrong);
    assert.deepEqual(moved, {});
    assert.ok(problems.every((problem) => typeof problem === 'string'));
  });

  it('with more data than an amount counts by its first word', () => {
    assert.deepEqual(added(transfer(a, b, 1n, { data: `${word('5')}ff` }))[0], { [a]: -5n, [b]: 5n });
  });
});

describe('the balance changes of a block', () => {
  const textOf = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
  const events = (logs: unknown[], type = 'evm') => [
    { type, attributes: logs.map((log) => ({ key: 'log', value: textOf(log) })) },
  ];
  const decode = (results: unknown[], block_events: unknown = []) => {
    const material: BlockMaterial = {
      txs: results.map((result) => ({
        raw: Buffer.alloc(0),
        result: Buffer.from(textOf(result)),
        decoded: Buffer.alloc(0),
        decoded_locally: false,
      })),
      receipts: Buffer.from('[]'),
      block_events: Buffer.from(JSON.stringify(block_events)),
    };
    const raw = {
      height: 3,
      hash: 'H',
      parent_hash: 'P',
      timestamp: '',
      tx_count: 1,
      material: Buffer.alloc(0),
      material_bytes: 0,
    };
    const { deltas, problems, created } = decodeBlock(raw, material);
    return { moved: Object.fromEntries(deltas.get(token) ?? []), problems, created };
  };

  it('come from txs that succeeded, txs that failed and the block itself', () => {
    const { moved, problems } = decode(
      [
        { code: 0, events: events([transfer(a, b, 1n)]) },
        { code: 5, events: events([transfer(a, b, 10n)]) },
      ],
      events([transfer(a, b, 100n)]),
    );
    assert.deepEqual(moved, { [a]: -111n, [b]: 111n });
    assert.deepEqual(problems, []);
  });

  it('do not come from events of other types', () => {
    assert.deepEqual(decode([{ events: events([transfer(a, b, 1n)], 'wasm') }]).moved, {});
  });

  it('are read from the good logs beside bad ones', () => {
    const bad = [`{"${transferTopic}`, transfer(a, b, 1n, { data: '0x' })];
    const { moved, problems } = decode([{ events: events([bad[0], transfer(a, b, 4n), bad[1]]) }]);
    assert.deepEqual(moved, { [a]: -4n, [b]: 4n });
    assert.equal(problems.length, 2);
  });

  it('are read from the good txs beside one that is no JSON, or of another shape', () => {
    const shapes = [null, { events: null }, { events: [null, 1, { type: 'evm' }] }];
    const odd = [`${transferTopic} is no JSON`, ...shapes.map((shape) => ({ shape, transferTopic }))];
    const { moved, problems } = decode([...odd, { events: events([transfer(a, b, 4n)]) }]);
    assert.deepEqual(moved, { [a]: -4n, [b]: 4n });
    assert.equal(problems.length, 1);
  });

  it('name the contracts that were created', () => {
    const attributes = [
      { key: 'contract', value: `0x${token.toUpperCase()}` },
      { key: 'msg_index', value: '0' },
    ];
    const { created } = decode([{ events: [{ type: 'contract_created', attributes }] }]);
    assert.deepEqual([...created], [token]);
  });
});
