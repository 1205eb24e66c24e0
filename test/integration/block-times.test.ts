import assert from 'node:assert/strict';
import { toNanoseconds } from '../../services/common/util/time.js';
import type { FactClients } from '../../services/scoring-operator/policy/gather/clients.js';
import { parsePolicy } from '../../services/scoring-operator/policy/parse.js';
import { findWindow } from '../../services/scoring-operator/policy/window.js';
import { blockStarters, startTestBlock, type TestBlock } from '../support/block.js';
import { uniquePrefix } from '../support/database.js';
import { readFacts } from '../support/facts.js';
import { randomFrom } from '../support/random.js';
import { readChain } from '../support/recorded-chain.js';
import { ask } from '../support/rpc.js';
import { endsAfterEach, followBefore } from '../support/suite.js';

describe('blocks by time', () => {
  const last = readFacts('evm').height;
  const times = [...readChain('evm').times].map(([height, time]) => ({ height, time: toNanoseconds(time) }));
  times.sort((a, b) => a.height - b.height);
  const prefix = uniquePrefix();
  const block = followBefore({ recording: 'evm', tip: last }, async (node) => {
    const first = await startTestBlock(node, { prefix });
    await first.reaches(last);
    await first.stop();
    // Started again, it has no header in memory.
    const again = await startTestBlock(node, { prefix });
    await again.reaches(last);
    return again;
  });
  const { startNode, start } = blockStarters(endsAfterEach());

  const find = async (time: bigint, { client }: TestBlock = block) => {
    const request = { seconds: Number(time / 1_000_000_000n), nanos: Number(time % 1_000_000_000n) };
    const answer = await ask(client).findBlockByTime(request);
    return [answer.block?.height, answer.previous?.height, answer.is_first_of_chain];
  };

  it('are the first that are not before a time, and those before them', async () => {
    const random = randomFrom(7);
    const instants = times.flatMap(({ time }) => [
      time - 1n,
      time,
      time + 1n,
      time + BigInt(random.integer(2 ** 30)),
    ]);
    for (const instant of instants.filter(() => random.oneIn(6))) {
      const found = times.find(({ time }) => time >= instant)?.height;
      const previous = times.findLast(({ time }) => time < instant)?.height;
      assert.deepEqual(await find(instant), [found, previous, found === 1], `${instant}`);
    }
    assert.deepEqual(await find(0n), [1, undefined, true]);
    assert.deepEqual(await find(10n ** 19n), [undefined, last, false]);
  });

  it('have the times of their headers, to the nanosecond', async () => {
    const { client } = block;
    const list = async (from_height: number, to_height: number) =>
      (await ask(client).listBlockTimes({ from_height, to_height })).blocks.map(
        ({ height, seconds, nanos }) => ({ height, time: BigInt(seconds) * 1_000_000_000n + BigInt(nanos) }),
      );
    assert.deepEqual(await list(1, last), times);
    assert.deepEqual(await list(33, 33), times.slice(32, 33));
    await assert.rejects(list(last, last + 1), /not every block/);
    await assert.rejects(list(0, 3), /not every block/);
    await assert.rejects(list(5, 4), /is above/);
    await assert.rejects(list(1, 10_001), /at most 10000/);
  });

  it('of an index that begins within a stage are not taken for all of them', async () => {
    const late = await start(block.node, { env: { START_HEIGHT: '20' } });
    await late.reaches(last);
    assert.deepEqual(await find(0n, late), [20, undefined, false]);
    const policy = parsePolicy('{"version":1,"name":"p","rules":[{"kind":"source","name":"s","file":"f"}]}', {
      from: 'p',
      account_prefix: 'init',
    });
    const clients = { block: late.client } as unknown as FactClients;
    const seconds = (height: number): number => Number((times[height - 1]?.time ?? 0n) / 1_000_000_000n);
    const signal = new AbortController().signal;
    const state = (start_time: number) =>
      findWindow(policy, { stage: 2n, start_time, end_time: seconds(150) }, clients, signal);
    const missing = await state(seconds(10));
    assert.ok(missing.kind === 'missing');
    assert.match(missing.message, /the first indexed block, 20, is of .*: what came before is not known/);
    assert.equal((await state(seconds(20) + 1)).kind, 'complete');
  });

  it('are none while nothing is indexed', async () => {
    const empty = await startNode({ recording: 'evm', faults: { seed: 1, fail_one_in: 1 } });
    const service = await start(empty, { env: { CHAIN_ID: readFacts('evm').chain_id } });
    assert.deepEqual(await find(5n, service), [undefined, undefined, false]);
  });
});
