import assert from 'node:assert/strict';
import { startReplayNode } from '../../tools/replay/node.js';
import { eventually } from '../support/block.js';
import { startHttpProxy } from '../support/http-proxy.js';
import { startProgram } from '../support/program.js';

describe('a node behind a proxy of HTTP', () => {
  it('is indexed, with what does not go through it asked directly', async () => {
    const tip = 30;
    const node = await startReplayNode({ recording: 'evm', tip });
    const port = (url: string): number => Number(new URL(url).port);
    const proxy = await startHttpProxy({
      'rollup.test:26657': port(node.rpc_url),
      'rollup.test:1317': port(node.rest_url),
      'rollup.test:8545': port(node.json_rpc_url),
    });
    const program = await startProgram(node, {
      RPC_URL: 'http://rollup.test:26657',
      REST_URL: 'http://rollup.test:1317',
      JSON_RPC_URL: 'http://rollup.test:8545',
      HTTP_PROXY: proxy.url,
      // Calls between services: grpc-js would go there.
      grpc_proxy: 'http://127.0.0.1:1',
    });
    try {
      const isThere = async (): Promise<boolean> => {
        const { height, internal_tx_height } = await program.heights();
        return height === tip && internal_tx_height === tip;
      };
      await eventually(isThere, 'the chain', 60_000);
      assert.deepEqual([...proxy.asked].sort(), [
        'http rollup.test:1317',
        'http rollup.test:26657',
        'http rollup.test:8545',
      ]);
    } finally {
      await program.stop();
      proxy.close();
      await node.close();
    }
  });
});
