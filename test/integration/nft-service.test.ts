import assert from 'node:assert/strict';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { eventually } from '../support/block.js';
import { readNftTruth, type TokenPage } from '../support/nft-facts.js';
import { ask, collect, stream } from '../support/rpc.js';
import { type Stack, type StackOptions, startStack } from '../support/stack.js';
import { endsAfterEach } from '../support/suite.js';

const nft = '/indexer/nft/v1';
const art = '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9';

interface CollectionPage {
  readonly collections: readonly {
    readonly object_addr: string;
    readonly collection: { readonly name: string };
  }[];
  readonly pagination: { readonly total: string };
}

describe('the nft service', function () {
  this.timeout(90_000);
  const endLater = endsAfterEach();

  /** Starts everything over a replay node. */
  async function start(
    node: Parameters<typeof startReplayNode>[0],
    options: StackOptions = {},
  ): Promise<{ node: ReplayNode; stack: Stack }> {
    const replay = await startReplayNode(node);
    endLater(() => replay.close());
    const stack = await startStack(replay, options);
    endLater(() => stack.stop());
    return { node: replay, stack };
  }

  /** Compares collections and tokens with the facts of the EVM recording. */
  async function expectAll(stack: Stack): Promise<void> {
    const { collections, tokens } = readNftTruth('evm');
    const page = await stack.get<CollectionPage>(`${nft}/collections?pagination.reverse=false`);
    assert.deepEqual(
      page.collections.map(({ object_addr, collection }) => [object_addr, collection.name]),
      [...collections].sort((a, b) => a.height - b.height).map(({ addr, name }) => [addr, name]),
    );
    for (const { addr } of collections) {
      const found = await stack.get<TokenPage>(`${nft}/tokens/by_collection/${addr}?pagination.limit=1000`);
      const own = tokens.filter((token) => token.addr === addr);
      assert.equal(found.pagination.total, String(own.length));
      for (const { nft: of, owner, height } of found.tokens) {
        const truth = own.find(({ token_id }) => token_id === of.token_id);
        assert.deepEqual([of.uri, owner, height], [truth?.uri, truth?.owner, truth?.height], of.token_id);
      }
    }
  }

  it('shows tokens and owners while the node gives no details, and names as soon as it does', async () => {
    const faults = { fail_one_in: 1, kinds: ['reset' as const], matching: /eth_call/ };
    const { node, stack } = await start({ recording: 'evm', faults });
    await stack.reaches(157);
    const before = await ask(stack.nft).getStatus({});
    assert.ok(before.height <= 157 && before.details_height < 30);
    await eventually(async () => (await ask(stack.nft).getStatus({})).height === 157, 'blocks');
    assert.equal((await stack.get<CollectionPage>(`${nft}/collections`)).pagination.total, '0');
    // What the chain says is there all the same.
    const request = { collection_addr: art, token_id: '1', height: 0 };
    const { owner } = await ask(stack.nft).getTokenOwner(request);
    assert.match(owner, /^init1/);
    node.faults({});
    await stack.knowsNfts(157);
    // What was refused while others were answered again is asked for a second time, after a while.
    await eventually(
      () =>
        expectAll(stack).then(
          () => true,
          () => false,
        ),
      'every name and uri',
      30_000,
    );
    await expectAll(stack);
    assert.equal(
      (await stack.get<CollectionPage>(`${nft}/collections/by_name/interwoven`)).pagination.total,
      '2',
    );
  });

  it('gives up what the node refuses, and asks again when told to', async () => {
    const { stack } = await start({ recording: 'evm' }, { env: { DETAIL_ATTEMPTS: '1' } });
    await stack.reaches(157);
    await stack.knowsNfts(157);
    const status = () => ask(stack.nft).getStatus({});
    const { details_failed, details_pending } = await status();
    assert.ok(details_failed >= 1, 'the pretender has no name');
    assert.equal(details_pending, 0);
    const bare = '0xce3478a9e0167a6bc5716dc39dbbbfac38f27623';
    const retry = (collection_addr: string) => ask(stack.nft).retryDetails({ collection_addr });
    assert.equal((await retry(art)).retried, 0);
    assert.equal((await retry(bare)).retried, details_failed);
    await eventually(async () => (await status()).details_failed === details_failed, 'another refusal');
    await stack.get(`${nft}/collections/${bare}`, 404);
  });

  it('gives every change of a window, which lead to the owners after any block', async () => {
    const { stack } = await start({ recording: 'evm' });
    await stack.reaches(157);
    await stack.knowsNfts(157);
    const request = { from_height: 1, to_height: 0, collection_addr: '' };
    const changes = await collect(stream(stack.nft).streamChanges(request), (batch) => batch.changes);
    assert.ok(changes.length > 35);
    const places = changes.map(({ height, index }) => height * 1e6 + index);
    assert.deepEqual(
      places,
      [...places].sort((a, b) => a - b),
    );
    // What the changes lead to after a block is what is said about it.
    for (const height of [27, 31, 39, 86, 157]) {
      const owners = new Map<string, string>();
      for (const change of changes.filter((one) => one.height <= height && one.collection_addr === art)) {
        if (change.owner === '') owners.delete(change.token_id);
        else owners.set(change.token_id, change.owner);
      }
      const held = stream(stack.nft).streamCollectionTokens({ collection_addr: art, height });
      const found = await collect(held, ({ tokens }) => tokens.map((one) => [one.token_id, one.owner]));
      assert.deepEqual(found.sort(), [...owners].sort(), `height ${height}`);
    }
    await assert.rejects(
      ask(stack.nft).getTokenOwner({ collection_addr: art, token_id: '1', height: 9999 }),
      /not indexed/,
    );
  });
});
