import assert from 'node:assert/strict';
import { networkInterfaces } from 'node:os';
import { status } from '@grpc/grpc-js';
import {
  ReindexServiceClient,
  ReindexServiceService,
} from '../../services/common/gen/indexer/reindex/v1/reindex.js';
import { TxServiceClient, TxServiceService } from '../../services/common/gen/indexer/tx/v1/tx.js';
import { connectRpc } from '../../services/common/rpc/client.js';
import { checkControl } from '../../services/common/rpc/control.js';
import { countLimits, type RpcServer, serveRpc, streaming, unary } from '../../services/common/rpc/server.js';
import { openPlainTransport, type Transport } from '../../services/common/rpc/transport.js';
import { RpcError } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { ask, stream } from '../support/rpc.js';

const environment = { log: createLog('silent'), metrics: createMetrics() };

/** An address of this machine that is not the loopback; undefined where it has none. */
const outside = Object.values(networkInterfaces())
  .flatMap((addresses) => addresses ?? [])
  .find(({ internal, family }) => !internal && family === 'IPv4')?.address;

describe('gRPC calls that change something', () => {
  let server: RpcServer;
  let changed = 0;
  afterEach(() => server.close(0));

  async function serve(transport: Transport): Promise<string> {
    changed = 0;
    const implementation = {
      cancelReindex: unary(environment, async () => {
        changed += 1;
        return {};
      }),
      reindex: streaming(environment, async function* () {
        changed += 1;
        yield { progress: undefined };
      }),
      watchReindex: streaming(environment, async function* () {
        yield { progress: undefined };
      }),
    };
    const service = {
      definition: ReindexServiceService,
      implementation: implementation as never,
      changing: ['reindex', 'cancelReindex'],
    };
    server = await serveRpc([service], ['0.0.0.0:0'], transport);
    return server.address.split(':').at(-1) as string;
  }

  const call = async (host: string, port: string, token = ''): Promise<string[]> => {
    const security = openPlainTransport({ GRPC_TOKEN: token }).client;
    const client = connectRpc(ReindexServiceClient, `${host}:${port}`, security);
    const codeOf = async (work: () => Promise<unknown>): Promise<string> =>
      work().then(
        () => 'OK',
        (error: unknown) => status[(error as RpcError).code],
      );
    const drain = async (stream: AsyncIterable<unknown>): Promise<void> => {
      for await (const _ of stream);
    };
    const deadline = Date.now() + 5_000;
    try {
      return [
        await codeOf(() => ask(client).cancelReindex({}, { deadline })),
        await codeOf(() => drain(stream(client).reindex({}, { deadline }))),
        await codeOf(() => drain(stream(client).watchReindex({}, { deadline }))),
      ];
    } finally {
      client.close();
    }
  };
  const denied = ['PERMISSION_DENIED', 'PERMISSION_DENIED', 'OK'];
  const allowed = ['OK', 'OK', 'OK'];

  it('are only taken from this machine while there is no token', async function () {
    const port = await serve(openPlainTransport({}));
    assert.deepEqual(await call('127.0.0.1', port), allowed);
    if (outside === undefined) return this.skip();
    assert.deepEqual(await call(outside, port), denied);
    assert.deepEqual(await call(outside, port, 'a guess'), denied);
    assert.equal(changed, 2);
  });

  it('are only taken with the token where there is one', async () => {
    const port = await serve(openPlainTransport({ GRPC_TOKEN: 'the token' }));
    assert.deepEqual(await call('127.0.0.1', port), denied);
    assert.deepEqual(await call('127.0.0.1', port, 'the toke'), denied);
    assert.equal(changed, 0);
    assert.deepEqual(await call('127.0.0.1', port, 'the token'), allowed);
    if (outside !== undefined) assert.deepEqual(await call(outside, port, 'the token'), allowed);
  });

  it('are judged by the address of the peer, which may be gone', () => {
    const open = { token: '', trusts_all: false };
    for (const peer of ['127.0.0.1:5', '127.9.9.9:1', '::1:443', '::ffff:127.0.0.1:80'])
      checkControl(open, peer, undefined);
    const others = ['10.0.0.1:127', '127.0.0.1.evil:1', '::2:1', '2001:db8::1:1', '10.127.0.0.1:1'];
    for (const peer of ['unknown', '', ...others])
      assert.throws(() => checkControl(open, peer, undefined), RpcError, peer);
    checkControl({ token: 'x', trusts_all: true }, 'unknown', undefined);
  });
});

describe('gRPC messages', () => {
  let server: RpcServer;
  let text = '';
  let asked = 0;
  beforeEach(async () => {
    asked = 0;
    const getTx = unary(environment, async () => {
      asked += 1;
      throw new RpcError(status.NOT_FOUND, text);
    });
    const service = {
      definition: TxServiceService,
      implementation: { getTx } as never,
      onLimit: countLimits('tx', environment),
    };
    const transport = openPlainTransport({ GRPC_MAX_REQUEST_KB: 64 });
    server = await serveRpc([service], ['127.0.0.1:0'], transport);
  });
  afterEach(() => server.close(0));

  const getTx = async (tx_hash: string): Promise<RpcError> => {
    const client = connectRpc(TxServiceClient, server.address);
    try {
      await ask(client).getTx({ tx_hash }, { deadline: Date.now() + 5_000 });
    } catch (error) {
      return error as RpcError;
    } finally {
      client.close();
    }
    throw new Error('it was answered');
  };

  it('of an error arrive however long its text is', async () => {
    for (const long of ['a'.repeat(1_000_000), '\u{1F9F5}'.repeat(100_000), '\0'.repeat(70_000)]) {
      text = `it is ${long}`;
      const error = await getTx('00');
      assert.equal(error.code, status.NOT_FOUND);
      assert.ok(error.message.startsWith('it is '), error.message.slice(0, 50));
      assert.ok(error.message.length < 5_000);
    }
  });

  it('of a request are bounded', async () => {
    text = 'no';
    assert.equal((await getTx('0'.repeat(60_000))).code, status.NOT_FOUND);
    const refused = await getTx('0'.repeat(70_000));
    assert.equal(refused.code, status.RESOURCE_EXHAUSTED);
    assert.match(refused.message, /GRPC_MAX_REQUEST_KB/);
    assert.match(
      await environment.metrics.registry.metrics(),
      /weft_limit_reached_total\{service="tx",limit="GRPC_MAX_REQUEST_KB"\} 1/,
    );
    assert.equal(asked, 1);
  });
});
