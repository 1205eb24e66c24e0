import assert from 'node:assert/strict';
import { json } from 'node:stream/consumers';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { openEvm } from '../../services/scoring-operator/contract/open.js';
import { serveHttp } from '../support/http-server.js';
import { endsAfterEach } from '../support/suite.js';

describe('the EVM chain ids that JSON-RPC URLs say', () => {
  /** By path, as providers have it that serve many chains from one host: the path holds the customer's token. */
  const ids: Readonly<Record<string, number>> = { '/token-a': 5, '/token-b': 6, '/token-c': 5 };
  const endLater = endsAfterEach();

  async function startHost(): Promise<string> {
    const { port, close } = await serveHttp(async (request, response) => {
      const { id } = (await json(request)) as { id: unknown };
      const chain_id = ids[request.url ?? ''];
      const answer =
        chain_id === undefined ? { error: { code: -1, message: 'no' } } : { result: `0x${chain_id}` };
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
    });
    endLater(close);
    return `127.0.0.1:${port}`;
  }

  const said = async (...urls: string[]) => {
    const config = {
      JSON_RPC_URL: urls,
      REST_URL: [],
      NODE_TIMEOUT_MS: 2_000,
      NODE_ANSWER_MB: 16,
      EVM_CHAIN_ID: undefined,
    };
    const evm = await openEvm(config, { log: createLog('silent'), metrics: createMetrics() });
    endLater(() => evm.close());
    return evm.chainIds();
  };

  it('are of each URL, also of two that have one host', async () => {
    const [one, two] = [await startHost(), await startHost()];
    const found = await said(`http://${one}/token-a`, `http://${one}/token-b`, `http://${two}/token-c`);
    assert.deepEqual(found, [
      { from: `${one} (JSON-RPC URL 1)`, id: 5n },
      { from: `${one} (JSON-RPC URL 2)`, id: 6n },
      { from: two, id: 5n },
    ]);
    assert.doesNotMatch(JSON.stringify(found.map(({ from }) => from)), /token/);
  });

  it('leave out a URL that does not say it', async () => {
    const [one, two] = [await startHost(), await startHost()];
    assert.deepEqual(await said(`http://user:secret@${one}/token-a`, `http://${two}/nothing`), [
      { from: one, id: 5n },
    ]);
  });
});
