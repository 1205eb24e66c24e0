import assert from 'node:assert/strict';
import { type Call, QueryTimeout } from '../../services/common/clickhouse/database.js';
import { createBatcher } from '../../services/common/util/batcher.js';

/** A batcher whose queries a test answers by hand. */
function byHand(options: { most?: number; atOnce?: number; weigh?: (key: number) => number } = {}) {
  const queries: { keys: readonly number[]; call: Call; answer(): void; fail(error: Error): void }[] = [];
  const load = createBatcher<number, string>({
    run: (keys, call) =>
      new Promise((resolve, reject) => {
        queries.push({ keys, call, answer: () => resolve(keys.map((key) => `v${key}`)), fail: reject });
      }),
    most: options.most ?? 100,
    atOnce: options.atOnce ?? 1,
    ...(options.weigh === undefined ? {} : { weigh: options.weigh }),
  });
  return { queries, load };
}

const turn = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));

describe('look-ups that arrive together', () => {
  it('become one query, and each gets its own answer', async () => {
    const { queries, load } = byHand();
    const answers = Promise.all([load(1, {}), load(2, {}), load(1, {})]);
    await turn();
    assert.deepEqual(
      queries.map(({ keys }) => keys),
      [[1, 2, 1]],
    );
    queries[0]?.answer();
    assert.deepEqual(await answers, ['v1', 'v2', 'v1']);
  });

  it('wait for the query before them, and then go together', async () => {
    const { queries, load } = byHand();
    const first = load(1, {});
    await turn();
    const others = [load(2, {}), load(3, {})];
    await turn();
    others.push(load(4, {}));
    await turn();
    assert.equal(queries.length, 1);
    queries[0]?.answer();
    await first;
    await turn();
    assert.deepEqual(queries[1]?.keys, [2, 3, 4]);
    queries[1]?.answer();
    assert.deepEqual(await Promise.all(others), ['v2', 'v3', 'v4']);
  });

  it('are cut into queries of a bearable weight; one that is heavier goes alone', async () => {
    const { queries, load } = byHand({ most: 10, atOnce: 9, weigh: (key) => key });
    const answers = [4, 6, 1, 50, 3].map((key) => load(key, {}));
    for (let n = 0; n < 6; n++) await turn();
    assert.deepEqual(
      queries.map(({ keys }) => keys),
      [[4, 6], [1], [50], [3]],
    );
    for (const query of queries) query.answer();
    await Promise.all(answers);
  });

  it('run as long as the most patient caller waits; those that are late are dropped', async () => {
    const { queries, load } = byHand();
    const now = Date.now();
    const late = load(1, { deadline: now - 1 });
    const answers = [
      load(2, { deadline: now + 1_000, request_id: 'a' }),
      load(3, { deadline: now + 9_000, request_id: 'b' }),
    ];
    await assert.rejects(late, QueryTimeout);
    assert.deepEqual(queries[0]?.keys, [2, 3]);
    const { deadline, request_id } = queries[0]?.call ?? {};
    assert.deepEqual({ deadline, request_id }, { deadline: now + 9_000, request_id: 'a,b' });
    queries[0]?.answer();
    await Promise.all(answers);
    const patient = [load(4, { deadline: now + 1_000 }), load(5, {})];
    await turn();
    assert.equal(queries[1]?.call.deadline, undefined);
    queries[1]?.answer();
    await Promise.all(patient);
  });

  it('fail together, and the next ones do not', async () => {
    const { queries, load } = byHand();
    const failing = [load(1, {}), load(2, {})].map((answer) => assert.rejects(answer, /broken/));
    await turn();
    queries[0]?.fail(new Error('broken'));
    await Promise.all(failing);
    const next = load(3, {});
    await turn();
    queries[1]?.answer();
    assert.equal(await next, 'v3');
  });
});
