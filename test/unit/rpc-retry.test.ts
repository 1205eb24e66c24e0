import assert from 'node:assert/strict';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { TxServiceClient, TxServiceService } from '../../services/common/gen/indexer/tx/v1/tx.js';
import { connectRpc, maySendAgain } from '../../services/common/rpc/client.js';
import { serveRpc, unary } from '../../services/common/rpc/server.js';
import { RpcError } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { freePort } from '../../tools/bench/processes.js';
import { ask } from '../support/rpc.js';
import { endsAfterEach } from '../support/suite.js';

/** Node 20 has no Promise.withResolvers. */
function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

const environment = { log: createLog('silent'), metrics: createMetrics() };

describe('a call that fails', () => {
  let address: string;
  let calls: number;

  beforeEach(async () => {
    address = `127.0.0.1:${await freePort()}`;
    calls = 0;
  });
  const endLater = endsAfterEach();

  async function serve(answer: () => Promise<never>): Promise<void> {
    const getStatus = unary(environment, async () => {
      calls += 1;
      return answer();
    });
    const service = { definition: TxServiceService, implementation: { getStatus } as never };
    const server = await serveRpc([service], [address]);
    endLater(() => server.close(0));
  }
  const failureOf = async (target: string): Promise<unknown> => {
    const client = connectRpc(TxServiceClient, target);
    try {
      await ask(client).getStatus({}, { deadline: Date.now() + 5_000 });
    } catch (error) {
      return error;
    } finally {
      client.close();
    }
    throw new Error('it did not fail');
  };

  it('may be sent again when a handler gave the status', async () => {
    await serve(async () => {
      throw new RpcError(14, 'the database does not answer');
    });
    assert.equal(maySendAgain(await failureOf(address)), true);
    assert.equal(calls, 1);
  });

  it('may be sent again when there is nobody, and says so soon', async () => {
    const started = performance.now();
    assert.equal(maySendAgain(await failureOf(address)), true);
    assert.ok(performance.now() - started < 3_000);
  });

  it('is not sent again when its connection broke while it was under way', async () => {
    // Between the client and the service: cuts the connection once the call has arrived.
    const open = new Set<Socket>();
    const { promise: arrived, resolve } = withResolvers();
    await serve(() => {
      resolve();
      return new Promise(() => {});
    });
    const proxy = createServer((socket) => {
      const upstream = connect(Number(address.split(':')[1]), '127.0.0.1');
      for (const one of [socket, upstream]) {
        open.add(one);
        one.on('error', () => {});
      }
      socket.pipe(upstream).pipe(socket);
    });
    await new Promise<void>((done) => proxy.listen(0, '127.0.0.1', done));
    endLater(() => proxy.close());
    const failure = failureOf(`127.0.0.1:${(proxy.address() as AddressInfo).port}`);
    await arrived;
    for (const socket of open) socket.destroy();
    const error = await failure;
    assert.equal((error as RpcError).code, 14);
    assert.equal(maySendAgain(error), false);
    assert.equal(calls, 1);
  });
});
