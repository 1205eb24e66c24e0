import assert from 'node:assert/strict';
import { status } from '@grpc/grpc-js';
import { BlockServiceService } from '../../services/common/gen/indexer/block/v1/block.js';
import { NftServiceService } from '../../services/common/gen/indexer/nft/v1/nft.js';
import { RichlistServiceService } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import type { TxActivity } from '../../services/common/gen/indexer/tx/v1/activity.js';
import { TxServiceService } from '../../services/common/gen/indexer/tx/v1/tx.js';
import type { CallContext } from '../../services/common/rpc/context.js';
import { connectLocal } from '../../services/common/rpc/local.js';
import { streaming, unary } from '../../services/common/rpc/server.js';
import { invalidArgument, notFound, RpcError } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import type { FactClients } from '../../services/scoring-operator/policy/gather/clients.js';
import { type GatherOptions, gatherFacts } from '../../services/scoring-operator/policy/gather/gather.js';
import { policyWith } from '../support/scoring-model.js';

const environment = { log: createLog('silent'), metrics: createMetrics() };
const account = (n: number): string => `0x${String(n).repeat(40)}`;
const window = { stage: 1n, start_time: 0, end_time: 100, from_height: 11, to_height: 20 };

interface Window {
  readonly from_height: number;
  readonly to_height: number;
}

type Answers = (request: never, call: CallContext) => unknown;

/** Services that answer well about a chain of 30 blocks, one tx each, with what a test wants otherwise. */
function fakes(instead: Readonly<Record<string, Answers>> = {}) {
  const asked: string[] = [];
  const hash = (height: number): string => `H${height}`;
  const head = { height: 30, hash: hash(30) };
  const usual: Record<string, Answers> = {
    'block.listBlockHashes': ({ from_height }: { from_height: number }) => ({
      blocks: from_height > 30 ? [] : [{ height: from_height, hash: hash(from_height) }],
    }),
    'block.listBlockTimes': ({ from_height, to_height }: Window) => ({
      blocks: Array.from({ length: to_height - from_height + 1 }, (_, index) => ({
        height: from_height + index,
        seconds: (from_height + index) * 2,
        nanos: 0,
      })),
    }),
    'tx.getStatus': () => ({ ...head, internal_tx_height: 0 }),
    'richlist.getStatus': () => ({ rich_list_height: 30, first_height: 1, hash: hash(30) }),
    'nft.getStatus': () => ({ ...head, details_height: 0, details_pending: 0, details_failed: 0 }),
    'tx.streamActivity': well,
    'richlist.streamHolders': async function* () {
      yield { holders: [{ account: account(1), amount: '100' }] };
    },
    'richlist.streamChanges': async function* ({ from_height, to_height }: Window) {
      if (from_height <= 15 && to_height >= 15)
        yield { changes: [{ account: account(1), height: 15, amount: '0', is_heal: false }] };
    },
    'nft.streamCollectionTokens': async function* () {
      yield { tokens: [{ token_id: '1', owner: account(1) }] };
    },
    'nft.streamChanges': async function* () {},
  };
  const handlerOf = (name: string, isStream: boolean) => {
    const handler = (request: never, call: CallContext): unknown => {
      asked.push(name);
      const answer = instead[name] ?? usual[name];
      return answer?.(request, call) ?? assert.fail(`${name} is not expected`);
    };
    if (isStream) return streaming(environment, handler as never);
    return unary(environment, (async (request: never, call: CallContext) => handler(request, call)) as never);
  };
  const client = (name: string, definition: object) => {
    const handlers = Object.entries(definition).map(([method, { responseStream }]) => [
      method,
      handlerOf(`${name}.${method}`, responseStream),
    ]);
    return connectLocal({
      definition: definition as never,
      implementation: Object.fromEntries(handlers) as never,
    });
  };
  const clients = {
    block: client('block', BlockServiceService),
    tx: client('tx', TxServiceService),
    richlist: client('richlist', RichlistServiceService),
    nft: client('nft', NftServiceService),
  } as unknown as FactClients;
  const count = (name: string): number => asked.filter((each) => each === name).length;
  return { clients, asked, count };
}

const activity = (height: number): TxActivity => ({
  height,
  position: 0,
  signers: [account(1)],
  code: 0,
  gas_used: '1',
  msgs: [],
  calls: [],
});
const part = (height: number) => ({ txs: [activity(height)], through_height: height });

const gather = (
  rules: readonly object[],
  clients: FactClients,
  more: Partial<GatherOptions> = {},
  heights: Partial<Window> = {},
) =>
  gatherFacts(policyWith(rules), { ...window, ...heights }, clients, {
    ...{ account_prefix: 'init', signal: new AbortController().signal, wait_ms: 1 },
    ...more,
  });

const sent = { kind: 'transactions', name: 'sent' };
const held = { kind: 'holdings', name: 'held', denom: 'GAS', at: 'average' };
const art = { kind: 'nfts', name: 'art', collection: account(9), at: 'average' };
const sentIn = async (instead: Readonly<Record<string, Answers>>): Promise<bigint | undefined> =>
  (await gather([sent], fakes(instead).clients)).measures.get('sent')?.values.get('1'.repeat(40));

/** Answers that differ from call to call; the last one stays. */
const inTurn = (...answers: readonly Answers[]): Answers => {
  let turn = 0;
  return (request, call) => answers[Math.min(turn++, answers.length - 1)]?.(request, call);
};

/** A stream that sends some blocks and then fails, or just ends. */
const brokenAfter = (count: number, error?: Error): Answers =>
  async function* ({ from_height }: { from_height: number }) {
    for (let height = from_height; height < from_height + count; height++) yield part(height);
    if (error !== undefined) throw error;
  } as never;

const well: Answers = async function* ({ from_height, to_height }: Window) {
  for (let height = from_height; height <= to_height; height++) yield part(height);
} as never;

describe('facts', () => {
  it('are read from those services alone that the rules need', async () => {
    for (const [rule, others] of [
      [sent, ['richlist', 'nft']],
      [held, ['tx', 'nft']],
      [art, ['tx', 'richlist']],
    ] as const) {
      const { clients, asked } = fakes();
      const facts = await gather([rule], clients);
      assert.equal(facts.measures.get(rule.name)?.values.size, 1);
      assert.equal(facts.to_hash, 'H20');
      for (const other of others) assert.ok(!asked.some((each) => each.startsWith(other)), asked.join());
    }
  });

  it('of several rules about one denom, and of all about transactions, are read once', async () => {
    const { clients, count } = fakes();
    await gather(
      [sent, { ...sent, name: 'more' }, held, { kind: 'volume', name: 'v', denom: 'GAS', direction: 'both' }],
      clients,
    );
    assert.equal(count('tx.streamActivity'), 1);
    assert.equal(count('richlist.streamHolders'), 1);
    assert.equal(count('richlist.streamChanges'), 1);
  });

  it('weigh balances by the times of blocks', async () => {
    const { measures } = await gather([held], fakes().clients);
    // 100 until block 15, at second 30 of 100.
    assert.equal(measures.get('held')?.values.get('1'.repeat(40)), 100n * 30n * 1_000_000_000n);
    assert.equal(measures.get('held')?.denominator, 100n * 1_000_000_000n);
  });

  it('never ask for height 0, which means the latest', async () => {
    const { clients } = fakes({
      'richlist.streamHolders': async function* ({ height }: { height: number }) {
        assert.ok(height > 0);
        yield { holders: [] };
      },
    });
    for (const [from_height, to_height, hash] of [
      [1, 0, ''],
      [1, 5, 'H5'],
      [2, 1, 'H1'],
    ] as const) {
      const facts = await gather([held, art], clients, {}, { from_height, to_height });
      assert.equal(facts.to_hash, hash);
    }
  });

  const gone = new RpcError(status.UNAVAILABLE, 'gone');
  const rolledBack = new RpcError(status.ABORTED, 'rolled back');
  for (const [what, answers] of [
    ['breaks', [brokenAfter(4, gone), well]],
    ['breaks before anything came', [brokenAfter(0, gone), well]],
    ['ends too early without saying so', [brokenAfter(4), brokenAfter(2), well]],
    ['is of a chain that is rolled back', [brokenAfter(7, rolledBack), well]],
  ] as const) {
    it(`count every tx once when the stream ${what}`, async () => {
      assert.equal(await sentIn({ 'tx.streamActivity': inTurn(...answers) }), 10n);
    });
  }

  it('are read again until every service has the chain of the block service', async () => {
    const status_ = (hash: string) => () => ({ height: 30, hash, internal_tx_height: 0 });
    const { clients, count } = fakes({
      // Differs before the first reading, and after the second.
      'tx.getStatus': inTurn(status_('X'), status_('H30'), status_('X'), status_('H30')),
    });
    const retried: string[] = [];
    await gather([sent], clients, { onRetry: (error) => retried.push(String(error)) });
    assert.equal(count('tx.streamActivity'), 2);
    assert.equal(retried.length, 2);
    assert.match(retried[0] ?? '', /the tx service has another block 30/);
  });

  it('are read again when the last block of the window has become another one', async () => {
    let readings = 0;
    const { clients } = fakes({
      'tx.streamActivity': (request, call) => {
        readings += 1;
        return well(request, call);
      },
      'block.listBlockHashes': ({ from_height }: { from_height: number }) => ({
        blocks: [
          { height: from_height, hash: from_height === 20 && readings > 0 ? 'other' : `H${from_height}` },
        ],
      }),
    });
    assert.equal((await gather([sent], clients)).to_hash, 'other');
    assert.equal(readings, 2);
  });

  const behind = { height: 20, hash: 'H20', internal_tx_height: 0 };
  for (const [what, instead, message] of [
    [
      'a service is not past the window',
      { 'tx.getStatus': () => behind },
      /the tx service is at block 20, and the stage ends with 20/,
    ],
    ['a service stays away', { 'tx.streamActivity': brokenAfter(0, gone) }, /gone/],
  ] as const) {
    it(`are not worked out when ${what}, however often it is tried`, async () => {
      let tries = 0;
      const options = { attempts: 2, onRetry: () => (tries += 1) };
      await assert.rejects(gather([sent], fakes(instead).clients, options as never), message);
      assert.equal(tries, 1);
    }).timeout(30_000);
  }

  const unknown = notFound('denom "GAS" is not known');
  const late = { rich_list_height: 30, first_height: 11, hash: 'H30' };
  for (const [what, rule, instead, message] of [
    [
      'the denom is not known',
      held,
      { 'richlist.streamHolders': brokenAfter(0, unknown) },
      /^ScoringError: the denom "GAS" of the rules held: denom "GAS" is not known/,
    ],
    [
      'balances before the window are not known',
      held,
      { 'richlist.getStatus': () => late },
      /^ScoringError: balances are known from block 11 on, and the stage begins with block 11/,
    ],
    ['the question is wrong', sent, { 'tx.streamActivity': brokenAfter(0, invalidArgument('no')) }, /no/],
  ] as const) {
    it(`are given up at once when ${what}`, async () => {
      const options = { onRetry: () => assert.fail('tried again') };
      await assert.rejects(gather([rule], fakes(instead).clients, options), message);
    });
  }

  for (const [method, rule] of [
    ['tx.streamActivity', sent],
    ['richlist.streamHolders', held],
    ['richlist.streamChanges', held],
    ['nft.streamCollectionTokens', art],
    ['nft.streamChanges', art],
  ] as const) {
    it(`are never what ${method} had brought until they were no longer wanted`, async () => {
      const controller = new AbortController();
      const { clients, count } = fakes({
        [method]: async function* () {
          if (method === 'tx.streamActivity') yield part(11);
          controller.abort(new Error('enough'));
          await new Promise(() => {});
        } as never,
      });
      await assert.rejects(gather([rule], clients, { signal: controller.signal }), /enough/);
      assert.equal(count('block.listBlockHashes'), 3, 'the check after a reading was begun');
    });
  }
});
