import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { bech32 } from '@scure/base';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { toNanoseconds } from '../../services/common/util/time.js';
import { compute, computeScores } from '../../services/scoring-operator/policy/compute.js';
import { gatherFacts } from '../../services/scoring-operator/policy/gather/gather.js';
import { parsePolicy } from '../../services/scoring-operator/policy/parse.js';
import type { Facts, Policy } from '../../services/scoring-operator/policy/policy.js';
import { findWindow, readProgress } from '../../services/scoring-operator/policy/window.js';
import { startReplayNode } from '../../tools/replay/node.js';
import { startFactServices } from '../support/fact-services.js';
import { type Facts as RecordedFacts, type RecordingName, readFacts } from '../support/facts.js';
import { readChain } from '../support/recorded-chain.js';
import { stream } from '../support/rpc.js';
import type { Fraction } from '../support/scoring-model.js';
import {
  averagesIn,
  balancesAt,
  callsIn,
  sumBy,
  type TrueLog,
  type TrueTx,
  transfersOf,
  volumesIn,
} from '../support/scoring-truth.js';
import { endsAfterEach, followBefore } from '../support/suite.js';

const signal = new AbortController().signal;
const options = { account_prefix: 'init', signal };

function policyOf(rules: readonly object[], more: object = {}): Policy {
  const text = JSON.stringify({ version: 1, name: 'p', rules, ...more });
  return parsePolicy(text, { from: 'p', account_prefix: 'init' });
}

const hexOf = (address: string): string =>
  address.startsWith('0x')
    ? address.toLowerCase()
    : `0x${Buffer.from(bech32.fromWords(bech32.decode(address as `init1${string}`, 90).words)).toString('hex')}`;

/** The decoded txs of a recording, in order, from the node's REST answers. */
function recordedTxs(name: RecordingName, facts: RecordedFacts): TrueTx[] {
  const file = join(packageRoot, 'tools/replay/recordings', name, 'exchanges.jsonl.gz');
  const messages = new Map<number, TrueTx['messages'][]>();
  for (const line of gunzipSync(readFileSync(file)).toString().trim().split('\n')) {
    const { path, status, body } = JSON.parse(line);
    const height =
      /^\/cosmos\/tx\/v1beta1\/txs\/block\/(\d+)(?:\?pagination.limit=\d+(?:&pagination.offset=0)?)?$/.exec(
        path,
      )?.[1];
    if (height === undefined || status !== 200) continue;
    messages.set(
      Number(height),
      JSON.parse(body).txs.map((tx: { body: { messages: TrueTx['messages'] } }) => tx.body.messages),
    );
  }
  return facts.txs.map((tx) => ({
    ...tx,
    signers: tx.signers.map(hexOf),
    messages: messages.get(tx.height)?.[tx.index] ?? [],
  }));
}

/** Measured values by 0x address, as fractions. */
const measuredBy = (facts: Facts, rule: string): Map<string, Fraction> => {
  const { values, denominator } = facts.measures.get(rule) ?? assert.fail(`no ${rule}`);
  return new Map([...values].map(([account, value]) => [`0x${account}`, [value, denominator]]));
};

/** The same values, whatever their fractions look like. */
function assertValues(
  actual: Map<string, Fraction>,
  expected: Map<string, bigint | Fraction>,
  what: string,
): void {
  const asFraction = (value: bigint | Fraction): Fraction =>
    typeof value === 'bigint' ? [value, 1n] : value;
  const positive = [...expected].filter(([, value]) => asFraction(value)[0] > 0n);
  assert.deepEqual([...actual.keys()].sort(), positive.map(([account]) => account).sort(), what);
  for (const [account, value] of positive) {
    const [a, b] = actual.get(account) as Fraction;
    const [c, d] = asFraction(value);
    assert.equal(a * d, c * b, `${what}: ${account} has ${a}/${b} instead of ${c}/${d}`);
  }
}

describe('scores of the recorded rollup', function () {
  this.timeout(90_000);
  const [facts, chain] = [readFacts('evm'), readChain('evm')];
  const txs = recordedTxs('evm', facts);
  const logs: TrueLog[] = [...chain.receipts]
    .sort(([a], [b]) => a - b)
    .flatMap(([height, receipts]) =>
      receipts.flatMap((receipt) => (receipt['logs'] as TrueLog[]).map((log) => ({ ...log, height }))),
    );
  const times = new Map([...chain.times].map(([height, time]) => [height, toNanoseconds(time)]));
  const { coin, art } = (facts as unknown as { contracts: Record<string, string> }).contracts as {
    coin: string;
    art: string;
  };
  const coins = transfersOf(logs, coin, 3);
  const arts = transfersOf(logs, art, 4);
  const seconds = (height: number): number => Number((times.get(height) as bigint) / 1_000_000_000n);
  const tip = facts.height + 3;
  const services = followBefore({ recording: 'evm', tip }, async (node) => {
    const started = await startFactServices(node);
    await started.reaches(tip);
    return started;
  });

  const rules = {
    transactions: [
      { kind: 'transactions', name: 'sent' },
      { kind: 'transactions', name: 'all_sent', only_successful: false, signers: 'all' },
      { kind: 'transactions', name: 'bank', msg_types: ['cosmos.bank.v1beta1.MsgSend'] },
    ],
    gas_used: [
      { kind: 'gas_used', name: 'gas' },
      { kind: 'gas_used', name: 'all_gas', only_successful: false, msg_types: ['/minievm.evm.v1.MsgCall'] },
    ],
    calls: [
      { kind: 'calls', name: 'coin_calls', contracts: [coin] },
      { kind: 'calls', name: 'transfers', selectors: ['transfer(address,uint256)'] },
      {
        kind: 'calls',
        name: 'both',
        selectors: ['0xa9059cbb'],
        contracts: [coin, art],
        only_successful: false,
      },
    ],
    volume: ['sent', 'received', 'both'].map((direction) => ({
      kind: 'volume',
      name: `volume_${direction}`,
      denom: `evm/${coin.slice(2)}`,
      direction,
    })),
    holdings: ['end', 'average'].map((at) => ({ kind: 'holdings', name: `held_${at}`, denom: coin, at })),
    nfts: ['end', 'average'].map((at) => ({ kind: 'nfts', name: `art_${at}`, collection: art, at })),
  };
  const policy = policyOf(Object.values(rules).flat());

  const windows: readonly (readonly [string, number, number, number, number])[] = [
    ['the whole chain', seconds(1) - 100, seconds(157) + 1, 1, 157],
    ['the middle of it', seconds(31) + 1, seconds(140) + 1, -1, -1],
    ['a stretch that begins with the first block', seconds(1), seconds(30), 1, -1],
    ['a time without blocks', seconds(1) + 10, seconds(1) + 20, 2, 1],
    ['a time before the chain', seconds(1) - 50, seconds(1) - 10, 1, 0],
  ];
  for (const [what, start_time, end_time, from, to] of windows) {
    it(`are those of the policy on paper, over ${what}`, async () => {
      const state = await findWindow(policy, { stage: 3n, start_time, end_time }, services.clients, signal);
      assert.ok(
        state.kind === 'complete',
        JSON.stringify(state, (_, v) => (typeof v === 'bigint' ? `${v}` : v)),
      );
      const { window } = state;
      const [start, end] = [BigInt(start_time) * 1_000_000_000n, BigInt(end_time) * 1_000_000_000n];
      const inside = [...times].filter(([, time]) => time >= start && time < end).map(([height]) => height);
      assert.deepEqual(
        [window.from_height, window.to_height],
        inside.length === 0 ? [from, to] : [Math.min(...inside), Math.max(...inside)],
      );
      if (from > 0) assert.equal(window.from_height, from);
      if (to >= 0) assert.equal(window.to_height, to);
      const measured = await gatherFacts(policy, window, services.clients, options);
      assert.equal(state.to_hash, measured.to_hash, 'else a scored stage would be scored again and again');

      const some = txs.filter(({ height }) => inside.includes(height));
      const good = some.filter(({ code }) => code === 0);
      const first = (each: readonly TrueTx[], value: (tx: TrueTx) => bigint = () => 1n) =>
        sumBy(each, (tx) => [[tx.signers[0] as string, value(tx)]]);
      const calls = (each: readonly TrueTx[], counts: (call: Record<string, string>) => boolean) =>
        sumBy(each.flatMap(({ messages }) => callsIn(messages)).filter(counts), (call) => [
          [hexOf(call['sender'] as string), 1n],
        ]);
      const to_ =
        (...contracts: string[]) =>
        (call: Record<string, string>) =>
          contracts.some((contract) => contract.toLowerCase() === call['contract_addr']?.toLowerCase());
      const isTransfer = (call: Record<string, string>): boolean =>
        call['input']?.startsWith('0xa9059cbb') === true;
      const expected: Record<string, Map<string, bigint | Fraction>> = {
        sent: first(good),
        all_sent: sumBy(some, ({ signers }) => signers.map((signer) => [signer, 1n] as const)),
        bank: first(good.filter(({ msgs }) => msgs.includes('cosmos.bank.v1beta1.MsgSend'))),
        gas: first(good, ({ gas_used }) => BigInt(gas_used)),
        all_gas: first(
          some.filter(({ msgs }) => msgs.includes('minievm.evm.v1.MsgCall')),
          ({ gas_used }) => BigInt(gas_used),
        ),
        coin_calls: calls(good, to_(coin)),
        transfers: calls(good, isTransfer),
        both: calls(some, (call) => to_(coin, art)(call) && isTransfer(call)),
        volume_sent: volumesIn(coins, window.from_height, window.to_height, 'sent'),
        volume_received: volumesIn(coins, window.from_height, window.to_height, 'received'),
        volume_both: volumesIn(coins, window.from_height, window.to_height, 'both'),
        held_end: balancesAt(coins, window.to_height),
        held_average: averagesIn(coins, times, start, end),
        art_end: balancesAt(arts, window.to_height),
        art_average: averagesIn(arts, times, start, end),
      };
      for (const [rule, values] of Object.entries(expected))
        assertValues(measuredBy(measured, rule), values, rule);
      assert.equal(measured.measures.size, Object.keys(expected).length);
      if (what === 'the whole chain')
        for (const [rule, values] of Object.entries(expected))
          assert.ok(values.size > 0, `${rule} measures nothing`);
    });
  }

  it('are bit by bit the same when they are worked out again', async () => {
    const whole = policyOf(Object.values(rules).flat(), {
      cap: '9000000000000000',
      exclude: [txs[0]?.signers[0]],
    });
    const window = {
      stage: 3n,
      start_time: seconds(20),
      end_time: seconds(150),
      from_height: 21,
      to_height: 149,
    };
    const lists = [];
    for (let time = 0; time < 2; time++)
      lists.push(computeScores(whole, await gatherFacts(whole, window, services.clients, options)));
    assert.deepEqual(lists[0], lists[1]);
    assert.ok((lists[0]?.scores.length ?? 0) > 3);
    const { steps } = compute(whole, await gatherFacts(whole, window, services.clients, options));
    assert.ok(steps.some(({ none }) => none === 'excluded'));
  });

  it('hold what the node itself said that accounts hold', async () => {
    const gas = policyOf([{ kind: 'holdings', name: 'gas_held', denom: 'GAS', at: 'end' }]);
    const window = {
      stage: 1n,
      start_time: seconds(1) - 1,
      end_time: seconds(157) + 1,
      from_height: 1,
      to_height: 157,
    };
    const measured = await gatherFacts(gas, window, services.clients, options);
    const file = join(packageRoot, 'tools/replay/recordings/evm/exchanges.jsonl.gz');
    let told = 0;
    for (const line of gunzipSync(readFileSync(file)).toString().trim().split('\n')) {
      const { path, status, height, body } = JSON.parse(line);
      const account = /\/bank\/v1beta1\/balances\/(init1\w+)/.exec(path)?.[1];
      if (account === undefined || status !== 200 || ![undefined, 0, 157].includes(Number(height ?? 0)))
        continue;
      const { balances } = JSON.parse(body) as { balances: { denom: string; amount: string }[] };
      const amount = BigInt(balances.find(({ denom }) => denom === 'GAS')?.amount ?? 0);
      const key = hexOf(account).slice(2);
      if (key.length !== 40) continue;
      assert.equal(measured.measures.get('gas_held')?.values.get(key) ?? 0n, amount, account);
      told += 1;
    }
    assert.ok(told > 3, `${told} balances are too few`);
  });

  it('wait until every service is past the stage', async () => {
    const after = seconds(157) + 3_600;
    const find = (start_time: number, end_time: number) =>
      findWindow(policy, { stage: 1n, start_time, end_time }, services.clients, signal);
    assert.match(
      JSON.stringify(await find(seconds(1), after)),
      /"behind".*block 160 is of .*the stage ends at/,
    );
    assert.match(JSON.stringify(await find(after, after + 1)), /"behind".*the stage starts at/);
    await assert.rejects(find(10, 10), /that is no time/);
    assert.deepEqual((await readProgress(policy, services.clients, signal)).height, tip);
    const tooFar = { stage: 1n, start_time: 1, end_time: after, from_height: 1, to_height: tip };
    await assert.rejects(
      gatherFacts(policy, tooFar, services.clients, { ...options, attempts: 2, wait_ms: 1 }),
      /service is at block 160, and the stage ends with 160/,
    );
  });

  it('are not worked out for a denom that nobody knows', async () => {
    const unknown = policyOf([{ kind: 'holdings', name: 'typo', denom: 'GSA', at: 'end' }]);
    const window = { stage: 1n, start_time: 1, end_time: 2, from_height: 5, to_height: 9 };
    await assert.rejects(
      gatherFacts(unknown, window, services.clients, options),
      /the denom "GSA" of the rules typo: .*not known/,
    );
  });
});

describe('what accounts did', function () {
  this.timeout(90_000);
  const endLater = endsAfterEach();
  for (const name of ['evm', 'move', 'wasm'] as const)
    it(`is told of every tx of the ${name} recording, whatever the window`, async () => {
      const facts = readFacts(name);
      const expected = recordedTxs(name, facts);
      const node = await startReplayNode({ recording: name });
      endLater(() => node.close());
      const services = await startFactServices(node, name);
      endLater(() => services.stop());
      await services.reaches(facts.height);
      const { tx } = services.clients;
      const read = async (from_height: number, to_height: number) => {
        const [txs, through] = [[] as unknown[], [] as number[]];
        for await (const part of stream(tx).streamActivity({ from_height, to_height })) {
          for (const { height, position, signers, code, gas_used, msgs } of part.txs)
            txs.push({ height, position, signers, code, gas_used, msgs });
          through.push(part.through_height);
        }
        assert.equal(through.at(-1), to_height);
        return txs;
      };
      const truth = expected.map(({ height, code, gas_used, msgs, signers }, index) => ({
        height,
        position: facts.txs[index]?.index,
        signers,
        code,
        gas_used: String(gas_used),
        msgs: [...new Set(msgs)],
      }));
      assert.deepEqual(await read(1, facts.height), truth);
      for (const [from, to] of [
        [1, 1],
        [17, 17],
        [20, 90],
        [facts.height, facts.height],
      ] as const)
        assert.deepEqual(
          await read(from, to),
          truth.filter(({ height }) => height >= from && height <= to),
        );
      await assert.rejects(read(0, 5), /no window/);
      await assert.rejects(read(6, 5), /no window/);
      await assert.rejects(read(1, facts.height + 1), /is not indexed/);
    });
});
