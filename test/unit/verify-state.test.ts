import assert from 'node:assert/strict';
import { setMaxListeners } from 'node:events';
import { createEndpoints } from '../../services/common/chain/endpoints.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import type { ReplayNode } from '../../tools/replay/node.js';
import type { Api } from '../../tools/verify/api.js';
import type { Sides } from '../../tools/verify/check.js';
import { balances } from '../../tools/verify/checks/balances.js';
import { owners } from '../../tools/verify/checks/owners.js';
import { blockStarters } from '../support/block.js';
import { readFacts, vmOf } from '../support/facts.js';
import { readChain } from '../support/recorded-chain.js';
import { sampled } from '../support/sample.js';
import { endsAfterEach } from '../support/suite.js';

interface NftFact {
  readonly collection?: string;
  readonly contract?: string;
  readonly object_addr?: string;
  readonly token_id: string;
  readonly owner: string;
  readonly height: number;
}

interface NftFacts {
  readonly collections: readonly { object_addr: string; contract?: string; is_collection?: boolean }[];
  readonly nfts: readonly NftFact[];
}

/** The same node, whose tokens all have this supply. */
function withSupply(sides: Sides, supply: bigint): Sides {
  const { json_rpc } = sides;
  const result = `0x${supply.toString(16).padStart(64, '0')}`;
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, result });
  return {
    ...sides,
    json_rpc: {
      ...json_rpc,
      ask: (request, read) =>
        request.body?.includes('0x18160ddd') ? Promise.resolve(read(200, body)) : json_rpc.ask(request, read),
    },
  };
}

describe('comparing state with the node', function () {
  this.timeout(60_000);
  const endLater = endsAfterEach();
  const { startNode } = blockStarters(endLater);

  /** A real node, and an index that answers lists by their path. */
  async function start(
    name: 'evm' | 'move' | 'wasm',
    lists: (path: string) => readonly unknown[],
  ): Promise<{ node: ReplayNode; sides: Sides }> {
    const node = await startNode({ recording: name });
    const shared = { log: createLog('silent'), metrics: createMetrics(), timeout_ms: 1_000, connections: 4 };
    const [rpc, rest, json_rpc] = [
      createEndpoints('rpc', [node.rpc_url], shared),
      createEndpoints('rest', [node.rest_url], shared),
      createEndpoints('jsonrpc', name === 'evm' ? [node.json_rpc_url] : [], shared),
    ];
    for (const each of [rpc, rest, json_rpc]) endLater(() => each.close());
    const api: Api = {
      get: async <T>(path: string) => {
        const address = /collections\/(.*)$/.exec(path)?.[1];
        if (address === undefined) return { rich_list_height: node.tip() } as T;
        const { length } = lists(`/indexer/nft/v1/tokens/by_collection/${address}`);
        return { collection: { collection: { nfts: { length } } } } as T;
      },
      list: async <T>(path: string, _: string, most?: number) => lists(path).slice(0, most) as T[],
      close: async () => {},
    };
    const leaving = new AbortController();
    setMaxListeners(0, leaving.signal);
    const sides: Sides = {
      api,
      rpc,
      rest,
      json_rpc,
      vm_type: vmOf(name),
      account_prefix: 'init',
      internal_tx_height: 0,
      rich_list_height: node.tip(),
      signal: leaving.signal,
    };
    return { node, sides };
  }

  for (const name of sampled(['move', 'evm', 'wasm'] as const, 2)) {
    it(`agrees with the owners of the ${name} chain, and finds one that is wrong`, async () => {
      const { collections, nfts } = readFacts(name) as unknown as NftFacts;
      const known = collections.filter(({ is_collection }) => is_collection !== false);
      let wrong = '';
      const tokensOf = (address: string): unknown[] => {
        const collection = known.find(({ object_addr }) => object_addr === address);
        return nfts
          .filter((nft) => (nft.collection ?? nft.contract) === (collection?.contract ?? address))
          .map((nft) => ({
            collection_addr: address,
            object_addr: nft.object_addr ?? '',
            height: nft.height,
            owner: `${address}/${nft.token_id}` === wrong ? `0x${'7'.repeat(40)}` : nft.owner,
            nft: { token_id: nft.token_id },
          }));
      };
      const { sides } = await start(name, (path) => {
        if (path === '/indexer/nft/v1/collections') return known;
        const [, address = '', id] = /by_collection\/(0x[0-9a-f]+)(?:\?token_id=(.*))?$/.exec(path) ?? [];
        const tokens = tokensOf(address) as { nft: { token_id: string } }[];
        return id === undefined
          ? tokens
          : tokens.filter(({ nft }) => nft.token_id === decodeURIComponent(id));
      });
      const clean = await owners.run(sides, undefined);
      assert.deepEqual(clean.differences, []);
      // One contract of the Wasm chain says things in its events that it does not stand by.
      assert.equal(clean.notes?.length, name === 'wasm' ? 3 : 0);
      for (const note of clean.notes ?? [])
        assert.match(note, /0x45dbea4617971d93188e.* contradicts its own/);
      assert.ok(clean.compared >= 10, `${clean.compared} tokens`);
      const [some] = tokensOf(known[0]?.object_addr ?? '') as { nft: { token_id: string } }[];
      wrong = `${known[0]?.object_addr}/${some?.nft.token_id}`;
      const found = await owners.run(sides, 3);
      assert.deepEqual(
        found.differences.map(({ part, index }) => [part, index]),
        [['owner', `0x${'7'.repeat(40)}`]],
      );
      assert.equal(found.compared, 3);
    });
  }

  it('agrees with the balances of the evm chain, and finds those that are wrong', async () => {
    const facts = readFacts('evm') as unknown as {
      holders: Record<string, { account: string; amount: string }[]>;
    };
    const lists = new Map(
      Object.entries(facts.holders).map(([denom, holders]) => [denom.toLowerCase(), holders]),
    );
    const receipts = [...readChain('evm').receipts.values()].flat();
    const { sides } = await start('evm', (path) => {
      const denom = decodeURIComponent(/richlist\/v1\/(.+)$/.exec(path)?.[1] ?? '');
      return path === '/indexer/tx/v1/evm-txs' ? receipts : (lists.get(denom.toLowerCase()) ?? []);
    });
    const clean = await balances.run(sides, undefined);
    assert.deepEqual(clean.differences, []);
    assert.ok(clean.compared >= 10, `${clean.compared} balances`);
    assert.deepEqual(clean.notes, [], 'nobody says how much there is');
    const supplied = await balances.run(withSupply(sides, 10n ** 60n), undefined);
    assert.deepEqual(supplied.differences, []);
    assert.ok((supplied.notes?.length ?? 0) > 0);
    const note = /of a supply of 10{60} at height \d+: \d+ are with nobody known$/;
    assert.match(String(supplied.notes?.[0]), note);
    const [denom, holders] = [...lists][0] as [string, { account: string; amount: string }[]];
    const [first, second] = holders;
    assert.ok(first !== undefined && second !== undefined);
    lists.set(denom, [{ ...first, amount: '17' }, ...holders.slice(2)]);
    const found = await balances.run(sides, undefined);
    assert.deepEqual(
      found.differences.map(({ index, node }) => [index, node]).sort(),
      [
        ['17', first.amount],
        ['0', second.amount],
      ].sort(),
    );
  });
});
