import assert from 'node:assert/strict';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { createCache } from '../../services/gateway/cache.js';
import type { Head } from '../../services/gateway/heads.js';
import { createAnswer, inCoding } from '../../services/gateway/http/answer.js';
import type { Owner } from '../../services/gateway/route.js';
import { startTestGateway, until } from '../support/gateway-client.js';
import { startBeforeEach } from '../support/suite.js';

const answerOf = (text: string, settled = false) => createAnswer({ body: Buffer.from(text), settled });
const never = new AbortController().signal;

/** A call that ends with its signal. */
const untilCancelled = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(new Error('cancelled'))));

function testCache(max_bytes = 1_000_000) {
  const heard: Head = { version: 1, epoch: 1 };
  const current: Record<Owner, Head> = { block: heard, tx: heard, nft: heard, richlist: heard };
  let now_ms = 0;
  const metrics = createMetrics();
  const now = () => now_ms;
  const cache = createCache({ heads: { current }, metrics, max_bytes, max_age_ms: 1_000, now });
  return {
    cache,
    current,
    metrics,
    pass: (ms: number) => {
      now_ms += ms;
    },
    fill: (key: string, answer = answerOf(key)) => cache.ask(key, ['tx'], async () => answer, never),
  };
}

describe('gateway: cache', () => {
  it('an answer is served again while the head stands', async () => {
    const { cache, fill } = testCache();
    assert.equal(cache.get('a', ['tx']), undefined);
    const answer = await fill('a');
    assert.equal(cache.get('a', ['tx']), answer);
    assert.equal(cache.get('b', ['tx']), undefined);
  });

  it('an answer that can change ends when its head moves, when its service is not heard and with age', async () => {
    const { cache, current, fill, pass } = testCache();
    await fill('a');
    current.block = { version: 9, epoch: 1 };
    assert.ok(cache.get('a', ['tx']), "another service's head ended it");
    current.tx = { version: 2, epoch: 1 };
    assert.equal(cache.get('a', ['tx']), undefined, 'the head moved');
    await fill('a');
    current.tx = { version: undefined, epoch: 1 };
    assert.equal(cache.get('a', ['tx']), undefined, 'the service is not heard');
    current.tx = { version: 2, epoch: 1 };
    pass(1_000);
    assert.ok(cache.get('a', ['tx']));
    pass(1);
    assert.equal(cache.get('a', ['tx']), undefined, 'it is too old');
  });

  it('a settled answer outlives all that, but not another epoch', async () => {
    const { cache, current, fill, pass } = testCache();
    await fill('a', answerOf('a', true));
    current.tx = { version: undefined, epoch: 1 };
    pass(1_000_000);
    assert.ok(cache.get('a', ['tx']));
    current.tx = { version: 7, epoch: 2 };
    assert.equal(cache.get('a', ['tx']), undefined);
  });

  it('an answer of two services ends with either', async () => {
    const { cache, current } = testCache();
    const owners = ['block', 'tx'] as const;
    await cache.ask('s', owners, async () => answerOf('s'), never);
    assert.ok(cache.get('s', owners));
    current.block = { version: 2, epoch: 1 };
    assert.equal(cache.get('s', owners), undefined);
  });

  it('a head that moves while the service is asked makes the answer old at once', async () => {
    const { cache, current } = testCache();
    const ask = async () => {
      current.tx = { version: 2, epoch: 1 };
      return answerOf('a');
    };
    await cache.ask('a', ['tx'], ask, never);
    assert.equal(cache.get('a', ['tx']), undefined);
  });

  it('equal questions in flight share one call, and those after a new head do not', async () => {
    const { cache, current, metrics } = testCache();
    let calls = 0;
    const finish: (() => void)[] = [];
    const ask = async () => {
      calls += 1;
      await new Promise<void>((resolve) => finish.push(resolve));
      return answerOf('a');
    };
    const both = [cache.ask('a', ['tx'], ask, never), cache.ask('a', ['tx'], ask, never)];
    current.tx = { version: 2, epoch: 1 };
    both.push(cache.ask('a', ['tx'], ask, never));
    for (const done of finish) done();
    const [first, second, third] = await Promise.all(both);
    assert.equal(calls, 2);
    assert.equal(first, second);
    assert.notEqual(first, third);
    const { values } = await metrics.cache.get();
    const counts = Object.fromEntries(values.map((value) => [value.labels.result, value.value]));
    assert.deepEqual(counts, { miss: 2, joined: 1 });
  });

  it('a failure reaches everybody who waits and is not kept', async () => {
    const { cache, fill } = testCache();
    const ask = async (): Promise<never> => {
      throw new Error('no');
    };
    const both = [cache.ask('a', ['tx'], ask, never), cache.ask('a', ['tx'], ask, never)];
    for (const result of await Promise.allSettled(both)) assert.equal(result.status, 'rejected');
    assert.equal(cache.get('a', ['tx']), undefined);
    assert.ok(await fill('a'));
  });

  it('the call is cancelled when the last one who waits leaves, and not before', async () => {
    const { cache } = testCache();
    let signal: AbortSignal | undefined;
    const ask = (given: AbortSignal) => {
      signal = given;
      return untilCancelled(given);
    };
    const [one, two] = [new AbortController(), new AbortController()];
    const both = [cache.ask('a', ['tx'], ask, one.signal), cache.ask('a', ['tx'], ask, two.signal)];
    const settled = Promise.allSettled(both);
    one.abort();
    assert.equal(signal?.aborted, false);
    two.abort();
    assert.equal(signal?.aborted, true);
    await settled;
  });

  it('who comes after a cancelled call asks anew', async () => {
    const { cache, fill } = testCache();
    const gone = new AbortController();
    const cancelled = assert.rejects(cache.ask('a', ['tx'], untilCancelled, gone.signal));
    gone.abort();
    const answer = await fill('a');
    await cancelled;
    assert.equal(cache.get('a', ['tx']), answer);
  });

  it('memory is bounded, compressed bodies included', async () => {
    const { cache, metrics, fill } = testCache(100_000);
    for (let i = 0; i < 100; i++) await fill(`k${i}`, answerOf('x'.repeat(5_000)));
    const bytes = async () => (await metrics.cacheBytes.get()).values[0]?.value ?? 0;
    assert.ok((await bytes()) <= 100_000 && (await bytes()) > 50_000);
    assert.equal(cache.get('k0', ['tx']), undefined, 'the oldest is still there');
    const last = cache.get('k99', ['tx']);
    assert.ok(last);
    const before = await bytes();
    const { body } = await inCoding(last, 'gzip');
    cache.recount('k99', last);
    assert.equal(await bytes(), before + body.length);
    await fill('huge', answerOf('x'.repeat(50_000)));
    assert.equal(cache.get('huge', ['tx']), undefined, 'one answer drove out half of the others');
    assert.ok(cache.get('k99', ['tx']));
  });

  it('without memory nothing is kept, and calls in flight are still shared', async () => {
    const { cache, fill } = testCache(0);
    const [first, second] = await Promise.all([fill('a'), fill('a')]);
    assert.equal(first, second);
    assert.equal(cache.get('a', ['tx']), undefined);
  });

  it('an old answer is at hand for ten minutes', async () => {
    const { cache, current, fill, pass } = testCache();
    const answer = await fill('a');
    current.tx = { version: 5, epoch: 3 };
    pass(599_500);
    assert.deepEqual(cache.getOld('a'), { answer, age_s: 599 });
    pass(1_000);
    assert.equal(cache.getOld('a'), undefined);
  });
});

describe('gateway: cached answers', () => {
  const gateway = startBeforeEach(
    () => startTestGateway({ CACHE_MAX_AGE_MS: '60000' }),
    (gateway) => gateway.stop(),
  );
  const txPath = `/indexer/tx/v1/txs/${'5'.padStart(64, '0')}`;
  const calls = (method: string) => gateway.fakes.calls.filter((call) => call.method === method).length;

  it('requests that mean the same share an answer, however they are written', async () => {
    const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
    for (const tail of [
      `by_account/${account}`,
      `by_account/${account.toUpperCase().replace('0X', '0x')}?pagination.limit=100&x=1`,
      'by_account/init17w0adeg64ky0daxwd2ugyuneellmjgnxdtmpqz?pagination.reverse=1',
      `/by_account/${account}/?msgs=&pagination.key=`,
    ]) {
      assert.equal((await gateway.get(`/indexer/tx/v1/txs/${tail}`)).status, 200);
    }
    assert.equal(calls('listTxsByAccount'), 1);
    assert.equal(await gateway.cacheCount('hit'), 3);
    await gateway.get('/indexer/tx/v1/txs?msgs=b,a');
    await gateway.get('/indexer/tx/v1/txs?msgs=/a&msgs=b');
    assert.equal(calls('listTxs'), 1);
    await gateway.get('/indexer/tx/v1/txs?msgs=a');
    assert.equal(calls('listTxs'), 2);
  });

  it('a new head brings a new answer, a settled one stays', async () => {
    const ask = async () => {
      await gateway.get('/indexer/tx/v1/txs');
      await gateway.get(txPath);
      await gateway.get('/indexer/block/v1/blocks/5');
      await gateway.get('/indexer/block/v1/blocks');
    };
    await ask();
    await ask();
    assert.equal(gateway.fakes.calls.length, 4);
    const { version } = gateway.heads.current.tx;
    gateway.fakes.sayTxHead({ height: 6 });
    await until(() => gateway.heads.current.tx.version !== version);
    await ask();
    assert.equal(calls('listTxs'), 2);
    assert.equal(gateway.fakes.calls.length, 5);
  });

  it('a rollback ends settled answers too, by its revision or by a lower height', async () => {
    await gateway.get(txPath);
    for (const [i, word] of [{ revision: 1 }, { height: 3 }].entries()) {
      const { epoch } = gateway.heads.current.tx;
      gateway.fakes.sayTxHead(word);
      await until(() => gateway.heads.current.tx.epoch !== epoch);
      await gateway.get(txPath);
      assert.equal(calls('getTx'), 2 + i);
    }
  });

  it('while a service is not heard its answers are asked for, and settled ones are served', async () => {
    await gateway.get('/indexer/tx/v1/txs');
    await gateway.get(txPath);
    await gateway.fakes.stopTx();
    await until(() => gateway.heads.current.tx.version === undefined);
    assert.equal((await gateway.get('/indexer/tx/v1/txs')).status, 503);
    assert.equal((await gateway.get(txPath)).status, 200);
    assert.equal((await gateway.get('/indexer/block/v1/blocks')).status, 200);
    assert.equal((await gateway.get('/status')).status, 503);
  });

  it('equal requests at the same time are one call', async () => {
    gateway.fakes.instead.set('listTxs', async () => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      return { txs: [], pagination: { next_key: '', previous_key: '', total: '0' } };
    });
    const answers = await Promise.all([1, 2, 3, 4, 5, 6].map(() => gateway.get('/indexer/tx/v1/txs')));
    for (const { status } of answers) assert.equal(status, 200);
    assert.equal(calls('listTxs'), 1);
    assert.equal(await gateway.cacheCount('joined'), 5);
  });

  it('problems are not kept', async () => {
    const path = '/indexer/block/v1/blocks/6';
    assert.equal((await gateway.get(path)).status, 404);
    gateway.fakes.chain.blocks.push({ ...gateway.fakes.chain.blocks[0], height: '6' } as never);
    assert.equal((await gateway.get(path)).status, 200);
  });
});
