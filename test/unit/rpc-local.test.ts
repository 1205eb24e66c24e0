import assert from 'node:assert/strict';
import { type ServiceDefinition, status } from '@grpc/grpc-js';
import {
  type BlockServiceClient,
  BlockServiceService,
  BlockServiceClient as RemoteClient,
} from '../../services/common/gen/indexer/block/v1/block.js';
import { connectRpc } from '../../services/common/rpc/client.js';
import type { CallContext } from '../../services/common/rpc/context.js';
import { connectLocal } from '../../services/common/rpc/local.js';
import {
  type RpcServer,
  type ServedService,
  serveRpc,
  streaming,
  unary,
} from '../../services/common/rpc/server.js';
import { notFound } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { ask, stream } from '../support/rpc.js';

/** A service whose answers tell what the handler saw. */
function makeService(seen: { context?: CallContext; sent: number; ended: boolean }): ServedService {
  const environment = { log: createLog('silent'), metrics: createMetrics() };
  const refuse = unary<unknown, never>(environment, async () => {
    throw new Error('secret of the handler');
  });
  const implementation = {
    getStatus: refuse,
    getBlock: unary(environment, async ({ height }: { height: number }, context) => {
      seen.context = context;
      if (height === 404) throw notFound('block 404 is not indexed');
      if (height === 504) await new Promise((resolve) => setTimeout(resolve, 60_000).unref());
      return { block: undefined };
    }),
    listBlocks: refuse,
    getAverageBlockTime: refuse,
    listBlockHashes: refuse,
    streamBlocks: streaming(
      environment,
      async function* ({ from_height }: { from_height: number }, { signal }) {
        try {
          for (let i = from_height; !signal.aborted; i++) {
            if (i === 5) throw notFound('no block 5');
            seen.sent += 1;
            yield { blocks: [], head_height: i };
          }
        } finally {
          seen.ended = true;
        }
      },
    ),
    streamTraces: refuse,
    watchHead: refuse,
  };
  return { definition: BlockServiceService as ServiceDefinition, implementation };
}

for (const kind of ['in this process', 'over a socket'] as const) {
  describe(`a service called ${kind}`, () => {
    const seen: { context?: CallContext; sent: number; ended: boolean } = { sent: 0, ended: false };
    let client: BlockServiceClient;
    let server: RpcServer | undefined;
    before(async () => {
      const service = makeService(seen);
      if (kind === 'over a socket') {
        server = await serveRpc([service], ['127.0.0.1:0']);
        client = connectRpc(RemoteClient, server.address);
      } else {
        client = connectLocal<BlockServiceClient>(service);
      }
    });
    after(async () => {
      client.close();
      await server?.close(100);
    });
    const get = (height: number, settings = {}) => ask(client).getBlock({ height }, settings);

    it('gets the request id and the deadline', async () => {
      const deadline = Date.now() + 5_000;
      await get(1, { deadline, request_id: 'abc' });
      assert.equal(seen.context?.request_id, 'abc');
      assert.ok(Math.abs((seen.context?.deadline ?? 0) - deadline) < 500);
    });

    it('gives statuses, and nothing of what broke inside', async () => {
      await assert.rejects(get(404), { code: status.NOT_FOUND, message: 'block 404 is not indexed' });
      await assert.rejects(ask(client).getStatus({}), {
        code: status.INTERNAL,
        message: 'internal error',
      });
    });

    it('is given up at the deadline, and the handler is told', async () => {
      await assert.rejects(get(504, { deadline: Date.now() + 100 }), { code: status.DEADLINE_EXCEEDED });
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.equal(seen.context?.signal.aborted, true);
    });

    it('can be cancelled', async () => {
      const controller = new AbortController();
      const call = get(504, { signal: controller.signal });
      setTimeout(() => controller.abort(), 50);
      await assert.rejects(call, { code: status.CANCELLED });
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.equal(seen.context?.signal.aborted, true);
    });

    it('is not made when its signal is aborted already', async () => {
      await assert.rejects(get(504, { signal: AbortSignal.abort() }), { code: status.CANCELLED });
    }).timeout(2_000);

    it('streams no faster than it is read, and stops when the reader leaves', async () => {
      seen.sent = 0;
      seen.ended = false;
      const heights: number[] = [];
      for await (const { head_height } of stream(client).streamBlocks({
        from_height: 100,
        parent_hash: '',
      })) {
        heights.push(head_height);
        await new Promise((resolve) => setTimeout(resolve, 20));
        if (heights.length === 5) break;
      }
      assert.deepEqual(heights, [100, 101, 102, 103, 104]);
      await new Promise((resolve) => setTimeout(resolve, 100));
      assert.equal(seen.ended, true);
      if (kind === 'in this process') assert.ok(seen.sent < 12, `${seen.sent} were sent ahead`);
    });

    it('ends a stream with its status, after what was sent before', async () => {
      const heights: number[] = [];
      const read = async (): Promise<void> => {
        for await (const { head_height } of stream(client).streamBlocks({
          from_height: 1,
          parent_hash: '',
        })) {
          heights.push(head_height);
        }
      };
      await assert.rejects(read(), { code: status.NOT_FOUND, message: 'no block 5' });
      assert.ok(heights.every((height, i) => height === i + 1));
    });

    it('ends a stream without an error when the reader aborts', async () => {
      const controller = new AbortController();
      let count = 0;
      for await (const _ of stream(client).streamBlocks(
        { from_height: 100, parent_hash: '' },
        { signal: controller.signal },
      )) {
        if (++count === 3) controller.abort();
        if (count > 50) break;
      }
      assert.ok(count < 50);
    });
  });
}
