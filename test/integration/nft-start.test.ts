import assert from 'node:assert/strict';
import { planOf } from '../../tools/replay/generate/plan.js';
import { describeGenerated, generateChain } from '../../tools/replay/generate.js';
import { startReplayNode } from '../../tools/replay/node.js';
import { readNftTruth, type TokenPage } from '../support/nft-facts.js';
import { sampled } from '../support/sample.js';
import { startStack } from '../support/stack.js';
import { endsAfterEach, followBefore } from '../support/suite.js';
import { walkForward } from '../support/walk.js';

const nft = '/indexer/nft/v1';

describe('an index of NFTs that begins late', () => {
  const endLater = endsAfterEach();
  // From the height on, so many tokens are older than the index and move later.
  for (const [recording, from, atLeast] of sampled(
    [
      ['evm', 34, 2],
      ['move', 40, 2],
      ['wasm', 45, 3],
    ] as const,
    2,
  )) {
    it(`of ${recording} has the tokens that move after its first block, with their names and uris`, async () => {
      const { facts, tokens, collections } = readNftTruth(recording);
      const node = await startReplayNode({ recording });
      endLater(() => node.close());
      const stack = await startStack(node, { vm: recording, env: { START_HEIGHT: String(from) } });
      endLater(stack.stop);
      await stack.reaches(facts.height);
      await stack.knowsNfts(facts.height);
      const changed = tokens.filter(({ height }) => height >= from);
      let older = 0;
      for (const { addr, name, height: created } of collections) {
        const expected = changed.filter((token) => token.addr === addr);
        const page = await stack.get<TokenPage>(`${nft}/tokens/by_collection/${addr}?pagination.limit=1000`);
        assert.deepEqual(
          page.tokens.map(({ nft: of, owner, height }) => [of.token_id, owner, of.uri, height]).sort(),
          expected.map((token) => [token.token_id, token.owner, token.uri, token.height]).sort(),
          name,
        );
        assert.equal(page.pagination.total, String(expected.length));
        if (created < from) older += expected.length;
      }
      assert.ok(older >= atLeast, `${older} tokens of older collections`);
    });
  }
});

describe('the NFTs of a chain that nobody has recorded, from a node of which one request in five fails', () => {
  const blocks = 80;
  const chain = generateChain({ blocks, txs_per_block: 10, accounts: 30, collections: 4, seed: 21 });
  const owners = new Map<string, { owner: string; height: number; txs: string[] }>();
  for (let height = 1; height <= blocks; height++) {
    const txs = describeGenerated(chain, height);
    for (const [index, tx] of txs.entries()) {
      const plan = planOf(chain.world, (height - 1) * 10 + index);
      if (plan.kind !== 'mint' && plan.kind !== 'nft_transfer') continue;
      const key = `0x${plan.contract.hex}/${plan.value}`;
      const before = owners.get(key)?.txs ?? [];
      owners.set(key, { owner: plan.other.bech32, height, txs: [...before, tx.hash] });
    }
  }
  const faults = { seed: 3, fail_one_in: 5, stale_one_in: 11 };
  const stack = followBefore({ recording: chain, faults }, async (node) => {
    const started = await startStack(node);
    await started.reaches(blocks);
    await started.knowsNfts(blocks);
    return started;
  });

  it('are there exactly, with their owners and txs', async () => {
    const collections = new Set([...owners.keys()].map((key) => key.split('/')[0] as string));
    assert.equal(collections.size, 4);
    for (const addr of collections) {
      const expected = [...owners].filter(([key]) => key.startsWith(addr));
      const pages = (await walkForward(stack, `${nft}/tokens/by_collection/${addr}`, 20)) as TokenPage[];
      assert.deepEqual(
        pages
          .flatMap((page) => page.tokens.map((t) => [`${addr}/${t.nft.token_id}`, t.owner, t.height]))
          .sort(),
        expected.map(([key, { owner, height }]) => [key, owner, height]).sort(),
      );
      assert.equal(pages[0]?.pagination.total, String(expected.length));
      for (const [key, { txs }] of expected.filter((_, index) => index % 10 === 0)) {
        const page = await stack.get<{ txs: { txhash: string }[] }>(
          `${nft}/txs/${key}?pagination.reverse=false`,
        );
        assert.deepEqual(
          page.txs.map(({ txhash }) => txhash),
          txs,
          key,
        );
      }
    }
  });
});
