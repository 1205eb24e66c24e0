import assert from 'node:assert/strict';
import { askInHalves, createBatching, readBatch } from '../../services/common/chain/batch.js';
import { NodeError } from '../../services/common/chain/endpoints.js';
import { fakeEndpoints } from '../support/fake-endpoints.js';

interface Sent {
  readonly id: number;
  readonly params: readonly number[];
}

/** Doubles the number in each call. */
const double = (calls: readonly Sent[]): string => {
  const answers = calls.map(({ id, params }) => `{"jsonrpc":"2.0","id":${id},"result":${params[0]! * 2}}`);
  return `[${answers.reverse().join(',')}]\n`;
};

const readResult = (text: string): number => {
  const { result } = JSON.parse(text) as { result?: number };
  if (result === undefined) throw new NodeError('error_answer', 'no result');
  return result;
};

/** Calls to a node, in batches of so many at most; and the sizes of the batches, and what was asked alone. */
function callsTo(answer: (calls: readonly Sent[]) => string, most = 10) {
  const sizes: number[] = [];
  const node = fakeEndpoints('rpc', ({ body }) => {
    const calls = JSON.parse(body ?? '') as Sent[];
    sizes.push(calls.length);
    return [200, answer(calls)];
  });
  const send = createBatching(node, most);
  const alone: number[] = [];
  const call = (n: number) =>
    send({
      method: 'double',
      params: [n],
      read: readResult,
      alone: async () => {
        alone.push(n);
        return n * 2;
      },
      signal: new AbortController().signal,
    });
  const callAll = (count: number) => Promise.all(upTo(count).map(call));
  return { callAll, sizes, alone };
}

const upTo = (n: number): number[] => Array.from({ length: n }, (_, i) => i + 1);

describe('calls that travel to the node together', () => {
  it('become batches of the size that is allowed, whatever the order of the answers', async () => {
    const { callAll, sizes, alone } = callsTo(double);
    assert.deepEqual(
      await callAll(25),
      upTo(25).map((n) => n * 2),
    );
    assert.deepEqual([sizes, alone], [[10, 10, 5], []]);
  });

  it('are sent alone when there are too few to gain anything', async () => {
    const { callAll, sizes, alone } = callsTo(double);
    assert.deepEqual(await callAll(2), [2, 4]);
    assert.deepEqual([sizes, alone], [[], [1, 2]]);
  });

  it('are sent alone when batches are switched off', async () => {
    const { callAll, sizes, alone } = callsTo(double, 1);
    await callAll(9);
    assert.deepEqual([sizes, alone], [[], upTo(9)]);
  });

  it('are sent alone when their own part is missing or an error', async () => {
    const { callAll, alone } = callsTo(([first, second, third]) => {
      const good = `{"jsonrpc":"2.0","id":${first!.id},"result":2}`;
      const bad = `{"jsonrpc":"2.0","id":${third!.id},"error":{"code":1,"message":"no ${second!.id}"}}`;
      return `[${good},${bad}]`;
    });
    assert.deepEqual(await callAll(3), [2, 4, 6]);
    assert.deepEqual(alone, [2, 3]);
  });

  it('come in smaller batches, then alone, to a node that refuses them', async () => {
    const refusal = '{"jsonrpc":"2.0","error":{"code":-32600,"message":"batch too large"},"id":null}';
    const { callAll, sizes, alone } = callsTo((calls) => (calls.length > 4 ? refusal : double(calls)));
    await callAll(10);
    assert.deepEqual(alone, upTo(10));
    await callAll(5);
    await callAll(4);
    assert.deepEqual(sizes, [10, 5]);
    // 5 was refused as well, and 2 in one request gain nothing
    assert.equal(alone.length, 10 + 5 + 4);
  });

  it('are sent alone, and together again later, when a request fails on its way', async () => {
    let fails = true;
    const { callAll, sizes, alone } = callsTo((calls) => {
      if (fails) throw new NodeError('connection', 'reset');
      return double(calls);
    });
    assert.deepEqual(await callAll(4), [2, 4, 6, 8]);
    assert.deepEqual(alone, upTo(4));
    fails = false;
    await callAll(4);
    assert.deepEqual([sizes.length, alone.length], [2, 4]);
  });
});

describe('the answer to a batch', () => {
  it('is cut by ids, also where it is written with other spacing and order of members', () => {
    const text =
      ' [ {"id" : 1, "result":"x", "jsonrpc":"2.0"} , {"jsonrpc":"2.0","id":0,"result":{"a":[1]}} ] ';
    assert.deepEqual([...readBatch(200, text, 2)].sort(), [
      [0, '{"jsonrpc":"2.0","id":0,"result":{"a":[1]}}'],
      [1, '{"id" : 1, "result":"x", "jsonrpc":"2.0"}'],
    ]);
  });

  it('is not misled by a result that holds what looks like an answer', () => {
    const inner = '[1,{"jsonrpc":"2.0","id":7,"result":0}]';
    const text = `[{"jsonrpc":"2.0","id":0,"result":${inner}},{"jsonrpc":"2.0","id":1,"result":",{\\"jsonrpc\\":"}]`;
    const answers = readBatch(200, text, 2);
    assert.deepEqual([...answers.keys()], [0, 1]);
    assert.equal(answers.get(0), `{"jsonrpc":"2.0","id":0,"result":${inner}}`);
  });

  it('is refused when it is cut, no list, or no JSON', () => {
    const reason = (status: number, body: string): string => {
      try {
        readBatch(status, body, 2);
        return 'fine';
      } catch (error) {
        return error instanceof NodeError ? error.reason : String((error as Error).name);
      }
    };
    assert.equal(reason(200, '[{"jsonrpc":"2.0","id":0,"result":1},{"jsonrpc'), 'not_json');
    assert.equal(reason(502, '<html>bad gateway</html>'), 'not_json');
    assert.equal(reason(200, '{"jsonrpc":"2.0","id":-1,"error":{"code":-32600}}'), 'error_answer');
    assert.equal(reason(500, '[]'), 'error_answer');
  });
});

describe('what is asked of many at once', () => {
  /** Answers up to so many units; a large item has 100, any other 1. */
  const asker = (most: number, large: ReadonlySet<number>) => {
    const sizes: number[] = [];
    const ask = async (items: readonly number[]): Promise<number[]> => {
      sizes.push(items.length);
      const units = items.reduce((sum, item) => sum + (large.has(item) ? 100 : 1), 0);
      if (units > most) throw new NodeError('too_large', 'too large');
      return items.map((item) => item * 2);
    };
    return { ask, sizes };
  };
  const items = upTo(64);
  const doubled = items.map((n) => n * 2);

  it('is asked in halves where the answer is too large, down to single items', async () => {
    const { ask, sizes } = asker(100, new Set([20]));
    assert.deepEqual(await askInHalves(items, ask), doubled);
    assert.ok(sizes.includes(1) && sizes.length < 40, String(sizes));
  });

  it('costs little more than one request each where all are large', async () => {
    const { ask, sizes } = asker(100, new Set(items));
    assert.deepEqual(await askInHalves(items, ask), doubled);
    assert.ok(sizes.length < 100, String(sizes));
  });

  it('fails where a single answer is too large', async () => {
    await assert.rejects(askInHalves(items, asker(10, new Set([7])).ask), { reason: 'too_large' });
  });

  it('is sent in smaller batches, and alone at last, without giving batches up', async () => {
    let most = 3;
    const { callAll, sizes, alone } = callsTo((calls) => {
      if (calls.length > most) throw new NodeError('too_large', 'too large');
      return double(calls);
    });
    assert.deepEqual(
      await callAll(10),
      upTo(10).map((n) => n * 2),
    );
    assert.ok(alone.length < 5, String(alone));
    most = 10;
    sizes.length = 0;
    await callAll(10);
    assert.deepEqual(sizes, [10]);
  });
});
