import assert from 'node:assert/strict';
import { eventually } from '../support/block.js';
import { execute, testDatabase } from '../support/database.js';
import { holdAt } from '../support/gate.js';
import { everyNftAnswer, everyNftPath } from '../support/nft-answers.js';
import { nftContents, type RebuildableOptions, startRebuildable, tableContents } from '../support/reindex.js';
import { ask } from '../support/rpc.js';
import { isWhole } from '../support/sample.js';
import { endsAfterEach } from '../support/suite.js';

describe('rebuilding the tables of the nft service', () => {
  const endLater = endsAfterEach();

  async function start(recording: 'evm' | 'move' | 'wasm', given: RebuildableOptions = {}) {
    const env = { CACHE_MB: '0', REINDEX_KEEP_MS: '0', NODE_TIMEOUT_MS: '300' };
    const stack = await startRebuildable('nft', { ...given, recording, env }, endLater);
    await stack.knowsNfts(stack.node.tip());
    /** The database of a generation. */
    const name = (generation: number): string =>
      generation === 1 ? `${stack.prefix}_nft` : `${stack.prefix}_nft_g${generation}`;
    return { ...stack, name };
  }

  for (const recording of isWhole ? (['evm', 'move', 'wasm'] as const) : (['evm'] as const)) {
    it(`heals every list of the ${recording} chain, without asking the node for blocks`, async () => {
      const { node, name, rebuild, ...stack } = await start(recording);
      const database = await testDatabase();
      const paths = await everyNftPath(database, name(1));
      assert.ok(paths.length > 10, `${paths.length} lists`);
      const [answers, rows] = [
        await everyNftAnswer(stack, paths),
        await tableContents(database, name(1), nftContents),
      ];

      for (const [table, condition] of [
        ['token_lists', "list IN ('collection', 'owner_height')"],
        ['token_counts', "account = ''"],
        ['token_states', 'cityHash64(id_key) % 2 = 0'],
        ['births', '1'],
      ])
        await execute(`DELETE FROM ${name(1)}.${table} WHERE ${condition}`);
      assert.notDeepEqual(await everyNftAnswer(stack, paths).catch(() => undefined), answers);
      node.resetRequests();
      await rebuild();
      assert.equal(node.requests()['rpc.block'] ?? 0, 0);
      assert.equal(node.requests()['rest.txs_block'] ?? 0, 0);
      assert.deepEqual(await everyNftAnswer(stack, paths), answers);
      assert.deepEqual(await tableContents(database, name(2), nftContents), rows);

      if (recording !== 'wasm') return;
      // What only the node says is taken over where it says nothing, and asked again later.
      node.faults({ fail_one_in: 1, kinds: ['http500'], apis: ['rest', 'evm'] });
      await rebuild();
      assert.deepEqual(await everyNftAnswer(stack, paths), answers);
      const pending = async (): Promise<number> => (await ask(stack.nft).getStatus({})).details_pending;
      assert.ok((await pending()) > 0, 'the node is asked again');
    });
  }

  it('is unwound with the tables in use when the chain is rolled back, and reads go on meanwhile', async () => {
    const hold = holdAt('reindex prepared');
    const { node, name, rebuild, ...stack } = await start('evm', { tip: 90, fault: hold.fault });
    endLater(hold.open);
    let [isOver, reads] = [false, 0];
    /**
     * Calls wait a second for a cut to end; one that takes longer is a 503 that says to come again, and a client does so.
     * Not strictly 200: the cut takes a moment on an idle machine, and many seconds on a loaded one.
     */
    const read = async (until = Date.now() + 30_000): Promise<void> => {
      const response = await fetch(`${stack.url}/indexer/nft/v1/collections`);
      await response.arrayBuffer();
      if (response.status === 503 && Date.now() < until) {
        assert.match(response.headers.get('retry-after') ?? '', /^\d+$/);
        await new Promise((resolve) => setTimeout(resolve, 100));
        return read(until);
      }
      assert.equal(response.status, 200);
    };
    const reading = (async () => {
      while (!isOver) {
        await read();
        reads += 1;
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
    })();
    const rebuilding = rebuild();
    await eventually(hold.isReached, 'the tables');
    node.fork(50, { tip: 100 });
    await eventually(
      async () => (await ask(stack.nft).getStatus({})).height === 100,
      'the new chain in the tables in use',
    );
    hold.open();
    await rebuilding;
    isOver = true;
    await reading;
    assert.ok(reads > 10);
    await eventually(
      async () => (await ask(stack.nft).getStatus({})).details_height >= 100,
      'the new chain in the rebuilt tables',
    );
    const database = await testDatabase();
    const fresh = await start('evm', { node });
    assert.deepEqual(
      await tableContents(database, name(2), nftContents),
      await tableContents(database, fresh.name(1), nftContents),
    );
  });
});
