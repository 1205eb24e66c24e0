import assert from 'node:assert/strict';
import { type TransactionRequest, Wallet } from 'ethers';
import { sleep } from '../../services/common/runtime/lifecycle.js';
import { readBody } from '../../services/common/util/bounded-input.js';
import { createRemoteSigner } from '../../services/scoring-operator/contract/remote-signer.js';
import { hide, signerOfKey } from '../../services/scoring-operator/contract/signer.js';
import type { Anvil } from '../../tools/dev/anvil.js';
import { anvilOrSkip } from '../support/anvil.js';
import { serveHttp } from '../support/http-server.js';
import { type Meddling, type RpcProxy, startRpcProxy } from '../support/rpc-proxy.js';
import {
  addressOf,
  type ClientOptions,
  clientOf,
  deployKind,
  failed,
  type Kind,
  plainContract,
  recordingHooks,
  scoresOf,
  transact,
} from '../support/score-contract.js';

const always = async (): Promise<void> => {};

/** The first words of what hooks were told. */
const kindsOf = (told: readonly string[], words = 2): string[] =>
  told.map((one) => one.split(' ').slice(0, words).join(' '));

describe('sending scores', () => {
  let anvil: Anvil;
  let proxy: RpcProxy;
  let options: ClientOptions;
  let account: string;

  before(async function () {
    anvil = await anvilOrSkip(this, { gas_limit: 60_000_000 });
    options = { private_key: anvil.accounts[0]?.private_key as string };
    account = anvil.accounts[0]?.address as string;
  });
  after(() => anvil?.stop());
  beforeEach(async () => {
    proxy = await startRpcProxy(anvil.url);
  });
  afterEach(() => proxy.stop());

  const countTxs = async (): Promise<number> =>
    Number(await anvil.call('eth_getTransactionCount', account, 'latest'));

  /** A contract, what sends to it, and how many txs the account has sent before. */
  async function open(kind: Kind, more: Partial<ClientOptions> = {}, url = proxy.url) {
    const address = await deployKind(anvil, kind, 5n);
    const client = clientOf(url, address, { ...options, ...more });
    return { ...client, address, hooks: recordingHooks(), before: await countTxs() };
  }

  /** A tx of the account that moves nothing, unless told otherwise. */
  const signTx = (nonce: number, more: TransactionRequest = {}): Promise<string> =>
    new Wallet(options.private_key).signTransaction({
      ...{ chainId: 31_337, nonce, gasLimit: 21_000, gasPrice: 0, type: 0, to: addressOf(1) },
      ...more,
    });

  it('writes thousands of scores in txs that fit', async () => {
    const { sender, contract, hooks } = await open('ours', {}, anvil.url);
    const scores = scoresOf(2_500);
    await sender.sendScores(5n, scores, hooks);
    assert.deepEqual(await contract.scores(5n), scores);
    assert.equal((await contract.stage(5n))?.total_score, (2_500n * 2_501n) / 2n);
    const sizes = hooks.told
      .filter((one) => one.startsWith('signed'))
      .map((one) => Number(one.split(' ')[2]));
    assert.deepEqual(sizes, [500, 500, 500, 500, 500]);
  });

  it("keeps every tx within the rollup's own limit, above which gas is cut without a word", async () => {
    const { sender, contract } = await open('ours', { rollup_gas_limit: 3_000_000n });
    await sender.sendScores(5n, scoresOf(130), recordingHooks());
    assert.deepEqual(await contract.scores(5n), scoresOf(130));
    const raws = proxy.count('eth_sendRawTransaction');
    assert.ok(raws >= 3 && raws <= 6, String(raws));
    const block = await anvil.call('eth_getBlockByNumber', 'latest', true);
    for (const tx of (block as { transactions: { gas: string }[] }).transactions) {
      assert.ok(BigInt(tx.gas) <= 3_000_000n, tx.gas);
    }
  });

  it('halves a batch that an estimate says is too much, and goes on with what is left', async () => {
    const { sender, contract, hooks } = await open('ours');
    proxy.meddle = ({ method, params }) =>
      method === 'eth_estimateGas' && (params[0] as { data: string }).data.length > 10 + 64 * (5 + 2 * 30)
        ? { error: { code: -32_000, message: 'out of gas in location: WritePerByte; gasWanted: 3000000' } }
        : undefined;
    await sender.sendScores(5n, scoresOf(101), hooks);
    assert.deepEqual(await contract.scores(5n), scoresOf(101));
    for (const one of hooks.told.filter((told) => told.startsWith('signed'))) {
      assert.ok(Number(one.split(' ')[2]) <= 30, one);
    }
  });

  it('halves a batch that ran out of gas on chain, whatever the estimate said', async () => {
    const { sender, contract, hooks } = await open('ours');
    proxy.meddle = ({ method }) => (method === 'eth_estimateGas' ? { result: '0x7a120' } : undefined);
    await sender.sendScores(5n, scoresOf(40), hooks);
    assert.deepEqual(await contract.scores(5n), scoresOf(40));
    assert.ok(hooks.told.some((one) => one.startsWith('mined false')));
  });

  it('gives up on one score that is too much', async () => {
    const { sender, hooks } = await open('ours', { rollup_gas_limit: 30_000n }, anvil.url);
    await assert.rejects(
      sender.sendScores(5n, scoresOf(2), hooks),
      failed('out_of_gas', /a tx may have 30000 here/),
    );
    assert.deepEqual(hooks.told, []);
  });

  it('writes down a tx before it leaves', async () => {
    const { sender, before } = await open('ours');
    const hooks = {
      ...recordingHooks(),
      onSigned: async () => {
        assert.equal(proxy.count('eth_sendRawTransaction'), 0);
        throw new Error('the disk is full');
      },
    };
    await assert.rejects(sender.sendScores(5n, scoresOf(1), hooks), /the disk is full/);
    assert.equal(proxy.count('eth_sendRawTransaction'), 0);
    assert.equal(await countTxs(), before);
  });

  it('finds a tx whose reply was lost, and does not send another', async () => {
    const { sender, contract, before, hooks } = await open('lenient');
    proxy.meddle = ({ method }) => (method === 'eth_sendRawTransaction' ? 'drop' : undefined);
    await sender.sendScores(5n, scoresOf(2), hooks);
    await sender.finalize(5n, always, hooks);
    assert.equal(await countTxs(), before + 2);
    assert.equal(proxy.count('eth_sendRawTransaction'), 2);
    assert.equal((await contract.stage(5n))?.is_finalized, true);
    assert.deepEqual(kindsOf(hooks.told), ['signed update', 'mined true', 'signed finalize', 'mined true']);
  });

  it('sends the same bytes again when they never arrived', async () => {
    const { sender, before, hooks } = await open('lenient');
    proxy.meddle = ({ method }, nth) =>
      method === 'eth_sendRawTransaction' && nth < 4 ? 'refuse' : undefined;
    await sender.finalize(5n, always, hooks);
    assert.equal(await countTxs(), before + 1);
    const raws = proxy.requests.filter(({ method }) => method === 'eth_sendRawTransaction');
    assert.equal(new Set(raws.map(({ params }) => params[0])).size, 1);
    assert.deepEqual(kindsOf(hooks.told), ['signed finalize', 'mined true']);
  });

  it('waits for an index of receipts that lags behind', async () => {
    const { sender, before } = await open('ours');
    proxy.meddle = ({ method }, nth) =>
      method === 'eth_getTransactionReceipt' && nth < 25 ? { result: null } : undefined;
    await sender.sendScores(5n, scoresOf(1), recordingHooks());
    assert.equal(await countTxs(), before + 1);
    assert.equal(proxy.count('eth_sendRawTransaction'), 1);
  });

  it('survives a node that fails again and again while a tx is on its way', async () => {
    const { sender, before } = await open('ours', { config: { stuck_ms: 5_000 } });
    let broken = 0;
    proxy.meddle = ({ method }) =>
      proxy.count('eth_sendRawTransaction') > 0 && method !== 'eth_sendRawTransaction' && broken++ < 20
        ? 'refuse'
        : undefined;
    await sender.sendScores(5n, scoresOf(1), recordingHooks());
    assert.equal(await countTxs(), before + 1);
  });

  it('takes the next nonce when somebody else used this one, after looking again', async () => {
    const { sender, contract, hooks } = await open('ours');
    proxy.meddle = async ({ method }, nth) => {
      if (method !== 'eth_sendRawTransaction' || nth !== 1) return undefined;
      await anvil.call('eth_sendRawTransaction', await signTx(await countTxs()));
      return undefined;
    };
    let looks = 0;
    await sender.finalize(5n, async () => void looks++, hooks);
    assert.equal(looks, 2);
    assert.equal((await contract.stage(5n))?.is_finalized, true);
    // On a slow machine the first one may have been offered more for before it was found replaced.
    const kinds = kindsOf(hooks.told, 1);
    const last = kinds.lastIndexOf('replaced');
    const tried = kinds.slice(0, last + 1).sort();
    const [replaced, signed] = ['replaced', 'signed'].map(
      (kind) => tried.filter((one) => one === kind).length,
    );
    assert.ok(replaced === signed && replaced !== 0, kinds.join());
    assert.deepEqual(kinds.slice(last + 1), ['signed', 'mined']);
    assert.match(hooks.told.find((one) => one.startsWith('replaced')) ?? '', /^replaced 0x/);
  });

  it('never finalizes twice, however many try at once with one key', async () => {
    const address = await deployKind(anvil, 'lenient', 5n);
    const processes = Array.from({ length: 4 }, () => clientOf(anvil.url, address, options).sender);
    const results = await Promise.allSettled(
      processes.map((one) => one.finalize(5n, always, recordingHooks())),
    );
    const hashes = new Set<string>();
    for (const result of results) {
      // Some find it finalized. Those with the same nonce sign the same bytes: that is one tx.
      if (result.status === 'rejected') failed('reverted', /finalized already/)(result.reason);
      else hashes.add(result.value.tx_hash);
    }
    assert.equal(hashes.size, 1);
    const logs = (await anvil.call('eth_getLogs', { address, fromBlock: '0x0' })) as { topics: string[] }[];
    const finalized = plainContract(anvil, address).interface.getEvent('FinalizeStage')?.topicHash;
    assert.equal(logs.filter(({ topics }) => topics[0] === finalized).length, 1);
  });

  it('explains a tx that failed on chain', async () => {
    const { address, sender, hooks } = await open('ours');
    const other = plainContract(anvil, address, 1);
    await transact(plainContract(anvil, address), 'addAllowList', anvil.accounts[1]?.address);
    proxy.meddle = async ({ method }) => {
      if (method === 'eth_sendRawTransaction') await transact(other, 'removeAllowList', account);
      return undefined;
    };
    await assert.rejects(sender.sendScores(5n, scoresOf(2), hooks), failed('reverted', /PermissionDenied/));
    assert.deepEqual(kindsOf(hooks.told), ['signed update', 'mined false']);
  });

  it('explains it by its trace, or from the state, where the node keeps the reason to itself', async () => {
    const other = plainContract(anvil, await deployKind(anvil, 'ours', 5n), 1);
    for (const has_traces of [true, false]) {
      const { address, sender } = await open('ours');
      await transact(plainContract(anvil, address), 'addAllowList', anvil.accounts[1]?.address);
      let sent = false;
      proxy.meddle = async ({ method }) => {
        if (method === 'eth_sendRawTransaction') {
          await transact(other.attach(address) as typeof other, 'finalizeStage', 5n);
          sent = true;
        }
        if (method === 'debug_traceTransaction' && !has_traces)
          return { error: { code: -32_601, message: 'no' } };
        const wordless = { error: { code: -32_000, message: 'Reverted' } };
        return sent && method === 'eth_call'
          ? (reply) => (reply.error === undefined ? reply : wordless)
          : undefined;
      };
      await assert.rejects(
        sender.sendScores(5n, scoresOf(2), recordingHooks()),
        failed('reverted', /StageFinalized: stage 5/),
      );
    }
  });

  it('goes on where it was interrupted: the same call again is harmless', async () => {
    const { sender, contract, hooks } = await open('ours', { max_scores: 20 }, anvil.url);
    const controller = new AbortController();
    const stopping = {
      ...hooks,
      onMined: async () => controller.abort(),
    };
    await assert.rejects(
      sender.sendScores(5n, scoresOf(60), stopping, controller.signal),
      failed('aborted', /between/),
    );
    assert.equal((await contract.scores(5n)).length, 20);
    await sender.sendScores(5n, scoresOf(60), hooks);
    assert.deepEqual(await contract.scores(5n), scoresOf(60));
  });

  describe('settles what an earlier process had signed', () => {
    it('mined, replaced, unknown and pending', async () => {
      const { sender, before: nonce, hooks } = await open('ours', {}, anvil.url);
      await sender.sendScores(5n, scoresOf(1), hooks);
      const tx_hash = hooks.told[0]?.split(' ')[4] as string;
      const mined = await sender.settle({ tx_hash, nonce, account });
      assert.equal(mined.kind === 'mined' && mined.tx.is_success, true);
      const unknown = `0x${'12'.repeat(32)}`;
      assert.equal((await sender.settle({ tx_hash: unknown, nonce, account })).kind, 'replaced');
      assert.equal((await sender.settle({ tx_hash: unknown, nonce: nonce + 1, account })).kind, 'unknown');
      // A remote signer that did not answer: only the nonce is known.
      assert.equal((await sender.settle({ tx_hash: '', nonce, account })).kind, 'mined');
      assert.equal((await sender.settle({ tx_hash: '', nonce: nonce + 1, account })).kind, 'unknown');
      await anvil.call('evm_setAutomine', false);
      try {
        const pending = (await anvil.call('eth_sendRawTransaction', await signTx(nonce + 1))) as string;
        assert.equal((await sender.settle({ tx_hash: pending, nonce: nonce + 1, account })).kind, 'pending');
        assert.equal((await sender.settle({ tx_hash: '', nonce: nonce + 1, account })).kind, 'pending');
      } finally {
        await anvil.call('evm_mine');
        await anvil.call('evm_setAutomine', true);
      }
    });

    it('mined, once the node has the block that the receipt names, with the tx in it', async () => {
      const { sender, endpoints, before: nonce, hooks } = await open('ours');
      await sender.sendScores(5n, scoresOf(1), hooks);
      const tx_hash = hooks.told[0]?.split(' ')[4] as string;
      const height = Number(await anvil.call('eth_blockNumber'));
      const first = proxy.count('eth_getBlockByNumber');
      // Another replica, which is late, is asked for the block.
      proxy.meddle = ({ method }, nth) =>
        method === 'eth_getBlockByNumber' && nth < first + 3 ? { result: null } : undefined;
      const settled = await sender.settle({ tx_hash, nonce, account });
      assert.equal(settled.kind === 'mined' && settled.tx.height, height);
      for (const [change, reason] of [
        [{ blockNumber: '0x7fffffff' }, 'behind'],
        [{ blockNumber: `0x${(height - 1).toString(16)}` }, 'contradicts'],
        [{ blockHash: `0x${'7'.repeat(64)}` }, 'contradicts'],
      ] as const) {
        proxy.meddle = ({ method }) =>
          method === 'eth_getTransactionReceipt'
            ? ({ result }) => ({ result: { ...(result as object), ...change } })
            : undefined;
        await assert.rejects(sender.settle({ tx_hash, nonce, account }), { name: 'NodeError', reason });
      }
      await endpoints.close();
    });

    it('failed, with the reason', async () => {
      const { address, sender, before: nonce } = await open('ours', {}, anvil.url);
      const data = plainContract(anvil, address).interface.encodeFunctionData('finalizeStage', [6n]);
      const raw = await signTx(nonce, { gasLimit: 200_000, to: address, data });
      const tx_hash = (await anvil.call('eth_sendRawTransaction', raw)) as string;
      await sleep(50);
      const settled = await sender.settle({ tx_hash, nonce, account });
      assert.equal(settled.kind === 'mined' && settled.tx.is_success, false);
      assert.match(settled.kind === 'mined' ? settled.tx.error : '', /stage 5 comes before/);
    });
  });

  it('signs for a chain, and a node of another one does not take it', async () => {
    const { sender } = await open('ours', { chain_id: 1n }, anvil.url);
    await assert.rejects(sender.sendScores(5n, scoresOf(1), recordingHooks()), failed('refused', /chain/i));
  });

  it('works without a balance where gas is free', async () => {
    const address = await deployKind(anvil, 'ours', 5n);
    const poor = Wallet.createRandom();
    await transact(plainContract(anvil, address), 'addAllowList', poor.address);
    const { sender, contract } = clientOf(anvil.url, address, { private_key: poor.privateKey });
    await sender.sendScores(5n, scoresOf(3), recordingHooks());
    assert.equal((await contract.scores(5n)).length, 3);
    assert.equal(BigInt((await anvil.call('eth_getBalance', poor.address, 'latest')) as string), 0n);
  });

  describe('with a signer that is somewhere else', () => {
    /** From here on it gives no raw bytes away. @param more what else becomes of requests */
    const sendByItself = (more: (method: string) => Meddling): void => {
      const noMethod = { error: { code: -32_601, message: 'the method does not exist' } };
      proxy.meddle = ({ method }) => (/signTransaction/.test(method) ? noMethod : more(method));
    };

    it('asks it for raw bytes', async () => {
      const signer = await createRemoteSigner(proxy.url, account);
      assert.equal(signer.address, account);
      const { sender, contract, hooks } = await open('ours', { signer }, anvil.url);
      await sender.sendScores(5n, scoresOf(3), hooks);
      assert.equal((await contract.scores(5n)).length, 3);
      assert.equal(proxy.count('eth_signTransaction'), 1);
      assert.deepEqual(kindsOf(hooks.told), ['signed update', 'mined true']);
    });

    it('lets it send by itself when it does not give them away, and finds the tx when its reply is lost', async () => {
      let lose = false;
      sendByItself((method) => (lose && method === 'eth_sendTransaction' ? 'drop' : undefined));
      const signer = await createRemoteSigner(proxy.url, '');
      const { sender, contract, before, hooks } = await open('lenient', { signer }, anvil.url);
      await sender.sendScores(5n, scoresOf(3), hooks);
      lose = true;
      await sender.finalize(5n, always, hooks);
      assert.equal(await countTxs(), before + 2);
      assert.equal((await contract.stage(5n))?.is_finalized, true);
      const told = hooks.told.map((one) => one.replace(/0x[0-9a-f]{64}/, 'HASH').replace(/ \d+ \d+ /, ' '));
      const way = (purpose: string): string[] => [
        `signed ${purpose} `,
        `signed ${purpose} HASH`,
        'replaced ',
        'mined true HASH',
      ];
      assert.deepEqual(told, [...way('update'), ...way('finalize')]);
    });

    it('does not ask one that sends to another chain', async () => {
      sendByItself((method) => (method === 'eth_chainId' ? { result: '0x5' } : undefined));
      const signer = await createRemoteSigner(proxy.url, account);
      const { sender, before, hooks } = await open('ours', { signer }, anvil.url);
      await assert.rejects(
        sender.sendScores(5n, scoresOf(1), hooks),
        failed('refused', /sends to EVM chain id 5, and the rollup has 31337/),
      );
      assert.deepEqual([hooks.told, await countTxs()], [[], before]);
    });

    it('does not believe the hash of one that sends by itself: another tx counts for nothing', async () => {
      const other = await deployKind(anvil, 'ours', 5n);
      const receipt = await transact(plainContract(anvil, other), 'addAllowList', addressOf(1));
      const signer = await createRemoteSigner(proxy.url, account);
      const { sender, contract, before, hooks } = await open('ours', { signer }, anvil.url);
      sendByItself((method) => (method === 'eth_sendTransaction' ? { result: receipt.hash } : undefined));
      await assert.rejects(
        sender.sendScores(5n, scoresOf(1), hooks),
        failed('wrong_tx', /says that it sent 0x[0-9a-f]{64}, and that is another tx/),
      );
      assert.equal((await contract.scores(5n)).length, 0);
      assert.deepEqual(kindsOf(hooks.told, 1), ['signed', 'signed', 'replaced', 'replaced']);
      // Nor does a process that finds the hash in the tables.
      const settled = await sender.settle({ tx_hash: receipt.hash, nonce: before, account });
      assert.equal(settled.kind, 'unknown');
    });

    it('finds the tx of one that sends by itself and gives a hash that nobody knows', async () => {
      sendByItself((method) =>
        method === 'eth_sendTransaction' ? () => ({ result: `0x${'12'.repeat(32)}` }) : undefined,
      );
      const signer = await createRemoteSigner(proxy.url, account);
      const { sender, contract, before, hooks } = await open('ours', { signer }, anvil.url);
      await sender.sendScores(5n, scoresOf(1), hooks);
      assert.equal((await contract.scores(5n)).length, 1);
      assert.equal(await countTxs(), before + 1);
      assert.deepEqual(kindsOf(hooks.told, 1), [
        'signed',
        'signed',
        'replaced',
        'signed',
        'replaced',
        'mined',
      ]);
    });

    it('knows the tx of one that sends by itself in its block, though no node knows its hash yet', async () => {
      sendByItself((method) => (method === 'eth_getTransactionByHash' ? { result: null } : undefined));
      const signer = await createRemoteSigner(proxy.url, account);
      const { sender, contract, hooks } = await open('ours', { signer });
      await sender.sendScores(5n, scoresOf(1), hooks);
      assert.equal((await contract.scores(5n)).length, 1);
      assert.deepEqual(kindsOf(hooks.told, 1), ['signed', 'signed', 'replaced', 'mined']);
    });

    it('takes no other tx for the one that was asked for', async () => {
      const wrong = await signTx(0);
      proxy.meddle = ({ method }) => (method === 'eth_signTransaction' ? { result: wrong } : undefined);
      const signer = await createRemoteSigner(proxy.url, account);
      const { sender, hooks } = await open('ours', { signer }, anvil.url);
      await assert.rejects(sender.sendScores(5n, scoresOf(1), hooks), failed('refused', /another tx/));
      assert.deepEqual(hooks.told, []);
    });

    it('pays no more than it may, whatever the signer offers', async () => {
      const wallet = new Wallet(options.private_key);
      let dear: { gasPrice?: bigint; gasLimit?: number; maxFeePerGas?: bigint; type: number } = { type: 0 };
      const signed = async (asked: Record<string, string>): Promise<string> =>
        wallet.signTransaction({
          chainId: 31_337,
          to: asked['to'] ?? null,
          data: asked['data'] ?? '0x',
          nonce: Number(asked['nonce']),
          gasLimit: Number(asked['gas']),
          ...(dear.type === 2 ? { maxPriorityFeePerGas: 0 } : {}),
          ...dear,
        });
      const signer = signerOfKey(hide(options.private_key));
      const own = await serveHttp(async (request, response) => {
        const { method, params } = JSON.parse(String(await readBody(request, 1_000_000)));
        const result = method === 'eth_accounts' ? [account] : await signed(params[0]);
        response.end(JSON.stringify({ jsonrpc: '2.0', id: 1, result }));
      });
      try {
        const remote = await createRemoteSigner(own.url, signer.address);
        const config = { max_gas_price: 10n ** 12n, max_fee: 10n ** 16n };
        const { sender } = await open('ours', { signer: remote, config }, anvil.url);
        const before = await countTxs();
        for (const [offer, setting] of [
          [{ type: 0, gasPrice: 10n ** 12n + 1n }, /TX_MAX_GAS_PRICE/],
          [{ type: 2, maxFeePerGas: 10n ** 12n + 1n }, /TX_MAX_GAS_PRICE/],
          [{ type: 0, gasPrice: 10n ** 12n, gasLimit: 10_001 }, /TX_MAX_FEE/],
        ] as const) {
          dear = offer;
          const hooks = recordingHooks();
          await assert.rejects(sender.sendScores(5n, scoresOf(1), hooks), failed('too_expensive', setting));
          assert.deepEqual(hooks.told, []);
        }
        assert.equal(await countTxs(), before);
        dear = { type: 2, maxFeePerGas: 10n ** 9n };
        await sender.sendScores(5n, scoresOf(1), recordingHooks());
        assert.equal(await countTxs(), before + 1);
      } finally {
        await own.close();
      }
    });

    it('says which accounts it has when it has not the one asked for', async () => {
      await assert.rejects(createRemoteSigner(proxy.url, addressOf(5)), failed('refused', /has only 0x/));
    });
  });

  it('gives the same address for a key whichever way it is named', () => {
    assert.equal(signerOfKey(hide(options.private_key.slice(2).toUpperCase())).address, account);
  });
});

describe('sending scores where gas costs something', () => {
  let anvil: Anvil;
  let proxy: RpcProxy;
  let options: ClientOptions;
  let address: string;

  before(async function () {
    anvil = await anvilOrSkip(this, { is_gas_free: false });
    options = { private_key: anvil.accounts[0]?.private_key as string };
  });
  after(() => anvil?.stop());
  beforeEach(async () => {
    proxy = await startRpcProxy(anvil.url);
    const { call } = anvil;
    const priced: Anvil = {
      ...anvil,
      call: (method, first, ...rest) =>
        call(method, typeof first === 'object' ? { ...first, gasPrice: '0x77359400' } : first, ...rest),
    };
    address = await deployKind(priced, 'lenient', 5n);
  });
  afterEach(async () => {
    await anvil.call('evm_setAutomine', true);
    await proxy.stop();
  });

  it('replaces a tx that is stuck by one that pays more, and only one of them is mined', async () => {
    await anvil.call('evm_setAutomine', false);
    proxy.meddle = async ({ method }, nth) => {
      // The pool holds the first two and no block comes until the third is there.
      if (method === 'eth_sendRawTransaction' && nth === 3) setTimeout(() => void anvil.call('evm_mine'), 50);
      return undefined;
    };
    const { sender, contract } = clientOf(proxy.url, address, { ...options, config: { stuck_ms: 300 } });
    const hooks = recordingHooks();
    await sender.finalize(5n, always, hooks);
    assert.equal((await contract.stage(5n))?.is_finalized, true);
    const raws = proxy.requests
      .filter(({ method }) => method === 'eth_sendRawTransaction')
      .map(({ params }) => params[0]);
    assert.equal(new Set(raws).size, 3, 'three versions of one tx');
    const signed = hooks.told.filter((one) => one.startsWith('signed'));
    assert.equal(signed.length, 3);
    assert.equal(hooks.told.filter((one) => one.startsWith('replaced')).length, 2);
    assert.equal(new Set(signed.map((one) => one.split(' ')[3])).size, 1);
  });

  it('gives up after a while, and the next one settles what is left', async () => {
    await anvil.call('evm_setAutomine', false);
    const config = { stuck_ms: 200, give_up_ms: 500 };
    const hooks = recordingHooks();
    const { sender } = clientOf(anvil.url, address, { ...options, config });
    await assert.rejects(sender.finalize(5n, always, hooks), failed('not_mined', /it may still come/));
    const next = clientOf(anvil.url, address, options);
    setTimeout(() => void anvil.call('evm_mine'), 100);
    await assert.rejects(
      next.sender.finalize(5n, always, recordingHooks()),
      failed('reverted', /finalized already/),
    );
  });

  it('says that there is nothing to pay with', async () => {
    const poor = Wallet.createRandom();
    const { sender } = clientOf(anvil.url, address, { private_key: poor.privateKey });
    await assert.rejects(
      sender.finalize(5n, always, recordingHooks()),
      failed('reverted', /PermissionDenied/),
    );
    const lenient = plainContract(anvil, address);
    await (await lenient.getFunction('addAllowList').send(poor.address)).wait();
    await assert.rejects(sender.finalize(5n, always, recordingHooks()), failed('insufficient_funds', /./));
  });

  it('raises a price that the node finds too low', async () => {
    proxy.meddle = ({ method }, nth) =>
      method === 'eth_sendRawTransaction' && nth < 4
        ? { error: { code: -32_000, message: 'transaction underpriced: tip needed 1' } }
        : undefined;
    const { sender, contract } = clientOf(proxy.url, address, options);
    const hooks = recordingHooks();
    await sender.finalize(5n, always, hooks);
    assert.equal((await contract.stage(5n))?.is_finalized, true);
    assert.equal(hooks.told.filter((one) => one.startsWith('replaced')).length, 3);
  });
});
