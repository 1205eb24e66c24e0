import assert from 'node:assert/strict';
import { RpcError } from '../../services/common/errors.js';
import { TxServiceClient, TxServiceService } from '../../services/common/gen/indexer/tx/v1/tx.js';
import { createLog } from '../../services/common/log.js';
import { createMetrics } from '../../services/common/metrics.js';
import { callRpc, connectReader, connectRpc } from '../../services/common/rpc/client.js';
import { type RpcServer, serveRpc, unary } from '../../services/common/rpc/server.js';
import { freePort } from '../../tools/bench/processes.js';

const environment = { log: createLog('silent'), metrics: createMetrics() };

describe('a call that reaches nobody', () => {
  let address: string;
  let server: RpcServer | undefined;
  let calls: number;

  beforeEach(async () => {
    address = `127.0.0.1:${await freePort()}`;
    calls = 0;
  });
  afterEach(() => server?.close(0));

  /** Serves statuses, the first `failing` ones as a service whose database is away does. */
  async function serve(failing = 0): Promise<void> {
    const getStatus = unary(environment, async () => {
      calls += 1;
      if (calls <= failing) throw new RpcError(14, 'the database does not answer');
      return { height: 5, internal_tx_height: 0, hash: 'AB' };
    });
    server = await serveRpc(
      [{ definition: TxServiceService, implementation: { getStatus } as never }],
      [address],
    );
  }
  const ask = async (connect: typeof connectRpc): Promise<number> => {
    const client = connect(TxServiceClient, address);
    try {
      const { height } = await callRpc(client.getStatus.bind(client), {}, { deadline: Date.now() + 5_000 });
      return Number(height);
    } finally {
      client.close();
    }
  };

  it('is sent again by a reader, and answered by a replica that comes meanwhile', async () => {
    await serve(2);
    assert.equal(await ask(connectReader), 5);
    assert.equal(calls, 3);
  });

  it('is given up after the third time', async () => {
    await serve(10);
    await assert.rejects(ask(connectReader), { code: 14 });
    assert.equal(calls, 3);
  });

  it('is sent once by a client that may change something', async () => {
    await serve(1);
    await assert.rejects(ask(connectRpc), { code: 14 });
    assert.equal(calls, 1);
  });

  it('fails soon where there is nobody at all', async () => {
    const started = performance.now();
    await assert.rejects(ask(connectReader), { code: 14 });
    assert.ok(performance.now() - started < 3_000);
  });
});
