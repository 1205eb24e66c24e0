import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { capture } from '../../tools/capture/capture.js';
import { runCapture } from '../../tools/capture/cli.js';
import { txPages } from '../../tools/capture/plan.js';
import { runReplay } from '../../tools/replay/cli.js';
import { startReplayNode } from '../../tools/replay/node.js';
import { loadRecording } from '../../tools/replay/recording.js';
import type { Exchange } from '../../tools/replay/types.js';
import { temporaryFolder } from '../support/folder.js';

describe('weft capture', () => {
  for (const [name, from, to] of [
    ['evm', 1, 60],
    ['move', 120, 128],
    ['wasm', 95, 103],
  ] as const) {
    it(`records ${name} from a node so that a replay of the copy is the same chain`, async () => {
      const original = loadRecording(name);
      const node = await startReplayNode({ recording: original });
      const folder = temporaryFolder('capture');
      const out = join(folder, 'copy.jsonl.gz');
      try {
        // a node that fails now and then must not leave a hole or a cut body in the recording
        node.faults({ fail_one_in: 25, kinds: ['html502', 'truncated', 'reset', 'cut'], seed: 4 });
        const evm = original.evm ? ['--json-rpc', node.json_rpc_url] : [];
        const where = ['--rpc', node.rpc_url, '--rest', node.rest_url, ...evm];
        const heights = ['--from', String(from), '--to', String(to)];
        let printed = '';
        await runCapture([...where, ...heights, '--out', out], (text) => {
          printed += text;
        });
        assert.match(printed, new RegExp(`^\\d+ exchanges, heights ${from} to ${to}`));
        const copy = loadRecording(out);
        assert.deepEqual(
          [copy.first, copy.last, copy.chainId, copy.evm],
          [from, to, original.chainId, original.evm],
        );
        for (let height = from; height <= to; height++) {
          assert.deepEqual(copy.bodies(height), original.bodies(height), `height ${height}`);
        }
        const query = new URLSearchParams();
        const path = '/opinit/opchild/v1/validators';
        assert.equal(
          JSON.stringify(JSON.parse(copy.state.rest(path, query, to)!.body)),
          JSON.stringify(JSON.parse(original.state.rest(path, query, to)!.body)),
        );
      } finally {
        await node.close();
      }
    });
  }

  it('stops with the reason when a block is not there, or the node is not', async () => {
    const node = await startReplayNode({ recording: 'wasm', tip: 20 });
    const write = (_: Exchange) => Promise.resolve();
    const options = { rpc: node.rpc_url, rest: node.rest_url, write, attempts: 1 };
    await assert.rejects(capture({ ...options, from: 19, to: 21 }), /block 21: .*less than or equal/);
    await node.close();
    await assert.rejects(capture({ ...options, from: 1, to: 2 }), /GET .*status: TypeError/);
  });

  it('refuses arguments that make no sense', async () => {
    const where = ['--rpc', 'http://x', '--rest', 'http://x', '--out', 'x'];
    await assert.rejects(runCapture([]), /are needed/);
    await assert.rejects(runCapture([...where, '--from', '0', '--to', '3']), /--from: want a height, got 0/);
    await assert.rejects(runCapture([...where, '--from', '5', '--to', '3']), /below/);
    await assert.rejects(runCapture([...where, '--from', '5']), /--to: want a height, got nothing/);
    await assert.rejects(runReplay(['--port', 'many']), /--port: want a whole number, got many/);
    await assert.rejects(runReplay(['--nonsense']), /--nonsense/);
  });

  it('asks for as many pages as a block has', () => {
    assert.equal(txPages(9, 0).length, 1);
    assert.equal(txPages(9, 100).length, 1);
    assert.deepEqual(
      txPages(9, 201).map((p) => p.path.split('?')[1]),
      [
        'pagination.limit=100',
        'pagination.limit=100&pagination.offset=100',
        'pagination.limit=100&pagination.offset=200',
      ],
    );
  });
});

describe('weft replay', () => {
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    it(`prints its URLs, serves, and ends with 0 on ${signal}`, async () => {
      const cli = new URL('../../tools/replay/cli.js', import.meta.url).href;
      const script = `const { runReplay } = await import(${JSON.stringify(cli)});
        await runReplay(['--recording', 'evm', '--port', '0', '--tip', '3', '--interval-ms', '0']);`;
      const child = execFile(process.execPath, ['--input-type=module', '-e', script]);
      const exit = new Promise((resolve) => child.on('exit', (code, by) => resolve({ code, by })));
      let printed = '';
      for await (const chunk of child.stdout!) {
        printed += String(chunk);
        if (printed.includes('JSON_RPC_URL=')) break;
      }
      const url = /^RPC_URL=(.*)$/m.exec(printed)?.[1];
      assert.match(await (await fetch(`${url}/status`)).text(), /"latest_block_height":"3"/);
      child.kill(signal);
      assert.deepEqual(await exit, { code: 0, by: null });
    });
  }
});
