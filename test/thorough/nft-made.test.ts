import assert from 'node:assert/strict';
import { eventually } from '../support/block.js';
import { madeChain } from '../support/made/chain.js';
import { checkMade } from '../support/made/check.js';
import { evmActor } from '../support/made/evm.js';
import { moveActor } from '../support/made/move.js';
import { startMadeNode } from '../support/made/node.js';
import { type MadeService, serviceHere, serviceProgram } from '../support/made/service.js';
import { wasmActor } from '../support/made/wasm.js';
import { randomFrom } from '../support/random.js';
import { ask } from '../support/rpc.js';
import { isWhole } from '../support/sample.js';
import { startBlockSource } from '../support/tx-block-source.js';

const actors = { evm: evmActor, move: moveActor, wasm: wasmActor } as const;

/** Other chains: SEED is the first, HISTORIES how many. */
const first = Number(process.env['SEED'] ?? 1);
const histories = Number(process.env['HISTORIES'] ?? 1);

const ways = {
  'from a node that fails and lags': serviceHere,
  'by a program that is killed meanwhile': serviceProgram,
};

for (const vm of ['evm', 'move', 'wasm'] as const)
  for (const [what, start] of Object.entries(ways)) {
    // What a kill leaves is the same on all chains.
    if (start === serviceProgram && vm !== 'evm' && !isWhole) continue;
    describe(`the NFTs of made-up ${vm} chains, ${what}`, function () {
      this.timeout(300_000);
      for (let seed = first; seed < first + histories; seed++)
        it(`are exact after every growth and rollback (chain ${seed})`, () => follow(vm, seed, start));
    });
  }

async function follow(
  vm: keyof typeof actors,
  seed: number,
  start: (env: Readonly<Record<string, string>>) => Promise<MadeService>,
): Promise<void> {
  const chain = madeChain(actors[vm], seed);
  const random = randomFrom(seed * 7 + 1);
  const source = await startBlockSource({ vm_type: vm, contentOf: (height) => chain.contentOf(height) });
  const node = await startMadeNode(chain, seed);
  const service = await start({
    ...{ BLOCK_SERVICE_ADDR: source.address, VM_TYPE: vm, NODE_TIMEOUT_MS: '2000', NFT_REFRESH_MS: '0' },
    ...(vm === 'evm' ? { JSON_RPC_URL: node.url } : { REST_URL: node.url }),
  });
  const { client } = service;
  const isThere = async (): Promise<boolean> => {
    const status = await ask(client)
      .getStatus({})
      .catch(() => undefined);
    if (status === undefined) return false;
    const { height, details_height, hash } = status;
    return height === chain.height && details_height === height && hash === source.blocks.at(-1)?.hash;
  };
  const pause = (most: number) => new Promise((resolve) => setTimeout(resolve, random.integer(most)));
  try {
    for (let step = 0; step < 3; step++) {
      node.troubles({ fail_one_in: 12, stale_one_in: 4, keeps: 15 });
      if (step > 0 && random.oneIn(2)) {
        const height = chain.height - 1 - random.integer(12);
        chain.cutTo(height);
        source.cutTo(height);
      }
      for (let blocks = 10 + random.integer(15); blocks > 0; blocks--) {
        source.grow(1, `f${step}`);
        if (random.oneIn(8)) await pause(60);
        if (random.oneIn(12)) {
          await service.kill();
          // Sometimes it comes to work before the next one, sometimes it does not even start.
          await pause(1_500);
        }
      }
      await eventually(isThere, `block ${chain.height}`, 60_000);
      // What was refused or not answered is asked again after a while.
      node.troubles({});
      const check = { client, chain, vm, random: randomFrom(seed + step) };
      await settles(() => checkMade(check, step === 2));
    }
  } finally {
    await service.stop();
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
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
  }
}
