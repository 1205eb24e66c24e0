import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type ClientDuplexStream, credentials, loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';
import { serveRpc } from '../../services/common/rpc/server.js';
import { startBefore } from '../support/suite.js';

const folder = dirname(createRequire(import.meta.url).resolve('@grpc/reflection/package.json'));

interface Answer {
  readonly listServicesResponse?: { readonly service: readonly { readonly name: string }[] };
  readonly fileDescriptorResponse?: { readonly fileDescriptorProto: readonly Buffer[] };
  readonly errorResponse?: { readonly errorCode: number };
}

/** Asks a server about itself, all in one stream. */
async function ask(
  address: string,
  version: 'v1' | 'v1alpha',
  requests: readonly object[],
): Promise<Answer[]> {
  const proto = join(folder, `build/proto/grpc/reflection/${version}/reflection.proto`);
  // biome-ignore lint/suspicious/noExplicitAny: the package is read at run time
  const { grpc } = loadPackageDefinition(loadSync(proto)) as any;
  const client = new grpc.reflection[version].ServerReflection(address, credentials.createInsecure());
  const stream: ClientDuplexStream<object, Answer> = client.ServerReflectionInfo();
  const answers: Answer[] = [];
  for (const request of requests) stream.write(request);
  stream.end();
  for await (const answer of stream) answers.push(answer as Answer);
  client.close();
  return answers;
}

describe('what a server says about itself', () => {
  const server = startBefore(
    () => serveRpc([], ['127.0.0.1:0']),
    (server) => server.close(100),
  );

  for (const version of ['v1', 'v1alpha'] as const)
    it(`are its services and their messages (${version})`, async () => {
      const [list, file, nothing] = await ask(server.address, version, [
        { listServices: '' },
        { fileContainingSymbol: 'indexer.tx.v1.TxService' },
        { fileContainingSymbol: 'no.such.Service' },
      ]);
      const names = list?.listServicesResponse?.service.map(({ name }) => name) ?? [];
      for (const name of ['block.v1.BlockService', 'tx.v1.TxService', 'nft.v1.NftService'])
        assert.ok(names.includes(`indexer.${name}`), name);
      assert.ok((file?.fileDescriptorResponse?.fileDescriptorProto.length ?? 0) > 0);
      assert.equal(nothing?.errorResponse?.errorCode, 5);
    });

  it('is the same of every server of the process', async () => {
    const other = await serveRpc([], ['127.0.0.1:0']);
    const [first, second] = await Promise.all(
      [server, other].map(({ address }) => ask(address, 'v1', [{ listServices: '' }])),
    );
    assert.deepEqual(first?.[0]?.listServicesResponse, second?.[0]?.listServicesResponse);
    await other.close(100);
  });
});
