import assert from 'node:assert/strict';
import { loadSettings } from '../../services/common/config.js';
import { NftServiceClient } from '../../services/common/gen/indexer/nft/v1/nft.js';
import { createLog } from '../../services/common/log.js';
import { createMetrics } from '../../services/common/metrics.js';
import { callRpc, connectRpc } from '../../services/common/rpc/client.js';
import { nftSettings } from '../../services/nft/config.js';
import { startNft } from '../../services/nft/main.js';
import { eventually } from '../support/block.js';
import { testDatabase, uniquePrefix } from '../support/database.js';
import { madeChain } from '../support/made/chain.js';
import { checkMade } from '../support/made/check.js';
import { evmActor } from '../support/made/evm.js';
import { moveActor } from '../support/made/move.js';
import { startMadeNode } from '../support/made/node.js';
import { wasmActor } from '../support/made/wasm.js';
import { randomFrom } from '../support/random.js';
import { isThorough } from '../support/sample.js';
import { startBlockSource } from '../support/tx-block-source.js';

const actors = { evm: evmActor, move: moveActor, wasm: wasmActor } as const;

/** Other chains: SEED is the first, HISTORIES how many. */
const first = Number(process.env['SEED'] ?? 1);
const histories = Number(process.env['HISTORIES'] ?? (isThorough ? 3 : 1));

for (const vm of ['evm', 'move', 'wasm'] as const)
  describe(`the NFTs of made-up ${vm} chains, from a node that fails and lags`, function () {
    this.timeout(180_000);
    for (let seed = first; seed < first + histories; seed++)
      it(`are exact after every growth and rollback (chain ${seed})`, () => follow(vm, seed));
  });

async function follow(vm: keyof typeof actors, seed: number): Promise<void> {
  const chain = madeChain(actors[vm], seed);
  const random = randomFrom(seed * 7 + 1);
  const source = await startBlockSource({ vm_type: vm, contentOf: (height) => chain.contentOf(height) });
  const node = await startMadeNode(chain, seed);
  const env = {
    ...{ CLICKHOUSE_DATABASE: uniquePrefix(), BLOCK_SERVICE_ADDR: source.address, VM_TYPE: vm },
    ...{ REST_URL: node.url, JSON_RPC_URL: node.url, NODE_TIMEOUT_MS: '2000', SHUTDOWN_GRACE_MS: '200' },
  };
  const process = await startNft({
    ...{ config: loadSettings(nftSettings, env), database: await testDatabase() },
    ...{ log: createLog('silent'), metrics: createMetrics(), addresses: ['127.0.0.1:0'] },
  });
  const client = connectRpc(NftServiceClient, process.address);
  const isThere = async (): Promise<boolean> => {
    const { height, details_height, hash } = await callRpc(client.getStatus.bind(client), {});
    return height === chain.height && details_height === height && hash === source.blocks.at(-1)?.hash;
  };
  try {
    for (let step = 0; step < 4; step++) {
      node.troubles({ fail_one_in: 12, stale_one_in: 4, keeps: 15 });
      if (step > 0 && random.oneIn(2)) {
        const height = chain.height - 1 - random.integer(12);
        chain.cutTo(height);
        source.cutTo(height);
      }
      for (let blocks = 10 + random.integer(15); blocks > 0; blocks--) {
        source.grow(1, `f${step}`);
        if (random.oneIn(8)) await new Promise((resolve) => setTimeout(resolve, random.integer(60)));
      }
      await eventually(isThere, `block ${chain.height}`, 60_000);
      // What was refused or not answered is asked again after a while.
      node.troubles({});
      const check = { client, chain, vm, random: randomFrom(seed + step) };
      await settles(() => checkMade(check));
    }
  } finally {
    client.close();
    await process.stop();
    await node.close();
    await source.close();
  }
}

/** Repeats what may fail for a while. */
async function settles(check: () => Promise<void>): Promise<void> {
  const end = Date.now() + 30_000;
  for (;;) {
    try {
      await check();
      return;
    } catch (error) {
      assert.ok(error instanceof Error);
      if (Date.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}
