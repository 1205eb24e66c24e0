import assert from 'node:assert/strict';
import type { RichlistServiceClient } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import { native } from '../../tools/replay/generate/ledger.js';
import { describeGenerated, generateChain, type TxTruth } from '../../tools/replay/generate.js';
import type { ReplayNode } from '../../tools/replay/node.js';
import { eventually } from '../support/block.js';
import { checkWalk } from '../support/lists.js';
import { startProgram } from '../support/program.js';
import { ask } from '../support/rpc.js';
import { isThorough } from '../support/sample.js';
import { startStack } from '../support/stack.js';
import { followBefore } from '../support/suite.js';
import { expectViews } from '../support/views.js';
import { walkForward } from '../support/walk.js';
import { listAt } from '../support/walked-list.js';

/** A tx as the API shows it, as far as it is looked at here. */
interface Tx {
  readonly txhash: string;
  readonly height: string;
  readonly code: number;
}

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
  /** Walks a list of txs. @param items what it must hold, oldest first */
  const expectTxs = (path: string, items: readonly TxTruth[], limit: number): Promise<void> => {
    const list = { path, member: 'txs', items: items.map(({ hash }) => hash), shown: (tx: Tx) => tx.txhash };
    return checkWalk(listAt(stack, list), limit, true);
  };
  const faults = { seed: 3, fail_one_in: 5, stale_one_in: 11 };
  const stack = followBefore({ recording: chain, faults }, start);

  it('gives every tx exactly, in order', async () => {
    const items = truth.map(({ hash, height, code }) => [hash, height, code]);
    const shown = ({ txhash, height, code }: Tx) => [txhash, Number(height), code];
    await checkWalk(listAt(stack, { path: '/indexer/tx/v1/txs', member: 'txs', items, shown }), 100, true);
  });

  it('gives every receipt, in order', async () => {
    const items = truth.flatMap(({ eth_hash }) => (eth_hash === null ? [] : [eth_hash]));
    const shown = ({ transactionHash }: { readonly transactionHash: string }) => transactionHash;
    await checkWalk(
      listAt(stack, { path: '/indexer/tx/v1/evm-txs', member: 'txs', items, shown }),
      100,
      true,
    );
  });

  it('gives the txs of every account, all and signed ones', async () => {
    const accounts = new Set(truth.flatMap((tx) => tx.accounts));
    assert.ok(accounts.size > 20);
    for (const account of accounts) {
      const path = `/indexer/tx/v1/txs/by_account/${account}`;
      const named = truth.filter((tx) => tx.accounts.includes(account));
      await expectTxs(path, named, 1000);
      const signed = truth.filter((tx) => tx.signers.includes(account));
      await expectTxs(`${path}?is_signer=true`, signed, 1000);
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
        const { amount } = await ask(stack.richlist).getBalance(request);
        assert.equal(amount, node_answers(token, account, height), `${token} ${account} at ${height}`);
      }
    }
  });

  it('gives the txs of every message type', async () => {
    for (const type of new Set(truth.flatMap((tx) => tx.msgs))) {
      const some = truth.filter((tx) => tx.msgs.includes(type));
      await expectTxs(`/indexer/tx/v1/txs?msgs=${type}`, some, 50);
    }
  });
}
