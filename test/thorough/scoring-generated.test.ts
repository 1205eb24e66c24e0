import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { RpcError } from '../../services/common/runtime/errors.js';
import { toNanoseconds } from '../../services/common/util/time.js';
import { computeScores } from '../../services/scoring-operator/policy/compute.js';
import { explain } from '../../services/scoring-operator/policy/explain.js';
import { gatherFacts } from '../../services/scoring-operator/policy/gather/gather.js';
import { parsePolicy } from '../../services/scoring-operator/policy/parse.js';
import type { Measure } from '../../services/scoring-operator/policy/policy.js';
import type { ScoreWindow } from '../../services/scoring-operator/policy/result.js';
import { findWindow } from '../../services/scoring-operator/policy/window.js';
import { blockTxs } from '../../tools/replay/generate/chain.js';
import { native, transfersOf } from '../../tools/replay/generate/ledger.js';
import { genesisBalance } from '../../tools/replay/generate/state.js';
import { describeGenerated, generateChain } from '../../tools/replay/generate.js';
import { startFactServices } from '../support/fact-services.js';
import { randomFrom } from '../support/random.js';
import { stream } from '../support/rpc.js';
import { type Fraction, modelScores } from '../support/scoring-model.js';
import { averagesIn, balancesAt, callsIn, sumBy, volumesIn } from '../support/scoring-truth.js';
import { followBefore } from '../support/suite.js';

const blocks = 60;
const zero = `0x${'0'.repeat(40)}`;
const signal = new AbortController().signal;

describe('scores of a chain that nobody has recorded, from a node of which one request in six fails', () => {
  const chain = generateChain({ blocks, txs_per_block: 7, accounts: 30, seed: 4242 });
  const { world, templates } = chain;
  const heights = Array.from({ length: blocks }, (_, index) => index + 1);
  const times = new Map(
    heights.map((height) => [height, toNanoseconds(chain.bodies(height)?.time ?? '')] as const),
  );
  const txs = heights.flatMap((height) => {
    const truth = describeGenerated(chain, height);
    return blockTxs(world, templates, height).map(({ plan, result, decoded }, index) => ({
      ...truth[index],
      height,
      plan,
      gas_used: BigInt(JSON.parse(result).gas_used),
      messages: JSON.parse(decoded).body.messages as Record<string, unknown>[],
    }));
  });
  const accounts = Array.from(
    { length: world.options.accounts },
    (_, index) => `0x${world.account(index).hex}`,
  );
  const token = world.tokens[1]?.hex ?? '';
  const collection = world.collections[2]?.hex ?? '';

  /** What was moved of a token, and what everybody had at the beginning, as of the first block. */
  const movesOf = (contract: string) => [
    ...accounts.map((to) => ({ height: 1, from: zero, to, amount: genesisBalance })),
    ...txs.flatMap(({ height, plan }) =>
      transfersOf(plan)
        .filter((transfer) => transfer.token === contract)
        .map(({ from, to, amount }) => ({ height, from: `0x${from}`, to: `0x${to}`, amount })),
    ),
  ];
  const artMoves = txs
    .filter(({ plan }) => plan.contract.hex === collection)
    .filter(({ plan }) => plan.kind === 'mint' || plan.kind === 'nft_transfer')
    .map(({ height, plan }) => ({
      height,
      from: plan.kind === 'mint' ? zero : `0x${plan.signer.hex}`,
      to: `0x${plan.other.hex}`,
      amount: 1n,
    }));

  const faults = { seed: 5, fail_one_in: 6, stale_one_in: 13 };
  const services = followBefore({ recording: chain, faults }, async (node) => {
    const started = await startFactServices(node, 'evm', { RECONCILE_INTERVAL_MS: '0' });
    await started.reaches(blocks);
    return started;
  });

  const rules = [
    { kind: 'transactions', name: 'sent' },
    {
      kind: 'transactions',
      name: 'calls_sent',
      msg_types: ['minievm.evm.v1.MsgCall'],
      only_successful: false,
    },
    { kind: 'gas_used', name: 'gas' },
    { kind: 'calls', name: 'called', contracts: [`0x${token}`], selectors: ['transfer(address,uint256)'] },
    { kind: 'volume', name: 'moved', denom: 'GAS', direction: 'both' },
    { kind: 'volume', name: 'spent', denom: `evm/${token}`, direction: 'sent' },
    { kind: 'holdings', name: 'gas_end', denom: 'gas', at: 'end' },
    { kind: 'holdings', name: 'gas_average', denom: 'GAS', at: 'average' },
    { kind: 'holdings', name: 'average', denom: `0x${token}`, at: 'average' },
    { kind: 'nfts', name: 'art_end', collection: `0x${collection}`, at: 'end' },
    { kind: 'nfts', name: 'art_average', collection: `0x${collection}`, at: 'average' },
  ] as const;

  /** What every rule measures, on paper. */
  function onPaper({ from_height, to_height, start_time, end_time }: ScoreWindow): Map<string, Measure> {
    const some = txs.filter(({ height }) => height >= from_height && height <= to_height);
    const good = some.filter(({ code }) => code === 0);
    const [start, end] = [BigInt(start_time) * 1_000_000_000n, BigInt(end_time) * 1_000_000_000n];
    const by = (each: typeof some, value: (tx: (typeof some)[number]) => bigint) =>
      sumBy(each, (tx) => [[tx.signers?.[0] ?? '', value(tx)]]);
    const averaged = (of: Map<string, Fraction>) =>
      new Map([...of].map(([account, [sum]]) => [account, sum]));
    const values: Record<(typeof rules)[number]['name'], Map<string, bigint>> = {
      sent: by(good, () => 1n),
      calls_sent: by(
        some.filter(({ msgs }) => msgs?.includes('minievm.evm.v1.MsgCall')),
        () => 1n,
      ),
      gas: by(good, ({ gas_used }) => gas_used),
      called: by(
        good.filter(({ messages }) =>
          callsIn(messages).some(
            ({ contract_addr, input }) =>
              contract_addr?.toLowerCase() === `0x${token}` && input?.startsWith('0xa9059cbb'),
          ),
        ),
        () => 1n,
      ),
      moved: volumesIn(movesOf(native), from_height, to_height, 'both'),
      spent: volumesIn(movesOf(token), from_height, to_height, 'sent'),
      gas_end: balancesAt(movesOf(native), to_height),
      gas_average: averaged(averagesIn(movesOf(native), times, start, end)),
      average: averaged(averagesIn(movesOf(token), times, start, end)),
      art_end: balancesAt(artMoves, to_height),
      art_average: averaged(averagesIn(artMoves, times, start, end)),
    };
    return new Map(
      Object.entries(values).map(([name, sums]) => {
        const denominator = name.endsWith('average') ? end - start : 1n;
        const positive = [...sums].filter(([, value]) => value > 0n);
        return [
          name,
          {
            values: new Map(positive.map(([account, value]) => [account.slice(2), value] as const)),
            denominator,
            left_out: 0,
          },
        ];
      }),
    );
  }

  const parse = (policy: object) =>
    parsePolicy(JSON.stringify({ version: 1, name: 'p', ...policy }), { from: 'p', account_prefix: 'init' });
  const sorted = ({ values, ...measure }: Measure) => ({ ...measure, values: [...values].sort() });

  it('measure what they measure on paper, rule by rule, and give the scores on paper', async () => {
    const first = Number((times.get(1) as bigint) / 1_000_000_000n);
    for (let seed = 1; seed <= 8; seed++) {
      const random = randomFrom(seed);
      const start_time = first + 2 + random.integer(blocks / 2);
      const end_time = start_time + 1 + random.integer(first + blocks - start_time - 2);
      const weighted = rules.map((rule) => ({
        ...rule,
        weight: `${1 + random.integer(9)}.${random.integer(100)}1`,
        divisor: String(
          {
            gas: 10_000n,
            moved: 10n ** 18n,
            gas_end: 10n ** 22n,
            gas_average: 10n ** 23n,
            average: 10n ** 22n,
          }[rule.name as string] ?? (rule.name === 'spent' ? 10n ** 11n : 1n + BigInt(random.integer(4))),
        ),
        ...(random.oneIn(3) ? { cap: 40 } : {}),
      }));
      const policy = parse({ rules: weighted, exclude: accounts.slice(0, 2), minimum: 20, cap: 300 });
      const state = await findWindow(policy, { stage: 9n, start_time, end_time }, services.clients, signal);
      assert.ok(state.kind === 'complete');
      const { window } = state;
      const inside = (height: number): boolean => {
        const time = times.get(height) as bigint;
        return time >= BigInt(start_time) * 1_000_000_000n && time < BigInt(end_time) * 1_000_000_000n;
      };
      assert.deepEqual(
        heights.filter((height) => height >= window.from_height && height <= window.to_height),
        heights.filter(inside),
      );
      const facts = await gatherFacts(policy, window, services.clients, { account_prefix: 'init', signal });
      const paper = onPaper(window);
      for (const { name } of rules)
        assert.deepEqual(
          sorted(facts.measures.get(name) as Measure),
          sorted(paper.get(name) as Measure),
          `seed ${seed}: ${name}`,
        );
      const { scores } = computeScores(policy, facts);
      const expected = modelScores(policy, { ...facts, measures: paper });
      assert.deepEqual(
        new Map(scores.map(({ address, amount }) => [address, amount])),
        new Map([...expected].sort()),
      );
      assert.ok(scores.length > 5, `${scores.length} scores are too few`);
      for (const { address, amount } of scores.slice(0, 5))
        assert.equal(explain(policy, facts, address, 'init').at(-1)?.amount, amount);
    }
  });

  it('are those of the new chain after a rollback, and never of a mixture', async () => {
    const policy = parse({ rules: [rules[0], rules[2], rules[7], rules[10]] });
    const options = { account_prefix: 'init', signal, wait_ms: 50, attempts: 12 };
    const seconds = (height: number): number => Number((times.get(height) as bigint) / 1_000_000_000n);
    const window = {
      stage: 9n,
      start_time: seconds(20),
      end_time: seconds(50),
      from_height: 20,
      to_height: 49,
    };
    const before = await gatherFacts(policy, window, services.clients, options);
    // The chain is cut back into the window, and goes on without txs.
    services.node.faults({});
    services.node.fork(40, { tip: blocks + 2 });
    const seen = new Set<string>();
    const deadline = Date.now() + 30_000;
    for (let hash = before.to_hash; hash === before.to_hash && Date.now() < deadline; ) {
      try {
        const facts = await gatherFacts(policy, window, services.clients, options);
        hash = facts.to_hash;
        const counted = [...(facts.measures.get('sent')?.values.values() ?? [])].reduce((a, b) => a + b, 0n);
        seen.add(`${hash} ${counted}`);
      } catch (error) {
        assert.ok(error instanceof RpcError, String(error));
        assert.ok(
          [status.ABORTED, status.OUT_OF_RANGE, status.UNAVAILABLE].includes(error.code),
          error.message,
        );
      }
    }
    const count = (last: number): number =>
      txs.filter(({ height, code }) => code === 0 && height >= 20 && height <= last).length;
    const states = [...seen].map((each) => each.split(' ')[1]);
    assert.deepEqual(
      states.filter((each) => each !== String(count(49))),
      [String(count(39))],
      [...seen].join(),
    );
  });

  it('read long windows in parts that end with blocks', async () => {
    const { tx } = services.clients;
    const through: number[] = [];
    let [count, last] = [0, 0];
    for await (const part of stream(tx).streamActivity({ from_height: 1, to_height: 39 })) {
      for (const { height } of part.txs) {
        assert.ok(height > (through.at(-1) ?? 0) && height <= part.through_height && height >= last);
        [count, last] = [count + 1, height];
      }
      through.push(part.through_height);
    }
    assert.equal(count, 39 * 7);
    assert.equal(through.at(-1), 39);
  });
});
