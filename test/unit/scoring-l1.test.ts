import assert from 'node:assert/strict';
import { NodeError } from '../../services/common/chain/endpoints.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { createL1Client, type L1Client } from '../../services/scoring-operator/l1/client.js';
import { readL1Block, readModuleStore } from '../../services/scoring-operator/l1/stage.js';
import { isMissing, readView, registrationOf } from '../../services/scoring-operator/l1/views.js';
import type { L1Stage } from '../../services/scoring-operator/machine/types.js';
import { type SimulatedL1, startSimulatedL1 } from '../../tools/dev/l1.js';
import { l1InStage } from '../support/scoring/l1.js';

const module = { address: '0x81c3', name: 'vip', prefix: 'initia' };
const tag = '0x81c3::vip::ModuleStore';
const data = {
  stage: '5',
  stage_start_time: '1000',
  stage_end_time: '2000',
  stage_interval: '1000',
  challenge_period: '100',
};

describe('what the L1 says, as texts', () => {
  it('is a resource with JSON in a text, or parsed already', () => {
    const expected = {
      stage: 5n,
      stage_start_time: 1_000,
      stage_end_time: 2_000,
      stage_interval: 1_000,
      challenge_period: 100,
    };
    const move_resource = JSON.stringify({ type: tag, data });
    assert.deepEqual(readModuleStore(200, JSON.stringify({ resource: { move_resource } }), tag), expected);
    assert.deepEqual(readModuleStore(200, JSON.stringify({ data }), tag), expected);
  });
  it('is refused when it is anything else', () => {
    const refused: readonly [number, unknown][] = [
      [404, { code: 5, message: 'not found' }],
      [200, {}],
      [200, { data: { ...data, stage: 5 } }],
      [200, { data: { ...data, stage: '-5' } }],
      [200, { data: { ...data, stage: '99999999999999999999' } }],
      [200, { data: { ...data, stage_end_time: '999' } }],
      [200, { resource: { move_resource: '{"data":' } }],
    ];
    for (const [status, body] of refused)
      assert.throws(() => readModuleStore(status, JSON.stringify(body), tag), { name: 'NodeError' });
    assert.throws(() => readModuleStore(502, '<html>', tag), { name: 'NodeError' });
    assert.throws(() => readL1Block(200, '{"block":null}'), { name: 'NodeError' });
    assert.throws(() => readL1Block(200, '{"block":{"header":{"time":"soon"}}}'), { name: 'NodeError' });
  });
  it('is the value of a view, a number too', () => {
    assert.equal(readView(200, '{"data":"\\"12\\""}', 'v'), '12');
    assert.deepEqual(readView(200, '{"data":[1]}', 'v'), [1]);
  });
  it('has the registration of the highest version', () => {
    const others = { init_stage: 1n, operator_addr: '', vip_l2_score_contract: '' };
    const info = (bridge_id: bigint, version: bigint) => ({ bridge_id, version, ...others });
    assert.equal(registrationOf([info(1n, 1n), info(2n, 3n), info(2n, 2n)], 2n)?.version, 3n);
    assert.equal(registrationOf([info(1n, 1n)], 2n), undefined);
  });
});

describe('the client of the L1', () => {
  let nodes: SimulatedL1[];
  let now = 0;
  let client: L1Client;
  const clock = {
    now: () => now,
    async sleep(ms: number) {
      now += ms;
      if (isRunning) for (const node of nodes) node.advance(1);
    },
  };
  let isRunning = true;

  beforeEach(async () => {
    isRunning = true;
    const start = () => {
      const state = l1InStage(5n, 1_000, 1_000, {
        time: 1_500,
        challenge_period: 100,
        bridges: [{ bridge_id: 9n, version: 1n, init_stage: 4n, vip_l2_score_contract: '0xabc' }],
        last_submitted_stage: 4n,
        total_l2_scores: 77n,
      });
      return startSimulatedL1({ module, state });
    };
    nodes = await Promise.all([start(), start()]);
    now = 1_500_000;
    client = clientOf(1);
  });
  const clientOf = (agreeing: number): L1Client =>
    createL1Client({
      log: createLog('silent'),
      metrics: createMetrics(),
      timeout_ms: 1_500,
      connections: 2,
      urls: nodes.map((node) => node.url),
      module,
      chain_id: 'l1-1',
      agreeing,
      max_ahead_ms: 120_000,
      standstill_ms: 5_000,
      again_ms: 1_000,
      clock,
    });
  afterEach(async () => {
    await client.close();
    await Promise.all(nodes.map((node) => node.close()));
  });

  const look = async (): Promise<L1Stage> => {
    const seen = await client.look();
    assert.ok(
      !('error' in seen),
      JSON.stringify(seen, (_, v) => (typeof v === 'bigint' ? String(v) : v)),
    );
    return seen as L1Stage;
  };

  /** Why nothing was seen. */
  const refused = async () => (await client.look()) as { error: string; reason: string };

  it('sees at the first look whether time moves', async () => {
    const seen = await look();
    assert.deepEqual([seen.stage, seen.is_moving], [5n, true]);
  });
  it('sees that time stands still, at the first look and later', async () => {
    isRunning = false;
    assert.equal((await look()).is_moving, false);
    for (const node of nodes) node.advance(3);
    assert.equal((await look()).is_moving, true);
    now += 4_000;
    assert.equal((await look()).is_moving, true, 'a block may take a while');
    now += 4_000;
    assert.equal((await look()).is_moving, false);
  });
  it('goes to the next node when one fails, in whatever way, and takes the latest', async () => {
    for (const fault of ['refuse', 'html', 'cut', 'not_found', 'slow'] as const) {
      nodes[0]!.fault = fault;
      nodes[1]!.advance(1);
      assert.equal((await look()).l1_time, nodes[1]!.state.time, fault);
    }
    nodes[0]!.fault = 'none';
    nodes[0]!.state.time = 1_000;
    nodes[1]!.advance(1);
    assert.equal((await look()).l1_time, nodes[1]!.state.time, 'the other one lags');
  });
  it('says why when no node answers, or only one that is behind', async () => {
    await look();
    for (const node of nodes) node.fault = 'not_found';
    assert.match((await refused()).error, /ModuleStore|newest block/);
    for (const node of nodes) {
      node.fault = 'none';
      node.state.time = 1_000;
    }
    assert.match((await refused()).error, /older block/);
  });
  it('believes no stage that only one of several says', async () => {
    client = clientOf(2);
    now = 2_000_000;
    for (const node of nodes) node.advance(500);
    nodes[0]!.nextStage();
    const seen = await refused();
    assert.equal(seen.reason, 'L1Contradicts');
    assert.match(seen.error, /do not agree .* says stage 6 .* says stage 5/);
    nodes[0]!.fault = 'refuse';
    assert.match((await refused()).error, /1 of 2 URLs/);
    nodes[0]!.fault = 'none';
    nodes[1]!.nextStage();
    assert.equal((await look()).stage, 6n);
  });
  it('believes no stage that is said only once, and remembers nothing of it', async () => {
    await nodes[1]!.close();
    await look();
    const { state } = nodes[0]!;
    const honest = { ...state };
    const tick = clock.sleep;
    Object.assign(state, { stage: 6n, stage_start_time: 1_400, stage_end_time: 9_000 });
    clock.sleep = async (ms: number) => {
      Object.assign(state, { ...honest, time: state.time });
      await tick(ms);
    };
    try {
      const seen = await refused();
      assert.equal(seen.reason, 'L1Contradicts');
      assert.match(seen.error, /stage 6 from 1400 to 9000, and a moment later stage 5 from 1000 to 2000/);
    } finally {
      clock.sleep = tick;
    }
    assert.equal((await look()).stage, 5n);
  });
  it('takes the latest time that so many have reached', async () => {
    client = clientOf(2);
    nodes[0]!.advance(60);
    const seen = await look();
    assert.equal(seen.l1_time, nodes[1]!.state.time);
    assert.ok(seen.l1_time < nodes[0]!.state.time);
  });
  it('believes when a stage was, and what is registered, only when so many say the same', async () => {
    client = clientOf(2);
    const times = { start_time: 500, end_time: 1_000 };
    nodes[0]!.state.past = new Map([[4n, { ...times, end_time: 700 }]]);
    nodes[1]!.state.past = new Map([[4n, times]]);
    await assert.rejects(client.stageTimes(4n), /fewer L1 URLs than have to agree/);
    nodes[0]!.state.past.set(4n, times);
    assert.deepEqual(await client.stageTimes(4n), times);
    assert.equal((await client.registration(9n))?.init_stage, 4n);
    nodes[0]!.state.bridges = [];
    await assert.rejects(client.registration(9n), /do not agree/);
  });
  it('does not use a time that is minutes ahead of our clock, and goes on with the honest one', async () => {
    const honest = nodes[0]!.state.time;
    nodes[0]!.state.time = Date.UTC(2099, 0, 1) / 1_000;
    nodes[1]!.fault = 'refuse';
    assert.match((await refused()).error, /ahead of the clock of this machine \(l1.max_ahead_seconds\)/);
    nodes[0]!.state.time = honest;
    assert.equal((await look()).is_moving, true, 'what was not believed is not remembered');
    nodes[0]!.state.time = now / 1_000 + 121;
    assert.equal((await refused()).reason, 'L1Contradicts');
  });
  it('refuses an L1 of another chain', async () => {
    for (const node of nodes) node.state.chain_id = 'other-1';
    assert.match((await refused()).error, /not of l1-1/);
  });
  it('asks the views', async () => {
    nodes[0]!.fault = 'html';
    const info = (await client.registration(9n))!;
    assert.deepEqual([info.init_stage, info.vip_l2_score_contract], [4n, '0xabc']);
    assert.equal(await client.registration(8n), undefined);
    const submitted = { last_submitted_stage: 4n, total_l2_scores: 77n };
    assert.deepEqual(await client.submitted(info, 4n), submitted);
    assert.deepEqual(await client.submitted(info, 5n), { ...submitted, total_l2_scores: undefined });
  });
  it('asks when a stage was, and believes that none knows it when all have said so', async () => {
    assert.equal(await client.stageTimes(4n), undefined, 'a module without the view');
    for (const node of nodes) node.state.past = new Map([[3n, { start_time: 0, end_time: 500 }]]);
    assert.equal(await client.stageTimes(4n), undefined, 'a stage that they do not know');
    for (const { requests } of nodes) assert.equal(requests, 2, 'an answer is not asked for again');
    nodes[1]!.state.past!.set(4n, { start_time: 500, end_time: 1_000 });
    assert.deepEqual(await client.stageTimes(4n), { start_time: 500, end_time: 1_000 }, 'the other knows it');
  });
  it('takes no failure for an L1 that does not know when a stage was', async () => {
    const times = { start_time: 500, end_time: 1_000 };
    const others = ['not_found', 'html', 'cut', 'refuse', 'slow'] as const;
    for (const fault of ['limited', 'failing', 'overloaded', ...others] as const) {
      nodes[0]!.fault = fault;
      nodes[1]!.state.past = new Map();
      const what = `${fault}, and the other does not know it`;
      await assert.rejects(client.stageTimes(4n), { name: 'NodeError' }, what);
      nodes[1]!.state.past.set(4n, times);
      assert.deepEqual(await client.stageTimes(4n), times, `${fault}, and the other knows it`);
    }
  });
  it('takes no answer that is no time for one', async () => {
    for (const end_time of [Number.NaN, -1, 1.5, 2 ** 60]) {
      for (const node of nodes) node.state.past = new Map([[4n, { start_time: 0, end_time }]]);
      await assert.rejects(client.stageTimes(4n), { name: 'NodeError' }, String(end_time));
    }
  });
});

describe('that the L1 has no such view or stage', () => {
  const one = '1'.padStart(64, '0');
  const said = (message: string): boolean =>
    isMissing(new NodeError('error_answer', 'x', { message }), module);

  it('is what the virtual machine says', () => {
    for (const message of [
      'VM error: status FUNCTION_RESOLUTION_FAILURE of type Verification',
      'VM failure: status FUNCTION_RESOLUTION_FAILURE of type Verification, location=undefined, function=0, code_offset=0',
      'rpc error: code = Unknown desc = VM error: status FUNCTION_RESOLUTION_FAILURE of type Verification',
      `VM aborted: location=${one}::table, code=25863`,
      `VM aborted: location=0x81c3::vip, code=${6 * 65_536 + 4}`,
      `VM aborted: location=81C3::vip, code=${6 * 65_536}: query failed`,
    ])
      assert.ok(said(message), message);
  });
  it('is nothing that anything else says, or that it says of other things', () => {
    for (const message of [
      '',
      'not found',
      'stage not found',
      'function not found: FUNCTION_RESOLUTION_FAILURE',
      'VM error: status OUT_OF_GAS of type Execution',
      'VM failure: status LINKER_ERROR of type Verification, location=undefined',
      'VM error: status MEMORY_LIMIT_EXCEEDED of type Execution',
      `VM aborted: location=${one}::coin, code=${6 * 65_536 + 4}`,
      `VM aborted: location=${one}::vip, code=${5 * 65_536 + 4}`,
      `VM aborted: location=${one}::vip, code=x`,
      'failure occurred from backend: iterator does not exist',
    ])
      assert.ok(!said(message), message);
    const message = `VM aborted: location=${one}::table, code=25863`;
    assert.ok(!isMissing(new NodeError('not_json', 'x', { message }), module));
    assert.ok(!isMissing(new Error(message), module));
  });
});
