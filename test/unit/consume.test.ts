import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { status, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { type Consumer, type Cursor, consume } from '../../services/common/consumer/consume.js';
import {
  type BlockServiceClient,
  BlockServiceService,
  type RawBlock,
  type StreamBlocksRequest,
} from '../../services/common/gen/indexer/block/v1/block.js';
import { connectLocal } from '../../services/common/rpc/local.js';
import { streaming, unary } from '../../services/common/rpc/server.js';
import { RpcError } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { eventually } from '../support/block.js';

const tick = () => sleep(1);
/** A node that has no further block, for longer than any test takes. */
const pause = () => sleep(60_000, undefined, { ref: false });

const environment = {
  log: createLog('silent'),
  metrics: createMetrics(),
  health: { succeeded: () => {}, failed: () => {}, reason: () => '' },
};

/** Block `height` of a chain that a letter tells apart. */
const block = (height: number, chain = 'a'): RawBlock => ({
  height,
  hash: `${chain}${height}`,
  parent_hash: `${chain}${height - 1}`,
  timestamp: '',
  tx_count: 0,
  material: Buffer.alloc(0),
  material_bytes: 0,
});

interface Source {
  readonly stream: (request: StreamBlocksRequest) => AsyncIterable<RawBlock[]>;
  readonly hashes?: () => Promise<readonly RawBlock[]>;
}

/** A block service, with how often it was asked. */
function source({ stream, hashes = async () => [] }: Source) {
  const asked = { streams: 0, hashes: 0 };
  const implementation = {
    listBlockHashes: unary(environment, async () => {
      asked.hashes += 1;
      await tick(); // as a remote service does, so that a loop without a wait ends with the test
      return { blocks: [...(await hashes())] };
    }),
    streamBlocks: streaming(environment, async function* (request: StreamBlocksRequest) {
      asked.streams += 1;
      await tick();
      for await (const blocks of stream(request)) yield { blocks, head_height: 0 };
    }),
  } as unknown as UntypedServiceImplementation;
  const blocks = connectLocal<BlockServiceClient>({ definition: BlockServiceService, implementation });
  return { asked, blocks };
}

/** A consumer that keeps blocks in memory. */
function consumer(kept: Cursor[]): Consumer<RawBlock> {
  return {
    name: 'test',
    recover: async () => kept.at(-1),
    prepare: async (blocks) => blocks,
    write: async (blocks) => {
      kept.push(...blocks.map(({ height, hash }) => ({ height, hash })));
    },
    hashes: async (from, to) => kept.filter(({ height }) => height >= from && height <= to),
    unwind: async (height) => {
      kept.splice(0, kept.length, ...kept.filter((each) => each.height <= height));
    },
  };
}

/** Consumes until a condition holds or so many milliseconds have passed; `write` may stand in for the consumer's. */
async function run(
  blocks: BlockServiceClient,
  kept: Cursor[],
  until: (() => boolean) | number,
  write = consumer(kept).write,
): Promise<void> {
  const controller = new AbortController();
  const options = { blocks, signal: controller.signal, ...environment };
  const running = consume({ ...consumer(kept), write }, options);
  if (typeof until === 'number') await sleep(until);
  else await eventually(until, 'the consumer', 10_000);
  controller.abort();
  await running;
}

// biome-ignore lint/correctness/useYield: a stream that fails at once
async function* rolledBack(): AsyncGenerator<RawBlock[]> {
  throw new RpcError(status.ABORTED, 'the chain was rolled back');
}

describe('the loop of every consumer', () => {
  it('unwinds a rollback and goes on at once', async () => {
    const kept = [1, 2, 3].map((height) => block(height));
    const now = [block(1), block(2, 'b'), block(3, 'b')];
    const { blocks, asked } = source({
      hashes: async () => now,
      stream: async function* (request) {
        if (request.parent_hash === 'a3') yield* rolledBack();
        yield now.slice(request.from_height - 1);
        await pause();
      },
    });
    await run(blocks, kept, () => kept.at(-1)?.hash === 'b3');
    assert.deepEqual(
      kept.map(({ hash }) => hash),
      ['a1', 'b2', 'b3'],
    );
    assert.deepEqual(asked, { streams: 2, hashes: 1 });
  });

  it('tries again at once when the last write fails, though no further block comes', async () => {
    const kept: Cursor[] = [];
    const { blocks } = source({
      stream: async function* ({ from_height }) {
        yield [1, 2].filter((height) => height >= from_height).map((height) => block(height));
        await pause();
      },
    });
    const { write } = consumer(kept);
    let failures = 0;
    await run(
      blocks,
      kept,
      () => kept.length === 2,
      async (prepared) => {
        await tick();
        if (failures++ === 0) throw new Error('caused by the test');
        await write(prepared);
      },
    );
    assert.equal(failures, 2);
  });

  it('writes together what has come while it was writing, in order, and no more than is bearable', async () => {
    const kept: Cursor[] = [];
    const total = 2_500;
    const { blocks } = source({
      stream: async function* () {
        for (let height = 1; height <= total; height += 5)
          yield Array.from({ length: 5 }, (_, index) => block(height + index));
        await pause();
      },
    });
    const { write } = consumer(kept);
    const sizes: number[] = [];
    await run(
      blocks,
      kept,
      () => kept.length === total,
      async (prepared) => {
        sizes.push(prepared.length);
        await sleep(100);
        await write(prepared);
      },
    );
    assert.deepEqual(
      kept.map(({ height }) => height),
      Array.from({ length: total }, (_, index) => index + 1),
    );
    assert.ok(sizes.length < 50, `${sizes.length} writes`);
    assert.ok(Math.max(...sizes) <= 1_005, `${Math.max(...sizes)} blocks at once`);
  });

  it('leaves what is not written yet when it is stopped', async () => {
    const kept: Cursor[] = [];
    const { blocks } = source({
      stream: async function* () {
        for (let height = 1; ; height++) {
          yield [block(height)];
          await tick();
        }
      },
    });
    const well = consumer(kept);
    const controller = new AbortController();
    let writes = 0;
    const write: typeof well.write = async (prepared) => {
      writes += 1;
      await sleep(50);
      controller.abort();
      await sleep(50);
      await well.write(prepared);
    };
    await consume({ ...well, write }, { blocks, signal: controller.signal, ...environment });
    assert.equal(writes, 1);
    assert.equal(kept.length, 1, 'what was being written is written whole');
  });

  it('waits before it tries again when unwinding fails', async () => {
    const { blocks, asked } = source({
      stream: rolledBack,
      hashes: () => Promise.reject(new Error('caused by the test')),
    });
    await run(blocks, [block(1)], 700);
    assert.ok(asked.hashes >= 1 && asked.hashes <= 6, `${asked.hashes} attempts in 0.7 s`);
  });

  it('waits when it is told of a rollback of which it finds nothing', async () => {
    const kept = [block(1), block(2)];
    const { blocks, asked } = source({ stream: rolledBack, hashes: async () => kept });
    await run(blocks, kept, 700);
    assert.ok(asked.streams >= 1 && asked.streams <= 6, `${asked.streams} attempts in 0.7 s`);
    assert.equal(kept.length, 2, 'nothing is removed');
  });
});
