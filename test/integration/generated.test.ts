import assert from 'node:assert/strict';
import { describeGenerated, generateChain, type TxTruth } from '../../tools/replay/generate.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { type Stack, startStack } from '../support/stack.js';
import { type ListAnswer, walkForward } from '../support/walk.js';

type TxList = ListAnswer & {
  readonly txs: readonly { readonly txhash: string; readonly height: string; readonly code: number }[];
};
type EvmList = ListAnswer & { readonly txs: readonly { readonly transactionHash: string }[] };

const blocks = 60;

describe('a chain that nobody has recorded, from a node of which one request in five fails', () => {
  const chain = generateChain({ blocks, txs_per_block: 6, accounts: 40, seed: 99 });
  const truth: (TxTruth & { height: number })[] = [];
  for (let height = 1; height <= blocks; height++) {
    truth.push(...describeGenerated(chain, height).map((tx) => ({ ...tx, height })));
  }
  const newestFirst = [...truth].reverse();
  let node: ReplayNode;
  let stack: Stack;
  before(async function start() {
    this.timeout(60_000);
    node = await startReplayNode({ recording: chain, faults: { seed: 3, fail_one_in: 5, stale_one_in: 11 } });
    stack = await startStack(node);
    await stack.reaches(blocks, true);
  });
  after(async () => {
    await stack?.stop();
    await node?.close();
  });

  it('gives every tx exactly, in order', async () => {
    const pages = (await walkForward(stack, '/indexer/tx/v1/txs', 100)) as TxList[];
    assert.deepEqual(
      pages.flatMap((page) => page.txs.map(({ txhash, height, code }) => [txhash, Number(height), code])),
      newestFirst.map(({ hash, height, code }) => [hash, height, code]),
    );
    assert.equal(pages[0]?.pagination.total, String(truth.length));
  });

  it('gives every receipt, in order', async () => {
    const pages = (await walkForward(stack, '/indexer/tx/v1/evm-txs', 100)) as EvmList[];
    const expected = newestFirst.flatMap(({ eth_hash }) => (eth_hash === null ? [] : [eth_hash]));
    assert.deepEqual(
      pages.flatMap((page) => page.txs.map((tx) => tx.transactionHash)),
      expected,
    );
  });

  it('gives the txs of every account, all and signed ones', async () => {
    const accounts = new Set(truth.flatMap((tx) => tx.accounts));
    assert.ok(accounts.size > 20);
    for (const account of accounts) {
      for (const [query, expected] of [
        ['', newestFirst.filter((tx) => tx.accounts.includes(account))],
        ['?is_signer=true', newestFirst.filter((tx) => tx.signers.includes(account))],
      ] as const) {
        const pages = (await walkForward(
          stack,
          `/indexer/tx/v1/txs/by_account/${account}${query}`,
          1000,
        )) as TxList[];
        assert.deepEqual(
          pages.flatMap((page) => page.txs.map((tx) => tx.txhash)),
          expected.map((tx) => tx.hash),
          `${account}${query}`,
        );
        assert.equal(pages[0]?.pagination.total, String(expected.length));
      }
    }
  }).timeout(60_000);

  it('gives the txs of every message type', async () => {
    for (const type of new Set(truth.flatMap((tx) => tx.msgs))) {
      const expected = newestFirst.filter((tx) => tx.msgs.includes(type));
      const pages = (await walkForward(stack, `/indexer/tx/v1/txs?msgs=${type}`, 50)) as TxList[];
      assert.deepEqual(
        pages.flatMap((page) => page.txs.map((tx) => tx.txhash)),
        expected.map((tx) => tx.hash),
      );
    }
  });
});
