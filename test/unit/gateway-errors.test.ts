import assert from 'node:assert/strict';
import { type AddressInfo, createServer as createTcpServer, type Socket } from 'node:net';
import { status } from '@grpc/grpc-js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { RpcError } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { gatewaySettings } from '../../services/gateway/config.js';
import { problemOf } from '../../services/gateway/errors.js';
import { startGateway } from '../../services/gateway/main.js';
import { startFakeServices } from '../support/fake-services.js';
import { send, startTestGateway, until } from '../support/gateway-client.js';
import { startBeforeEach } from '../support/suite.js';

const list = '/indexer/tx/v1/txs';

describe('gateway: errors', () => {
  const table: readonly [status, number][] = [
    [status.INVALID_ARGUMENT, 400],
    [status.NOT_FOUND, 404],
    [status.RESOURCE_EXHAUSTED, 503],
    [status.UNIMPLEMENTED, 501],
    [status.UNAVAILABLE, 503],
    [status.DEADLINE_EXCEEDED, 504],
    [status.UNKNOWN, 500],
    [status.INTERNAL, 500],
    [status.DATA_LOSS, 500],
    [status.ABORTED, 500],
    [status.CANCELLED, 500],
  ];
  for (const [code, http] of table) {
    it(`${status[code]} is ${http}${http < 500 ? '' : ' and hides what the service said'}`, () => {
      const problem = problemOf(new RpcError(code, 'SELECT secret FROM 10.0.0.1'));
      assert.equal(problem.http, http);
      assert.equal(problem.message.includes('secret'), http === 400 || http === 404);
      assert.equal(problem.headers?.['retry-after'] !== undefined, http === 503);
    });
  }
  it('an answer that is too large for gRPC is not the client asking too often', () => {
    const error = new RpcError(status.RESOURCE_EXHAUSTED, 'Received message larger than max (9 vs. 4)');
    const problem = problemOf(error);
    assert.deepEqual([problem.http, problem.headers], [500, undefined]);
    assert.match(problem.message, /too large.*pagination\.limit/);
  });
  it('a query that takes too much memory says how to ask for less', () => {
    const said = 'tx.list takes more memory than QUERY_MEMORY_MB allows';
    const { http, message } = problemOf(new RpcError(status.RESOURCE_EXHAUSTED, said));
    assert.equal(http, 503);
    assert.match(message, /too much memory: ask for fewer items/);
  });
  for (const thrown of [new Error('secret'), 'secret', undefined, null, { code: 5, message: 'secret' }]) {
    it(`anything else thrown (${thrown}) is an internal error`, () => {
      assert.deepEqual(problemOf(thrown), { http: 500, code: 13, message: 'internal error' });
    });
  }
});

describe('gateway: failing services', () => {
  const gateway = startBeforeEach(
    () => startTestGateway({ REQUEST_TIMEOUT_MS: '1000', CACHE_MAX_AGE_MS: '0' }),
    (gateway) => gateway.stop(),
  );

  it('a service that is down is a 503 that says when to come again and shows no address', async () => {
    await gateway.fakes.stop();
    const others = ['/indexer/block/v1/blocks', '/indexer/tx/v1/evm-txs', '/indexer/block/v1/avg_blocktime'];
    for (const path of [list, '/status', ...others]) {
      const answer = await gateway.get(path);
      assert.equal(answer.status, 503, path);
      assert.equal(answer.headers['retry-after'], '1');
      assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8');
      assert.equal(answer.headers['cache-control'], 'no-store');
      assert.ok(answer.headers['x-request-id']);
      assert.equal(answer.json().code, 14);
      assert.doesNotMatch(answer.body.toString(), /127\.0\.0\.1|ECONNREFUSED|:\d{4}/);
    }
    assert.equal((await gateway.get('/')).status, 200);
    assert.equal((await gateway.get('/swagger/doc.json')).status, 200);
  });

  it('a service that answers too late is a 504, and its call had that deadline', async () => {
    let deadline = 0;
    gateway.fakes.instead.set('listTxs', (_, context) => {
      deadline = context.deadline ?? 0;
      return new Promise(() => {});
    });
    const started = Date.now();
    const answer = await gateway.get(list);
    assert.equal(answer.status, 504);
    assert.deepEqual(answer.json(), { code: 4, message: 'the query ran out of time', details: [] });
    // It was answered when that had passed, and not before.
    const after = deadline - started;
    assert.ok(after > 800 && deadline <= Date.now() + 200, `deadline after ${after} ms`);
  });

  it('a service that hangs below gRPC is a 504', async () => {
    const sockets = new Set<Socket>();
    const held = createTcpServer((socket) => sockets.add(socket.on('error', () => {})));
    await new Promise<void>((resolve) => held.listen(0, '127.0.0.1', resolve));
    const address = `127.0.0.1:${(held.address() as AddressInfo).port}`;
    const config = loadSettings(gatewaySettings, {
      PORT: '0',
      REQUEST_TIMEOUT_MS: '300',
      BLOCK_SERVICE_ADDR: address,
      TX_SERVICE_ADDR: address,
    });
    const hanging = await startGateway({ config, log: createLog('silent'), metrics: gateway.metrics });
    try {
      assert.equal((await send(hanging.port, list)).status, 504);
      assert.deepEqual(hanging.readiness(), { ready: false, reason: 'no service is heard' });
    } finally {
      await hanging.stop();
      held.close();
      for (const socket of sockets) socket.destroy();
    }
  });

  it('an error inside a service shows nothing of it', async () => {
    gateway.fakes.instead.set('listTxs', async () => {
      throw new Error('Code: 60. DB::Exception: SELECT * FROM secret');
    });
    const answer = await gateway.get(list);
    assert.equal(answer.status, 500);
    assert.deepEqual(answer.json(), { code: 13, message: 'internal error', details: [] });
  });

  it('an empty body of a service is an error, not broken JSON', async () => {
    gateway.fakes.instead.set('listTxs', async () => ({ txs: [Buffer.alloc(0)], pagination: undefined }));
    assert.equal((await gateway.get(list)).status, 500);
  });

  it('what a service says about a parameter reaches the client', async () => {
    gateway.fakes.instead.set('listTxs', async () => {
      throw new RpcError(status.INVALID_ARGUMENT, 'pagination.key belongs to another list: at-1');
    });
    const answer = await gateway.get(`${list}?pagination.key=at-1`);
    assert.equal(answer.status, 400);
    assert.equal(answer.json().message, 'pagination.key belongs to another list: at-1');
  });

  it('one refusal is not shown when another attempt succeeds', async () => {
    let attempts = 0;
    gateway.fakes.instead.set('getAverageBlockTime', async () => {
      attempts += 1;
      if (attempts === 1) throw new RpcError(status.UNAVAILABLE, 'shutting down');
      return { avg_block_time: 2 };
    });
    assert.deepEqual((await gateway.get('/indexer/block/v1/avg_blocktime')).json(), { avg_block_time: 2 });
    assert.equal(attempts, 2);
  });

  it('the txs of an account are served old while their service fails, and say their age', async () => {
    const path = `${list}/by_account/0x1`;
    const fresh = await gateway.get(path);
    assert.equal(fresh.headers.age, undefined);
    await gateway.fakes.stopTx();
    const old = await gateway.get(path);
    assert.equal(old.status, 200);
    assert.deepEqual(old.body, fresh.body);
    assert.match(String(old.headers.age), /^\d+$/);
    assert.equal((await gateway.get(`${path}?is_signer=1`)).status, 503, 'never asked before');
    assert.equal((await gateway.get(`${path}?pagination.limit=0`)).status, 400);
  });

  it('a service that comes back is used again, and heard again', async () => {
    const address = gateway.fakes.tx_address;
    await gateway.fakes.stopTx();
    assert.equal((await gateway.get(list)).status, 503);
    const again = await startFakeServices({ tx: address });
    try {
      await until(async () => (await gateway.get(list)).status === 200);
      await until(() => gateway.heads.current.tx.version !== undefined);
    } finally {
      await again.stop();
    }
  });

  it('a client that goes away cancels its call', async () => {
    let cancelled = false;
    let isAsked = false;
    gateway.fakes.instead.set('listTxs', (_, context) => {
      isAsked = true;
      context.signal.addEventListener('abort', () => {
        cancelled = Date.now() < (context.deadline ?? 0);
      });
      return new Promise(() => {});
    });
    const client = new AbortController();
    const request = send(gateway.port, list, { signal: client.signal }).catch(() => {});
    await until(() => isAsked);
    client.abort();
    await request;
    await until(() => cancelled);
    await until(async () =>
      /route="\/indexer\/tx\/v1\/txs",status="499"/.test(await gateway.metrics.registry.metrics()),
    );
  });

  it('a client that goes away leaves the call to the others who wait for it', async () => {
    let release = (): void => {};
    const isReleased = new Promise<void>((resolve) => {
      release = resolve;
    });
    const none = { txs: [], pagination: undefined };
    gateway.fakes.instead.set('listTxs', () => isReleased.then(() => none));
    const client = new AbortController();
    const gone = send(gateway.port, list, { signal: client.signal }).catch(() => {});
    await until(() => gateway.fakes.calls.length === 1);
    const stays = gateway.get(list);
    await until(async () => (await gateway.cacheCount('joined')) === 1);
    client.abort();
    await gone;
    release();
    const answer = await stays;
    assert.equal(answer.status, 200);
    assert.deepEqual(answer.json(), { txs: [], pagination: { next_key: '', previous_key: '', total: '0' } });
    assert.equal(gateway.fakes.calls.length, 1);
  });
});
