import assert from 'node:assert/strict';
import { Server, ServerCredentials } from '@grpc/grpc-js';
import { HealthImplementation } from 'grpc-health-check';
import { TryAgainError, UserError } from '../../services/common/runtime/errors.js';
import { freePort } from '../../tools/bench/processes.js';
import { askGrpc, askHttp } from '../../tools/healthcheck/ask.js';
import { runHealthcheck } from '../../tools/healthcheck/cli.js';
import { type HttpServer, serveHttp } from '../support/http-server.js';

describe('weft healthcheck', () => {
  const health = new HealthImplementation({ '': 'SERVING', tx: 'SERVING', nft: 'NOT_SERVING' });
  const grpc = new Server();
  const statuses: Readonly<Record<string, number>> = { '/well': 200, '/moved': 302 };
  let http: HttpServer;
  let grpcAddress: string;
  let url: string;

  before(async () => {
    health.addToServer(grpc);
    const port = await new Promise<number>((resolve, reject) =>
      grpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      ),
    );
    grpcAddress = `127.0.0.1:${port}`;
    http = await serveHttp((request, response) =>
      response.writeHead(statuses[request.url ?? ''] ?? 503, { location: '/well' }).end('because'),
    );
    url = http.url;
  });
  after(() => {
    grpc.forceShutdown();
    return http.close();
  });

  it('asks a service, and a process, by gRPC', async () => {
    assert.equal(await askGrpc(`${grpcAddress}/tx`), '');
    assert.equal(await askGrpc(grpcAddress), '');
    assert.equal(await askGrpc(`${grpcAddress}/nft`), 'NOT_SERVING');
    assert.notEqual(await askGrpc(`${grpcAddress}/nobody`), '');
    assert.match(await askGrpc('127.0.0.1:1/tx'), /ECONNREFUSED/);
  });

  it('asks for a page, which has to be there itself', async () => {
    assert.equal(await askHttp(`${url}/well`), '');
    assert.equal(await askHttp(`${url}/ill`), '503 because');
    assert.match(await askHttp(`${url}/moved`), /^302/);
    assert.match(await askHttp(`http://127.0.0.1:${await freePort()}/`), /ECONNREFUSED/);
  });

  it('waits for what is not well yet', async () => {
    health.setStatus('late', 'NOT_SERVING');
    setTimeout(() => health.setStatus('late', 'SERVING'), 300);
    await runHealthcheck(['--grpc', `${grpcAddress}/late`, '--timeout', '10']);
  });

  it('says that something is not well', async () => {
    const args = ['--grpc', `${grpcAddress}/tx`, '--http', `${url}/ill`, '--timeout', '0'];
    await assert.rejects(
      runHealthcheck(args),
      (error: unknown) => error instanceof TryAgainError && error.message === '1 of 2 are not well',
    );
  });

  it('refuses what it cannot ask', async () => {
    for (const args of [[], ['--http', 'nonsense'], ['--grpc', 'host'], ['--grpc', 'a:1', '--timeout', 'x']])
      await assert.rejects(runHealthcheck(args), UserError);
  });
});
