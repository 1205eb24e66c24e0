import assert from 'node:assert/strict';
import type { RichlistServiceClient } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import { callRpc } from '../../services/common/rpc/client.js';
import { native } from '../../tools/replay/generate/ledger.js';
import { describeGenerated, generateChain, type TxTruth } from '../../tools/replay/generate.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { eventually } from '../support/block.js';
import { startProgram } from '../support/program.js';
import { isThorough } from '../support/sample.js';
import { startStack } from '../support/stack.js';
import { expectViews } from '../support/views.js';
import { type ListAnswer, walkForward } from '../support/walk.js';

type TxList = ListAnswer & {
  readonly txs: readonly { readonly txhash: string; readonly height: string; readonly code: number }[];
};
type EvmList = ListAnswer & { readonly txs: readonly { readonly transactionHash: string }[] };

const blocks = 60;

/** What answers, and how to end it. */
interface Served {
  readonly richlist: RichlistServiceClient;
  get<T = Record<string, unknown>>(path: string): Promise<T>;
  stop(): Promise<unknown>;
}

/** Every service in this process. */
async function undisturbed(node: ReplayNode): Promise<Served> {
  const stack = await startStack(node);
  await stack.reaches(blocks, true);
  await expectViews(stack.addresses);
  return stack;
}

/** The program, killed with SIGKILL three times while it is behind the node's tip. */
async function killedThrice(node: ReplayNode): Promise<Served> {
  node.setTip(blocks / 4);
  const program = await startProgram(node, { FETCH_CONCURRENCY: '2', TRACE_CONCURRENCY: '1' });
  for (const share of [1, 2, 3]) {
    const served = Math.floor(((share - 0.5) * blocks) / 4);
    await eventually(async () => (await program.heights()).height >= served, `block ${served}`, 60_000);
    node.setTip(((share + 1) * blocks) / 4);
    await program.killAndRestart();
  }
  const isThere = async (): Promise<boolean> => {
    const { height, internal_tx_height } = await program.heights();
    return height >= blocks && internal_tx_height >= blocks;
  };
  await eventually(isThere, `block ${blocks}`, 60_000);
  return program;
}

const ways = [
  ['from a node of which one request in five fails', undisturbed],
  ['the same, by a program that is killed three times on the way', killedThrice],
] as const;
for (const [what, start] of isThorough ? ways : ways.slice(0, 1)) {
  describe(`a chain that nobody has recorded, ${what}`, () => exactly(start));
}

function exactly(start: (node: ReplayNode) => Promise<Served>): void {
  // SEED gives another chain.
  const seed = Number(process.env['SEED'] ?? 99);
  const chain = generateChain({ blocks, txs_per_block: 6, accounts: 40, seed });
  const truth: (TxTruth & { height: number })[] = [];
  for (let height = 1; height <= blocks; height++) {
    truth.push(...describeGenerated(chain, height).map((tx) => ({ ...tx, height })));
  }
  const newestFirst = [...truth].reverse();
  let node: ReplayNode;
  let stack: Served;
  before(async function begin() {
    this.timeout(240_000);
    node = await startReplayNode({ recording: chain, faults: { seed: 3, fail_one_in: 5, stale_one_in: 11 } });
    stack = await start(node);
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
  });

  it('gives the holders of every token as the node has them, and every balance at any height', async () => {
    const node_answers = (token: string, account: string, height: number): string => {
      const input = `0x70a08231${account.slice(2).padStart(64, '0')}`;
      return String(BigInt(chain.state.call(token, input, height)?.response ?? '0x0'));
    };
    const accounts = [...new Set(truth.flatMap((tx) => tx.accounts))];
    const tokens = [native, ...chain.world.tokens.map(({ hex }) => hex)].map((hex) => `0x${hex}`);
    for (const token of tokens) {
      const expected = accounts
        .map((account) => ({ account, amount: node_answers(token, account, blocks) }))
        .filter(({ amount }) => amount !== '0')
        .sort((a, b) =>
          a.amount === b.amount
            ? a.account < b.account
              ? -1
              : 1
            : BigInt(a.amount) > BigInt(b.amount)
              ? -1
              : 1,
        );
      const pages = await walkForward(stack, `/indexer/richlist/v1/${token}`, 11);
      // Accounts that no tx touched have what they began with.
      const holders = pages.flatMap((page) => (page as unknown as { holders: typeof expected }).holders);
      const touched = holders.filter(({ account }) => accounts.includes(account));
      assert.deepEqual(touched, expected, token);
      assert.equal(pages[0]?.pagination.total, String(holders.length));
      for (const [index, account] of accounts.entries()) {
        if (index % 5 !== 0) continue;
        const height = 1 + ((index * 7) % blocks);
        const request = { denom: token, account, height };
        const { amount } = await callRpc(stack.richlist.getBalance.bind(stack.richlist), request);
        assert.equal(amount, node_answers(token, account, height), `${token} ${account} at ${height}`);
      }
    }
  });

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
}
