import assert from 'node:assert/strict';
import { credentials, status } from '@grpc/grpc-js';
import { ReindexServiceClient } from '../../services/common/gen/indexer/reindex/v1/reindex.js';
import { freePort } from '../../tools/bench/processes.js';
import { startReplayNode } from '../../tools/replay/node.js';
import { eventually } from '../support/block.js';
import { readFacts } from '../support/facts.js';
import { startProgram } from '../support/program.js';

describe('comparisons of views that one client asks for without end', () => {
  it('run one at a time, hold up neither writes nor the end, and cost nothing once the client has left', async () => {
    const { height } = readFacts('evm');
    const node = await startReplayNode({ recording: 'evm' });
    const txPort = await freePort();
    const program = await startProgram(node, { TX_GRPC_PORT: String(txPort) });
    const client = new ReindexServiceClient(`127.0.0.1:${txPort}`, credentials.createInsecure());
    const codes = new Map<status, number>();
    const compare = (leaveAfter_ms: number): Promise<status> =>
      new Promise((resolve) => {
        const call = client.compareViews({});
        const timer = setTimeout(() => call.cancel(), leaveAfter_ms);
        call.on('data', () => {});
        call.on('error', () => {});
        call.on('status', ({ code }) => {
          clearTimeout(timer);
          codes.set(code, (codes.get(code) ?? 0) + 1);
          resolve(code);
        });
      });
    /** How long the next block takes to be written. */
    const nextBlock = async (): Promise<number> => {
      const from = performance.now();
      const tip = node.advance();
      await eventually(async () => (await program.heights()).height >= tip, `block ${tip}`, 60_000);
      return performance.now() - from;
    };
    try {
      await eventually(async () => (await program.heights()).height >= height, 'the chain', 60_000);

      // They leave: what they asked for is not done.
      for (let round = 0; round < 20; round++)
        await Promise.all(Array.from({ length: 100 }, () => compare(60)));
      const afterThem = await nextBlock();
      assert.ok(afterThem < 4_000, `a block after those who left: ${Math.round(afterThem)} ms`);
      await eventually(async () => (await compare(60_000)) === status.OK, 'a comparison to its end', 5_000);

      // They stay, and come again.
      let isOver = false;
      codes.clear();
      const crowd = Array.from({ length: 200 }, async () => {
        while (!isOver) {
          await compare(60_000);
          // The attack must not keep this process from measuring.
          await new Promise((resolve) => setTimeout(resolve, 500));
        }
      });
      const took_ms = [await nextBlock(), await nextBlock(), await nextBlock()];
      const said = JSON.stringify([...codes]);
      assert.ok(Math.min(...took_ms) < 4_000, `blocks: ${took_ms.map(Math.round).join(', ')} ms`);
      const metrics = await (await fetch(`${program.ops_url()}/metrics`)).text();
      assert.match(metrics, /weft_limit_reached_total\{service="tx",limit="CompareViews"\} \d{2}/, said);

      const from = performance.now();
      assert.equal(await program.stop(), 0);
      const end_ms = performance.now() - from;
      isOver = true;
      assert.ok(end_ms < 8_000, `the end: ${Math.round(end_ms)} ms`);
      await Promise.all(crowd);
      assert.ok((codes.get(status.RESOURCE_EXHAUSTED) ?? 0) > 100, said);
    } finally {
      client.close();
      await program.stop();
      await node.close();
    }
  });
});
