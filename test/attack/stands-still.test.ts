import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { askHealth } from '../../services/common/rpc/client.js';
import { messageOf } from '../../services/common/runtime/errors.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { freePort } from '../../tools/bench/processes.js';
import { startReplayNode } from '../../tools/replay/node.js';
import { eventually } from '../support/block.js';
import { execute, query, uniquePrefix } from '../support/database.js';
import { startStack } from '../support/stack.js';

describe('a writer whose tables cannot be written', () => {
  it('is not ready and ends when parts of its tables are damaged, as a merge on a full disk leaves them', async () => {
    const node = await startReplayNode({ recording: 'evm', tip: 60 });
    const prefix = uniquePrefix();
    const fatal: string[] = [];
    const stack = await startStack(node, {
      env: { CLICKHOUSE_DATABASE: prefix, WRITER_PATIENCE_MS: '1500' },
      onFatal: (error) => fatal.push(messageOf(error)),
    });
    try {
      await stack.reaches(60);
      await stack.knowsNfts(60);
      const parts = await query<{ path: string }>(
        `SELECT path FROM system.parts WHERE database = '${prefix}_nft' AND active`,
      );
      assert.ok(parts.length > 0);
      for (const { path } of parts)
        for (const file of readdirSync(path)) if (/mrk/.test(file)) truncateSync(join(path, file));
      await execute('SYSTEM DROP MARK CACHE');
      const isReady = () => stack.nftService.readiness().ready;
      await eventually(
        () => {
          node.advance();
          return fatal.length > 0 && !isReady();
        },
        'the writer to end',
        60_000,
      );
      assert.match(fatal[0] ?? '', /^nft: .* WRITER_PATIENCE_MS .*Empty marks file/);
      assert.match(stack.nftService.readiness().reason, /Empty marks file/);
      const health = () => askHealth(stack.addresses.nft, 'nft');
      await eventually(async () => (await health()) === 'NOT_SERVING', 'its health check to say so');
      // The others do not suffer.
      for (const service of [stack.block, stack.tx, stack.richlistService])
        assert.deepEqual(service.readiness(), { ready: true, reason: '' });
    } finally {
      await stack.stop();
      await node.close();
      await execute(`DROP DATABASE ${prefix}_nft`);
    }
  });

  it('goes on after a full disk, by itself or after an end with 75: npm start with the recorded rollup', async function () {
    if (process.platform !== 'linux' || process.getuid?.() !== 0) return this.skip(); // it mounts a small disk
    const folder = mkdtempSync(join(tmpdir(), 'weft-full-'));
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', folder]);
    const [port, opsPort] = [await freePort(), await freePort()];
    const codes: (number | null)[] = [];
    let printed = '';
    const start = (): ChildProcess => {
      const started = spawn(process.execPath, [join(packageRoot, 'bin/weft.js'), 'start'], {
        env: {
          PATH: process.env['PATH'],
          DATA_DIR: folder,
          PORT: String(port),
          OPS_PORT: String(opsPort),
          REPLAY_INTERVAL_MS: '200',
          WRITER_PATIENCE_MS: '3000',
          ...{ BLOCK_GRPC_PORT: '0', TX_GRPC_PORT: '0', NFT_GRPC_PORT: '0', RICHLIST_GRPC_PORT: '0' },
        },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      for (const stream of [started.stdout, started.stderr])
        stream?.setEncoding('utf8').on('data', (text: string) => {
          printed += text;
        });
      started.on('exit', (code) => {
        codes.push(code);
        // As a supervisor does, a little later.
        if (code !== 0 && !isOver)
          setTimeout(() => {
            if (!isOver) child = start();
          }, 500);
      });
      return started;
    };
    let isOver = false;
    let child = start();
    const readiness = async (): Promise<string> => (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).text();
    const height = async (): Promise<number> =>
      ((await (await fetch(`http://127.0.0.1:${port}/status`)).json()) as { height: number }).height;
    const during = (what: () => Promise<boolean>, name: string): Promise<void> =>
      eventually(() => what().catch(() => false), name, 60_000);
    try {
      await during(async () => (await readiness()) === 'ok\n', 'it to be ready');
      const before = await height();
      const filler = join(folder, 'filler');
      await during(async () => {
        fill(filler); // merges make room again
        // One that ended because of a damaged part cannot start as long as the disk is full: its log says why.
        if (/"fatal".*ends with code 75: .*no space left/i.test(printed)) return true;
        return /has failed for .*(not enough space|no space left)/i.test(await readiness());
      }, 'it to say that the disk is full').catch((error: unknown) => {
        throw new Error(`${messageOf(error)}; it printed: ${printed.slice(-2_000)}`);
      });
      const served = await height().catch(() => undefined);
      assert.ok(
        served === undefined ? codes.length > 0 : served >= before,
        'what is in the tables is served, unless it ended',
      );
      rmSync(filler);
      // An insert or a merge may have left a damaged part, on which somebody stands still: that one ends with 75.
      const full_at = before + 20;
      await during(async () => {
        const status = (await (await fetch(`http://127.0.0.1:${port}/status`)).json()) as Record<
          string,
          number
        >;
        const heights = [status['height'], status['internal_tx_height'], status['rich_list_height']];
        return heights.every((at = 0) => at > full_at) && (await readiness()) === 'ok\n';
      }, 'it to go on');
      assert.ok(
        codes.every((code) => code === 75),
        `it ended with ${codes}`,
      );
      isOver = true;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      assert.deepEqual(await exited, [0, null]);
    } finally {
      isOver = true;
      child.kill('SIGKILL');
      execFileSync('umount', ['--lazy', folder]);
      rmSync(folder, { recursive: true });
    }
  });
});

/** Appends to a file until its disk is full. */
function fill(file: string): void {
  const zeros = Buffer.alloc(64 * 1024);
  try {
    for (;;) appendFileSync(file, zeros);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  }
}
