import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ServiceError, status } from '@grpc/grpc-js';
import { BlockServiceClient, BlockServiceService } from '../../services/common/gen/indexer/block/v1/block.js';
import { createLog } from '../../services/common/log.js';
import { createMetrics } from '../../services/common/metrics.js';
import { connectRpc } from '../../services/common/rpc/client.js';
import { type RpcServer, serveRpc, streaming, streamsFull } from '../../services/common/rpc/server.js';
import { createStreamBound } from '../../services/common/rpc/stream-bound.js';
import { openPlainTransport, plainTransport } from '../../services/common/rpc/transport.js';

describe('streams over gRPC', () => {
  const metrics = createMetrics();
  const environment = { log: createLog('silent'), metrics };
  let server: RpcServer;
  let client: BlockServiceClient;
  beforeEach(async () => {
    const implementation = {
      /** Ends after the first message, fails, or never ends. */
      streamBlocks: streaming(
        environment,
        async function* ({ from_height }: { from_height: number }, { signal }) {
          yield { blocks: [], head_height: from_height };
          if (from_height === 1) return;
          if (from_height === 2) throw new Error('broken');
          await new Promise((resolve) => signal.addEventListener('abort', resolve));
        },
      ),
      watchHead: streaming(environment, async function* (_, { signal }) {
        yield { height: 1, trace_height: 1, revision: 0 };
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      }),
    };
    const service = {
      definition: BlockServiceService,
      implementation: implementation as never,
      onStreamsFull: streamsFull('block', environment),
    };
    const transport = openPlainTransport({ GRPC_MAX_STREAMS: 8 });
    server = await serveRpc([service], ['127.0.0.1:0'], transport);
    client = connectRpc(BlockServiceClient, server.address, plainTransport.client);
  });
  afterEach(async () => {
    client.close();
    await server.close(0);
  });

  /** Opens one. @returns how it began, and what cancels it. */
  const open = async (from_height: number) => {
    const call = client.streamBlocks({ from_height, parent_hash: '' });
    const code = await new Promise<status>((resolve) => {
      call.on('data', () => resolve(status.OK));
      call.on('error', ({ code }: ServiceError) => resolve(code));
    });
    const ended = new Promise((resolve) => call.on('close', resolve));
    return {
      code,
      cancel: async () => {
        call.cancel();
        await ended;
      },
      ended,
    };
  };

  it('one address has half of them, and others are refused with the setting that says so', async () => {
    const streams = [];
    for (let count = 0; count < 4; count++) streams.push(await open(3));
    assert.deepEqual(
      streams.map(({ code }) => code),
      [0, 0, 0, 0],
    );
    assert.equal((await open(3)).code, status.RESOURCE_EXHAUSTED);
    assert.match(
      await metrics.registry.metrics(),
      /weft_limit_reached_total\{service="block",limit="GRPC_MAX_STREAMS"\} 1/,
    );
    // Those that watch heights are cheap.
    for (let count = 0; count < 20; count++) {
      const watch = client.watchHead({});
      watch.on('error', () => {});
      await new Promise((resolve) => watch.once('data', resolve));
      watch.cancel();
    }
    await streams[0]?.cancel();
    let again = await open(3);
    for (let looks = 0; again.code !== status.OK && looks < 100; looks++) {
      await sleep(20);
      again = await open(3);
    }
    assert.equal(again.code, status.OK);
  });

  it('those that ended or failed count no more', async () => {
    for (let count = 0; count < 30; count++) {
      const { code, ended } = await open(1 + (count % 2));
      assert.equal(code, status.OK);
      await ended;
      await sleep(5);
    }
  });

  it('nobody has more than half, and all together no more than there are', () => {
    const bound = createStreamBound(5);
    const begin = (address: string) => bound.begin(`${address}:${Math.floor(Math.random() * 60_000)}`);
    const first = [begin('10.0.0.1'), begin('10.0.0.1'), begin('10.0.0.1'), begin('10.0.0.1')];
    assert.deepEqual(
      first.map((end) => end !== undefined),
      [true, true, true, false],
    );
    assert.ok(begin('::1') !== undefined && begin('10.0.0.2') !== undefined);
    assert.equal(begin('10.0.0.3'), undefined);
    first[0]?.();
    first[0]?.();
    assert.ok(begin('10.0.0.3') !== undefined);
    assert.equal(begin('10.0.0.3'), undefined);
  });
});
