import assert from 'node:assert/strict';
import { readFacts } from '../support/facts.js';
import { forEach } from '../support/few-at-a-time.js';
import { type Call, readChain } from '../support/recorded-chain.js';
import { recordedStack } from '../support/recorded-stack.js';
import { startStack } from '../support/stack.js';
import { followBefore, startBefore } from '../support/suite.js';
import type { ListAnswer } from '../support/walk.js';
import { checkWalks, checkWhole } from '../support/walked-list.js';

type Receipt = Readonly<Record<string, unknown>>;
interface Frame {
  readonly height: number;
  readonly hash: string;
  readonly index: number;
  readonly from: string;
  readonly to: string;
  readonly [member: string]: unknown;
}

const facts = readFacts('evm');
const chain = readChain('evm');
const heights = Array.from({ length: facts.height }, (_, i) => i + 1);
const noHash = '0'.repeat(64);

/** Every receipt as the node gave it, plus the time of its block; oldest first. */
const receipts: readonly Receipt[] = heights.flatMap((height) =>
  (chain.receipts.get(height) ?? []).map((receipt) => ({ ...receipt, timestamp: chain.times.get(height) })),
);

/** Every call frame, oldest first: by block, by tx, by a walk that visits a caller before its callees. */
const frames: readonly Frame[] = heights.flatMap((height) =>
  (chain.traces.get(height) ?? []).flatMap(({ txHash, result }) => framesOf(height, txHash, result)),
);

function framesOf(height: number, hash: string, top: Call): Frame[] {
  const found: Frame[] = [];
  const visit = (call: Call, parent_index: number): void => {
    const index = found.length;
    const { type, from, to = '', input, output = '0x', value = '0x', gas, gasUsed } = call;
    found.push({
      ...{ height, hash, parent_index, index, type, input, output, value, gas, gasUsed },
      from: from as string,
      to: to as string,
    });
    for (const callee of call.calls ?? []) visit(callee, index);
  };
  visit(top, -1);
  return found;
}

/** Accounts that a receipt names: from, to, contractAddress, and the logs' addresses and account-like topics. */
function accountsOf(receipt: Receipt): Set<string> {
  const logs = receipt['logs'] as { address: string; topics: string[] }[];
  const inTopics = logs.flatMap(({ topics }) =>
    topics.filter((topic) => topic.startsWith(`0x${'0'.repeat(24)}`)).map((topic) => `0x${topic.slice(26)}`),
  );
  const named = [receipt['from'], receipt['to'], receipt['contractAddress']];
  const all = [...named, ...logs.map(({ address }) => address), ...inTopics];
  return new Set(
    all.filter((address) => typeof address === 'string').map((address) => address.toLowerCase()),
  );
}

/** Items by each account that `accounts` finds in them. */
function byAccount<T>(items: readonly T[], accounts: (item: T) => Iterable<string>): Map<string, T[]> {
  const found = new Map<string, T[]>();
  for (const item of items) {
    for (const account of new Set(accounts(item))) {
      found.set(account, [...(found.get(account) ?? []), item]);
    }
  }
  return found;
}

/** The accounts of the longest lists. */
const busiest = <T>(lists: Map<string, T[]>, count: number): [string, T[]][] =>
  [...lists].sort(([, a], [, b]) => b.length - a.length).slice(0, count);

describe('the receipts and the call frames of the EVM recording', () => {
  const receiptsBy = byAccount(receipts, accountsOf);
  const framesBy = byAccount(frames, ({ from, to }) => [from, to].filter((account) => account !== ''));
  const txs = '/indexer/tx/v1/evm-txs';
  const internal = '/indexer/tx/v1/evm-internal-txs';
  const stack = startBefore(() => recordedStack('evm'));

  it('are worth comparing with', () => {
    assert.equal(receipts.length, facts.evm_txs_total);
    assert.ok(receipts.some((receipt) => receipt['to'] === null && receipt['contractAddress'] === null));
    assert.ok(
      frames.some((frame) => frame['value'] === '0x') && frames.some(({ type }) => type === 'CREATE'),
    );
    const failed = new Set(
      receipts.filter(({ status }) => status === '0x0').map((r) => r['transactionHash']),
    );
    assert.ok(frames.some(({ hash }) => failed.has(hash)));
  });

  it('has every receipt by its hash, however the hash is written', async () => {
    await forEach(receipts, async (receipt) => {
      assert.deepEqual(await stack.get(`${txs}/${receipt['transactionHash']}`), { tx: receipt });
    });
    const hash = receipts[7]?.['transactionHash'] as string;
    for (const spelling of [hash.slice(2), hash.toUpperCase(), hash.slice(2).toUpperCase()]) {
      assert.deepEqual(await stack.get(`${txs}/${spelling}`), { tx: receipts[7] });
    }
  });

  it('keeps the bytes of a receipt', async () => {
    const receipt = receipts.find(({ status }) => status === '0x0');
    const answer = await fetch(`${stack.url}${txs}/${receipt?.['transactionHash']}`);
    assert.equal(await answer.text(), JSON.stringify({ tx: receipt }));
  });

  it('lists all receipts, newest and oldest first, forward and back', async () => {
    await checkWalks(stack, { path: txs, member: 'txs', items: receipts }, 19);
  });

  it('has the receipts of every block, newest first', async () => {
    await forEach(heights, async (height) => {
      const items = receipts.filter(({ blockNumber }) => Number(blockNumber) === height);
      await checkWhole(stack, { path: `${txs}/by_height/${height}`, member: 'txs', items });
    });
    const full = heights.reduce((a, b) =>
      (chain.receipts.get(a) ?? []).length >= (chain.receipts.get(b) ?? []).length ? a : b,
    );
    const items = receipts.filter(({ blockNumber }) => Number(blockNumber) === full);
    assert.ok(items.length > 3);
    await checkWalks(stack, { path: `${txs}/by_height/${full}`, member: 'txs', items }, 3);
    await checkWhole(stack, { path: `${txs}/by_height/${facts.height + 1}`, member: 'txs', items: [] });
  });

  it('has the receipts of every account that one names', async () => {
    assert.ok(receiptsBy.size > 30);
    await forEach(receiptsBy, ([account, items]) =>
      checkWhole(stack, { path: `${txs}/by_account/${account}`, member: 'txs', items }),
    );
    for (const [account, items] of busiest(receiptsBy, 3)) {
      await checkWalks(stack, { path: `${txs}/by_account/${account}`, member: 'txs', items }, 30);
    }
  });

  it('has the receipts that an account signed', async () => {
    const signed = byAccount(receipts, (receipt) => [receipt['from'] as string]);
    await forEach(receiptsBy.keys(), (account) =>
      checkWhole(stack, {
        path: `${txs}/by_account/${account}?is_signer=true`,
        member: 'txs',
        items: signed.get(account) ?? [],
      }),
    );
    for (const [account, items] of busiest(signed, 2)) {
      await checkWalks(stack, { path: `${txs}/by_account/${account}?is_signer=1`, member: 'txs', items }, 7);
    }
  });

  it('takes bech32 for the same accounts', async () => {
    for (const { bech32, hex } of facts.accounts as { bech32: string; hex: string }[]) {
      const items = receiptsBy.get(hex.toLowerCase()) ?? [];
      await checkWhole(stack, { path: `${txs}/by_account/${bech32}`, member: 'txs', items });
      const calls = framesBy.get(hex.toLowerCase()) ?? [];
      await checkWhole(stack, {
        path: `${internal}/by_account/${bech32}`,
        member: 'internal_txs',
        items: calls,
      });
    }
  });

  it('lists all frames, newest and oldest first, forward and back', async () => {
    await checkWalks(stack, { path: internal, member: 'internal_txs', items: frames }, 101);
  });

  it('has the frames of every tx', async () => {
    await forEach(receipts, async ({ transactionHash: hash }) => {
      const items = frames.filter((frame) => frame.hash === hash);
      assert.ok(items.length > 0);
      await checkWhole(stack, { path: `${internal}/${hash}`, member: 'internal_txs', items });
    });
    const [hash, items] = busiest(
      byAccount(frames, (frame) => [frame.hash]),
      1,
    )[0] as [string, Frame[]];
    await checkWalks(stack, { path: `${internal}/${hash}`, member: 'internal_txs', items }, 8);
  });

  it('has the frames of a block', async () => {
    await forEach([1, 6, 110, ...heights.filter((height) => height % 4 === 0)], async (height) => {
      const items = frames.filter((frame) => frame.height === height);
      await checkWhole(stack, { path: `${internal}/by_height/${height}`, member: 'internal_txs', items });
    });
    const { height } = frames[200] as Frame;
    const items = frames.filter((frame) => frame.height === height);
    await checkWalks(stack, { path: `${internal}/by_height/${height}`, member: 'internal_txs', items }, 2);
  });

  it('has the frames from or to every account, and those from it', async () => {
    assert.ok(framesBy.size > 20);
    await forEach(framesBy, async ([account, items]) => {
      const path = `${internal}/by_account/${account}`;
      await checkWhole(stack, { path, member: 'internal_txs', items });
      const sent = items.filter(({ from }) => from === account);
      await checkWhole(stack, { path: `${path}?is_signer=true`, member: 'internal_txs', items: sent });
    });
    for (const [account, items] of busiest(framesBy, 2)) {
      const path = `${internal}/by_account/${account}`;
      await checkWalks(stack, { path, member: 'internal_txs', items }, 150);
    }
  });

  it('lets the logs of a tx decide evm-txs/by_account only, and its calls the frames only', async () => {
    const onlyInLogs = [...receiptsBy.keys()].find((account) => !framesBy.has(account));
    const onlyInCalls = [...framesBy.keys()].find((account) => !receiptsBy.has(account));
    assert.ok(onlyInLogs && onlyInCalls);
    const member = 'internal_txs';
    await checkWhole(stack, { path: `${internal}/by_account/${onlyInLogs}`, member, items: [] });
    await checkWhole(stack, { path: `${txs}/by_account/${onlyInCalls}`, member: 'txs', items: [] });
  });

  it('counts offsets in the order asked for, and no total when none is wanted', async () => {
    for (const [path, member, items] of [
      [txs, 'txs', receipts],
      [internal, 'internal_txs', frames],
    ] as const) {
      for (const offset of [0, 1, 77, items.length - 1, items.length, items.length + 9]) {
        const query = `pagination.offset=${offset}&pagination.limit=4&pagination.count_total=false`;
        const down = await stack.get<Record<string, unknown> & ListAnswer>(`${path}?${query}`);
        assert.deepEqual(down[member], items.toReversed().slice(offset, offset + 4));
        assert.equal(down.pagination.total, '0');
        assert.equal(down.pagination.next_key !== '', offset + 4 < items.length);
        const up = await stack.get<Record<string, unknown>>(`${path}?${query}&pagination.reverse=false`);
        assert.deepEqual(up[member], items.slice(offset, offset + 4));
      }
    }
  });

  it('keeps Cosmos and Ethereum hashes apart, and answers 404 for what neither is', async () => {
    const ethereum = receipts[5]?.['transactionHash'] as string;
    for (const cosmos of [facts.txs[0]?.hash, facts.txs.at(-1)?.hash, noHash]) {
      for (const route of [txs, internal]) {
        const { code } = await stack.get<{ code: number }>(`${route}/${cosmos}`, 404);
        assert.equal(code, 5);
      }
    }
    await stack.get(`/indexer/tx/v1/txs/${ethereum}`, 404);
    await stack.get(`/indexer/tx/v1/txs/${ethereum.slice(2).toUpperCase()}`, 404);
  });
});

describe('an EVM rollup whose node has no traces', () => {
  const stack = followBefore({ recording: 'evm', faults: { traces: 'unsupported' } }, async (node) => {
    const started = await startStack(node);
    await started.reaches(facts.height);
    return started;
  });

  it('has empty lists of frames, and everything else', async () => {
    const hash = receipts[0]?.['transactionHash'] as string;
    const account = receipts[20]?.['from'] as string;
    const member = 'internal_txs';
    for (const route of ['', `/by_account/${account}`, '/by_height/63', `/${hash}`]) {
      await checkWhole(stack, { path: `/indexer/tx/v1/evm-internal-txs${route}`, member, items: [] });
    }
    await stack.get(`/indexer/tx/v1/evm-internal-txs/${noHash}`, 404);
    await checkWhole(stack, { path: '/indexer/tx/v1/evm-txs', member: 'txs', items: receipts });
    const status = await stack.get<{ height: number; internal_tx_height: number }>('/status');
    assert.deepEqual([status.height, status.internal_tx_height], [facts.height, 0]);
  });
});
