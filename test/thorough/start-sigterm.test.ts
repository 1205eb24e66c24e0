import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { eventually, nodeEnvironment } from '../support/block.js';
import { temporaryFolder } from '../support/folder.js';
import { outputOf } from '../support/output.js';

/** Far more than is indexed before the signal: each answer of the node takes a while. */
const tip = 100_000;

describe('weft start, stopped with SIGTERM while it catches up', () => {
  const folder = temporaryFolder('sigterm');
  let node: ReplayNode;
  let child: ChildProcess | undefined;
  before(async () => {
    node = await startReplayNode({ recording: 'evm', tip, faults: { latency_ms: 20 } });
  });
  after(async () => {
    child?.kill('SIGKILL');
    await node.close();
  });

  interface Program {
    readonly child: ChildProcess;
    readonly output: () => string;
    /** What the API says of the height; -1 while it does not answer. */
    height(): Promise<number>;
    /** Sends SIGTERM and gives the exit code. */
    stop(): Promise<number | null>;
  }

  function start(): Program {
    const program = spawn(process.execPath, ['bin/weft.js', 'start'], {
      cwd: packageRoot,
      env: {
        ...process.env,
        ...nodeEnvironment(node, 'evm'),
        NODE_TIMEOUT_MS: '10000',
        DATA_DIR: folder,
        PORT: '0',
        OPS_PORT: '0',
        BLOCK_GRPC_PORT: '0',
        TX_GRPC_PORT: '0',
        NFT_GRPC_PORT: '0',
        RICHLIST_GRPC_PORT: '0',
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child = program;
    const output = outputOf(program);
    return {
      child: program,
      output,
      async height() {
        const url = /Status +(http\S+)/.exec(output())?.[1];
        if (url === undefined) return -1;
        return ((await (await fetch(url)).json()) as { height: number }).height;
      },
      async stop() {
        const exited = once(program, 'exit');
        program.kill('SIGTERM');
        const [code] = await exited;
        return code;
      },
    };
  }

  it('ends with code 0 each time, at whatever moment, and goes on where it stopped', async () => {
    const early = start();
    await once(early.child, 'spawn');
    await new Promise((resolve) => setTimeout(resolve, 100));
    await early.stop(); // before the program listens to signals it may die of this one

    const starting = start();
    await eventually(() => starting.output().includes('Indexing the'), 'the start', 30_000);
    assert.equal(await starting.stop(), 0, starting.output());

    let reached = 0;
    for (let round = 0; round < 2; round++) {
      const program = start();
      await eventually(async () => (await program.height()) > reached, 'blocks', 30_000);
      const seen = await program.height();
      assert.ok(seen < tip, 'it is still catching up');
      assert.equal(await program.stop(), 0, program.output());
      assert.doesNotMatch(program.output(), /"level":(50|60)|Error/);
      reached = seen;
    }
  });
});
