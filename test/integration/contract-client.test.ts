import assert from 'node:assert/strict';
import { NodeError } from '../../services/common/chain/endpoints.js';
import { scoreInterface } from '../../services/scoring-operator/contract/artifact.js';
import type { ContractError } from '../../services/scoring-operator/contract/errors.js';
import { anvilOrSkip } from '../support/anvil.js';
import { type PassingRequest, startRpcProxy } from '../support/rpc-proxy.js';
import {
  addressOf,
  clientOf,
  deployKind,
  failed,
  type Kind,
  kinds,
  plainContract,
  recordingHooks,
  scoresOf,
  transact,
} from '../support/score-contract.js';
import { startBefore, startBeforeEach } from '../support/suite.js';

describe('the client of a scoring contract', () => {
  let key: string;
  const anvil = startBefore(anvilOrSkip, ({ stop }) => stop());
  before(() => {
    key = anvil.accounts[0]?.private_key as string;
  });

  for (const kind of Object.keys(kinds) as Kind[]) {
    describe(`over a contract of the kind: ${kind}`, () => {
      it('reads stages, the allow list and the first stage', async () => {
        const { contract } = clientOf(anvil.url, await deployKind(anvil, kind, 5n), { private_key: key });
        assert.equal(await contract.initStage(), kind === 'oldest' ? undefined : 5n);
        const stage = { stage: 5n, total_score: 0n, is_finalized: false };
        assert.deepEqual(await contract.stage(5n), kind === 'oldest' ? undefined : stage);
        assert.equal(await contract.stage(6n), undefined);
        assert.equal(await contract.isAllowed(anvil.accounts[0]?.address as string), true);
        assert.equal(await contract.isAllowed(addressOf(1)), false);
        assert.deepEqual(await contract.scores(5n), []);
      });

      it('reads every score in pages, zeros included and padding left out', async () => {
        const address = await deployKind(anvil, kind, 5n);
        const scores = scoresOf(45, (i) => BigInt(i % 5));
        for (const page_size of [1, 7, 9, 45, 46, 500]) {
          const { contract, sender } = clientOf(anvil.url, address, { private_key: key, page_size });
          if (page_size === 1) await sender.sendScores(5n, scores, recordingHooks());
          assert.deepEqual(await contract.scores(5n), scores, String(page_size));
        }
      });

      it('scores and finalizes stages one after the other', async () => {
        const address = await deployKind(anvil, kind, 5n);
        const { contract, sender } = clientOf(anvil.url, address, { private_key: key });
        for (const stage of [5n, 6n]) {
          const hooks = recordingHooks();
          await sender.sendScores(stage, scoresOf(3), hooks);
          const receipt = await sender.finalize(stage, async () => {}, hooks);
          assert.equal(receipt.is_success, true);
          assert.equal((await contract.stage(stage))?.is_finalized, true);
          assert.deepEqual(
            hooks.told.map((one) => one.split(' ').slice(0, 2).join(' ')),
            ['signed update', 'mined true', 'signed finalize', 'mined true'],
          );
          const sent = () => anvil.call('eth_getTransactionCount', anvil.accounts[0]?.address, 'latest');
          const before = await sent();
          await assert.rejects(
            sender.finalize(stage, async () => {}, hooks),
            failed('reverted', /finalized already/),
          );
          assert.equal(await sent(), before);
        }
      });

      it('says why the contract would refuse, before anything is sent', async () => {
        const address = await deployKind(anvil, kind, 5n);
        const stranger = clientOf(anvil.url, address, { private_key: anvil.accounts[3]!.private_key });
        await assert.rejects(
          stranger.sender.sendScores(5n, scoresOf(1), recordingHooks()),
          failed('reverted', /PermissionDenied: 0x[0-9a-fA-F]{40} is not on the allow list/),
        );
        const { sender } = clientOf(anvil.url, address, { private_key: key });
        const hooks = recordingHooks();
        if (kind !== 'oldest') {
          await assert.rejects(sender.sendScores(9n, scoresOf(1), hooks), failed('reverted', /no stage 9/));
        }
        await assert.rejects(
          sender.finalize(9n, async () => {}, hooks),
          failed('reverted', /StageNotFound|comes before/),
        );
        assert.deepEqual(hooks.told, []);
      });
    });
  }

  it('tells no contract, and something else, from a scoring contract', async () => {
    const nothing = clientOf(anvil.url, addressOf(77), { private_key: key }).contract;
    for (const read of [
      () => nothing.stage(1n),
      () => nothing.initStage(),
      () => nothing.scores(1n),
      () => nothing.isAllowed(addressOf(1)),
    ]) {
      await assert.rejects(read, failed('no_contract', /there is no contract/));
    }
    // Answers every call with 32 bytes of one.
    const code = '0x600160005260206000f3';
    await anvil.call('anvil_setCode', addressOf(78), code);
    const other = clientOf(anvil.url, addressOf(78), { private_key: key }).contract;
    await assert.rejects(other.stage(1n), failed('no_contract', /no scoring contract/));
    await assert.rejects(other.scores(1n), failed('no_contract', /no scoring contract/));
    assert.equal(await other.initStage().catch((error: ContractError) => error.kind), 1n);
  });

  describe('over a node with habits of its own', () => {
    const proxy = startBeforeEach(
      () => startRpcProxy(anvil.url),
      (proxy) => proxy.stop(),
    );

    /** The calldata that asks for a page of scores; undefined of other requests. */
    const pageAsked = ({ method, params }: PassingRequest): string | undefined => {
      const { data } = (params[0] ?? {}) as { readonly data?: string };
      return method === 'eth_call' && data?.length === 10 + 3 * 64 ? data : undefined;
    };

    /** What nodes of rollups say of a revert: one word, and no data. */
    const wordless = { error: { code: -32_000, message: 'Reverted' } };

    it('works the reason out from the state when a node says only "Reverted"', async () => {
      const address = await deployKind(anvil, 'ours', 5n);
      proxy.meddle = ({ method }) =>
        method === 'eth_estimateGas' || method === 'eth_call'
          ? (reply) => (reply.error === undefined ? reply : wordless)
          : undefined;
      const { sender, contract } = clientOf(proxy.url, address, { private_key: key });
      const stranger = clientOf(proxy.url, address, { private_key: anvil.accounts[3]!.private_key });
      const hooks = recordingHooks();
      await assert.rejects(
        stranger.sender.sendScores(5n, scoresOf(1), hooks),
        failed('reverted', /PermissionDenied/),
      );
      await assert.rejects(sender.sendScores(6n, scoresOf(1), hooks), failed('reverted', /StageNotFound/));
      await assert.rejects(
        sender.finalize(6n, async () => {}, hooks),
        failed('reverted', /stage 5 comes before and is not finalized/),
      );
      await sender.finalize(5n, async () => {}, hooks);
      await assert.rejects(
        sender.sendScores(5n, scoresOf(1), hooks),
        failed('reverted', /stage 5 is finalized/),
      );
      const oldest = await deployKind(anvil, 'oldest');
      assert.equal(await clientOf(proxy.url, oldest, { private_key: key }).contract.initStage(), undefined);
      assert.equal(await contract.initStage(), 5n);
    });

    it('reads smaller pages where a call may not cost much', async () => {
      const address = await deployKind(anvil, 'ours', 5n);
      const scores = scoresOf(60);
      const { sender } = clientOf(anvil.url, address, { private_key: key });
      await sender.sendScores(5n, scores, recordingHooks());
      proxy.meddle = (request) => {
        const data = pageAsked(request);
        if (data === undefined || BigInt(`0x${data.slice(-64)}`) <= 13n) return undefined;
        const message = 'out of gas in location: ReadPerByte; gasWanted: 3000000';
        return { error: { code: -32_000, message } };
      };
      assert.deepEqual(await clientOf(proxy.url, address, { private_key: key }).contract.scores(5n), scores);
    });

    it('reads all pages at one block, whatever is written meanwhile', async () => {
      const address = await deployKind(anvil, 'ours', 5n);
      const writer = plainContract(anvil, address);
      const scores = scoresOf(10);
      const { sender } = clientOf(anvil.url, address, { private_key: key });
      await sender.sendScores(5n, scores, recordingHooks());
      const { contract } = clientOf(proxy.url, address, { private_key: key, page_size: 4 });
      const reading = contract.scores(5n);
      await transact(writer, 'updateScores', 5n, [addressOf(0), addressOf(99)], [999n, 1n]);
      const tags = new Set<unknown>();
      const read = await reading;
      for (const { method, params } of proxy.requests) if (method === 'eth_call') tags.add(params[1]);
      assert.equal(tags.size, 1);
      assert.match(String([...tags][0]), /^0x/);
      assert.ok(read.length === 10 || read.length === 11);
      assert.equal(read.length === 10, read[0]?.amount === 1n, 'either all of the write or none');
    });

    it('does not read for ever when a contract gives the same page again and again', async () => {
      const address = await deployKind(anvil, 'ours', 5n);
      const { sender } = clientOf(anvil.url, address, { private_key: key });
      await sender.sendScores(5n, scoresOf(4), recordingHooks());
      const page = clientOf(proxy.url, address, { private_key: key, page_size: 2 }).contract;
      proxy.meddle = (request) => {
        if (pageAsked(request) === undefined) return undefined;
        return (reply) => {
          first ??= reply.result;
          return { result: first };
        };
      };
      let first: unknown;
      await assert.rejects(page.scores(5n), failed('no_contract', /twice/));
    });

    it('does not read for ever when a contract always has further scores', async () => {
      const address = await deployKind(anvil, 'ours', 5n);
      const options = { private_key: key, page_size: 10, most_scores: 100 };
      const { contract } = clientOf(proxy.url, address, options);
      proxy.meddle = (request) => {
        const data = pageAsked(request);
        if (data === undefined) return undefined;
        const [, offset] = scoreInterface.decodeFunctionData('getScores', data);
        const rows = Array.from({ length: 10 }, (_, index) => {
          const place = BigInt(offset) + BigInt(index) + 1n;
          return [`0x${place.toString(16).padStart(40, '0')}`, 1n, place];
        });
        return { result: scoreInterface.encodeFunctionResult('getScores', [rows]) };
      };
      await assert.rejects(contract.scores(5n), failed('no_contract', /more than 100 scores of stage 5/));
      assert.equal(proxy.count('eth_call'), 10);
    });

    it('reads nothing more once it is to stop', async () => {
      const address = await deployKind(anvil, 'ours', 5n);
      const { contract } = clientOf(proxy.url, address, { private_key: key });
      const height = await contract.head(0);
      const stopping = new AbortController();
      const state = contract.at(height, stopping.signal);
      proxy.meddle = async ({ method }) => {
        if (method === 'eth_call') stopping.abort();
        return new Promise(() => {});
      };
      await assert.rejects(state.stage(5n), NodeError);
      await assert.rejects(contract.head(0, stopping.signal), NodeError);
      assert.equal(proxy.count('eth_call'), 1);
    });

    it('leaves a node that fails for what it is: nothing about the contract', async () => {
      const address = await deployKind(anvil, 'ours', 5n);
      const { contract } = clientOf(proxy.url, address, { private_key: key });
      proxy.meddle = () => 'refuse';
      for (const read of [() => contract.stage(5n), () => contract.scores(5n), () => contract.initStage()]) {
        await assert.rejects(read, NodeError);
      }
      proxy.meddle = () => ({ error: { code: 5, message: 'jsonrpc readiness error: not ready' } });
      await assert.rejects(contract.initStage(), NodeError);
    });
  });
});
