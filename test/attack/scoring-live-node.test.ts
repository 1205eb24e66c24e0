import assert from 'node:assert/strict';
import { HDNodeWallet, Interface, Wallet } from 'ethers';
import { UserError } from '../../services/common/runtime/errors.js';
import { sleep } from '../../services/common/runtime/lifecycle.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { bridgeOf } from '../../services/scoring-operator/program/open.js';
import type { Program } from '../../services/scoring-operator/program/program.js';
import { runDeployContract } from '../../tools/deploy-contract/cli.js';
import { type Anvil, startAnvil } from '../../tools/dev/anvil.js';
import { createLiveNode, type LiveNode } from '../support/attack/live-node.js';
import { serveRest } from '../support/http-server.js';
import { type RpcProxy, startRpcProxy } from '../support/rpc-proxy.js';
import { type Client, clientOf, deployKind, recordingHooks, scoresOf } from '../support/score-contract.js';

describe('a live EVM node of this family', () => {
  let anvil: Anvil;
  let proxy: RpcProxy;
  let node: LiveNode;
  let address: string;

  beforeEach(async () => {
    anvil = await startAnvil();
    address = await deployKind(anvil, 'ours');
    proxy = await startRpcProxy(anvil.url);
    node = createLiveNode(anvil);
    proxy.meddle = node.answer;
  });
  afterEach(async () => {
    await proxy.stop();
    await anvil.stop();
  });

  const client = (more: Partial<Parameters<typeof clientOf>[2]> = {}): Client =>
    clientOf(proxy.url, address, { private_key: anvil.accounts[0]!.private_key, ...more });
  const send = (own: Client): Promise<void> => own.sender.sendScores(5n, scoresOf(3), recordingHooks());
  const isWritten = async (own: Client): Promise<boolean> => (await own.contract.scores(5n)).length === 3;

  it('names its minimum price only in refusals: that is read, paid, and offered at once from then on', async () => {
    node.minimum_price = 333_333_333n;
    const own = client();
    await send(own);
    assert.ok(await isWritten(own));
    assert.deepEqual(
      node.said.map(({ price }) => price),
      [0n, node.minimum_price],
    );
    await own.sender.sendScores(5n, [{ ...scoresOf(1)[0]!, amount: 9n }], recordingHooks());
    assert.deepEqual(
      node.said.map(({ price }) => price),
      [0n, node.minimum_price, node.minimum_price],
    );
  });
  it('asks for more than may be paid: nothing is sent, and the message names the setting', async () => {
    node.minimum_price = 2n * 10n ** 12n;
    await assert.rejects(send(client()), {
      kind: 'too_expensive',
      message: /gas costs 2000000000000 wei, and at most 1000000000000 .*\(TX_MAX_GAS_PRICE\)/,
    });
    await assert.rejects(send(client({ config: { max_gas_price: 10n ** 15n, max_fee: 10n ** 9n } })), {
      kind: 'too_expensive',
      message: /the fee may be \d+ wei, and at most 1000000000 may be paid \(TX_MAX_FEE\)/,
    });
    assert.ok(!(await isWritten(client())));
    assert.deepEqual(
      node.said.map(({ price }) => price),
      [0n, 0n],
    );
  });
  it('lies about the price of gas: nothing is paid', async () => {
    const dear = `0x${(4n * 10n ** 16n).toString(16)}`;
    proxy.meddle = ({ method }) =>
      method === 'eth_gasPrice' || method === 'eth_maxPriorityFeePerGas' ? { result: dear } : undefined;
    const balance = () => anvil.call('eth_getBalance', anvil.accounts[0]!.address, 'latest');
    const before = await balance();
    await assert.rejects(send(client()), { kind: 'too_expensive', message: /TX_MAX_GAS_PRICE/ });
    assert.equal(await balance(), before);
    assert.equal(proxy.count('eth_sendRawTransaction'), 0);
  });
  it('has no bridge: the message names the field that mends it, and nothing is tried again', async () => {
    const rest = await serveRest(() => ({}));
    const shared = { log: createLog('silent'), metrics: createMetrics(), timeout_ms: 1_000, connections: 1 };
    const bridge = (bridge_id: 'auto' | 'none') =>
      bridgeOf({ bridge_id, rollup: { rest_urls: [rest.url] } as unknown as Program['rollup'] }, shared);
    try {
      await assert.rejects(
        bridge('auto'),
        (error) => error instanceof UserError && /say bridge_id in the program/.test(error.message),
      );
      assert.equal(await bridge('none'), undefined);
    } finally {
      await rest.close();
    }
    // One that does not answer may do so later.
    await assert.rejects(bridge('auto'), { name: 'NodeError' });
  });
  it('answers with an empty error for a tx that it has: the tx is looked up before anything is concluded', async () => {
    node.is_silent = true;
    const own = client();
    await send(own);
    assert.ok(await isWritten(own));
    node.is_holding = true;
    const sending = own.sender.sendScores(5n, [{ ...scoresOf(1)[0]!, amount: 9n }], recordingHooks());
    await sleep(300);
    await node.mine();
    await sending;
  });
  it('refuses without a word a tx that it does not have: that is said', async () => {
    proxy.meddle = async (request) =>
      request.method === 'eth_sendRawTransaction'
        ? { error: { code: -32_000, message: '' } }
        : node.answer(request);
    await assert.rejects(send(client()), { kind: 'refused', message: /gives no reason/ });
    assert.ok(!(await isWritten(client())));
  });
  it('says stale for a nonce that is used: the next one is taken', async () => {
    const own = client();
    let isFirst = true;
    // Somebody else is faster with the same key.
    proxy.meddle = async (request) => {
      if (request.method === 'eth_sendRawTransaction' && isFirst) {
        isFirst = false;
        const from = anvil.accounts[0]!.address;
        await anvil.call('eth_sendTransaction', { from, to: from, gasPrice: '0x0' });
      }
      return node.answer(request);
    };
    await send(own);
    assert.ok(await isWritten(own));
    assert.match(node.said[0]!.message, /is stale/);
    assert.equal(node.said[1]!.message, '');
  });
  it('keeps the tx that waits instead of its replacement: that one is waited for, and nothing is believed sent', async () => {
    node.is_holding = true;
    const from = new Wallet(anvil.accounts[0]!.private_key);
    const nonce = Number(await anvil.call('eth_getTransactionCount', from.address, 'latest'));
    const other = await from.signTransaction({
      to: from.address,
      nonce,
      gasLimit: 100_000,
      gasPrice: 0,
      chainId: 31_337,
    });
    await node.answer({ method: 'eth_sendRawTransaction', params: [other] });
    const own = client({ config: { stuck_ms: 300 } });
    const hooks = recordingHooks();
    const sending = own.sender.sendScores(5n, scoresOf(3), hooks);
    await sleep(500);
    assert.ok(node.said.some(({ message }) => /has priority 1 >= replacement priority 1/.test(message)));
    node.is_holding = false;
    await node.mine();
    await sending;
    assert.ok(await isWritten(own));
    assert.equal(hooks.told.filter((line) => line.startsWith('mined true')).length, 1);
  });
  it('has no account of a signer that nobody has sent anything: the message says whom to fund', async () => {
    const wallet = HDNodeWallet.createRandom();
    node.missing.add(wallet.address.toLowerCase());
    const own = client({ private_key: wallet.privateKey });
    const contract = new Interface(['function addAllowList(address)']);
    await anvil.call('eth_sendTransaction', {
      from: anvil.accounts[0]!.address,
      to: address,
      data: contract.encodeFunctionData('addAllowList', [wallet.address]),
      gasPrice: '0x0',
    });
    await assert.rejects(send(own), {
      kind: 'no_account',
      message: new RegExp(`^fund ${wallet.address}: the rollup has no such account`),
    });
  });
  it('has its minimum price found out by a check of a deployment, which sends nothing that could be executed', async () => {
    node.minimum_price = 333_333_333n;
    const lines: string[] = [];
    const before = await anvil.call('eth_blockNumber');
    await runDeployContract(['--check'], {
      env: { JSON_RPC_URL: proxy.url, INIT_STAGE: '5', PRIVATE_KEY: anvil.accounts[0]!.private_key },
      print: () => {},
      say: (text) => lines.push(text),
    });
    assert.match(lines.join('\n'), /gas at 333333333 wei/);
    assert.equal(await anvil.call('eth_blockNumber'), before);
    node.minimum_price = 0n;
    lines.length = 0;
    await runDeployContract(['--check'], {
      env: { JSON_RPC_URL: proxy.url, INIT_STAGE: '5', PRIVATE_KEY: anvil.accounts[0]!.private_key },
      print: () => {},
      say: (text) => lines.push(text),
    });
    assert.match(lines.join('\n'), /gas is free/);
    assert.equal(
      await anvil.call('eth_blockNumber'),
      before,
      'the local node does not take the probe either',
    );
  });
});
