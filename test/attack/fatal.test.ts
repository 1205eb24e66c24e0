import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { freePort } from '../../tools/bench/processes.js';
import { eventually } from '../support/block.js';
import { temporaryFolder } from '../support/folder.js';
import { outputOf } from '../support/output.js';

const preload = fileURLToPath(new URL('../support/attack/fatal.js', import.meta.url));

/** What a supervisor waits for, in milliseconds. */
const bound_ms = 10_000;

describe('a fatal error ends a process with the embedded engine within ten seconds, with a code that is not 0', () => {
  const running = new Set<ChildProcess>();
  after(() => {
    for (const child of running) child.kill('SIGKILL');
  });

  interface Started {
    readonly child: ChildProcess;
    /** Where it is probed. */
    readonly port: number;
    readonly said: () => string;
    /** Waits for the end. @returns exit code and signal, and how long it took. */
    ending(): Promise<{ code: number | null; signal: string | null; took_ms: number }>;
  }

  /** Starts a program and waits until it says that it is up; the engine is open by then. */
  async function start(
    script: string,
    args: string[],
    fatal: string,
    before: string[] = [],
  ): Promise<Started> {
    const folder = temporaryFolder('fatal', tmpdir());
    const port = await freePort();
    const [command = '', ...rest] = [
      ...before,
      ...[process.execPath, '--max-old-space-size=120', '--import', preload],
      ...[join(packageRoot, script), ...args],
    ];
    const child = spawn(command, rest, {
      cwd: folder, // where a core goes, if the machine keeps them
      env: {
        PATH: process.env['PATH'],
        FATAL: fatal,
        DATA_DIR: folder,
        HOST: '127.0.0.1',
        OPS_PORT: String(port),
        // Of `start`
        ...{
          PORT: '0',
          BLOCK_GRPC_PORT: '0',
          TX_GRPC_PORT: '0',
          NFT_GRPC_PORT: '0',
          RICHLIST_GRPC_PORT: '0',
        },
        // Of a service
        ...{ GRPC_PORT: '0', BLOCK_SERVICE_ADDR: '127.0.0.1:1' },
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    running.add(child);
    const said = outputOf(child);
    const exited = once(child, 'exit').then(([code, signal]) => {
      running.delete(child);
      return { code, signal, at: performance.now() };
    });
    await eventually(
      () => {
        assert.equal(child.exitCode, null, said());
        return /Live page|service is up/.test(said());
      },
      `${script} to be up`,
      60_000,
    );
    return {
      child,
      port,
      said,
      async ending() {
        const from = performance.now();
        const { code, signal, at } = await exited;
        return { code, signal, took_ms: at - from };
      },
    };
  }

  const isOpen = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });

  const programs = [
    ['npm start', 'bin/weft.js', ['start']],
    ['the tx service', 'dist/services/tx/main.js', []],
  ] as const;
  const causes = ['SIGABRT', 'native code', 'heap', 'exception', 'rejection'] as const;

  for (const [name, script, args] of programs)
    for (const cause of causes) {
      // The services share the mechanism: one of the causes from inside is enough.
      if (name !== 'npm start' && cause !== 'SIGABRT' && cause !== 'exception') continue;
      it(`${name}: ${cause}`, async () => {
        const program = await start(script, [...args], cause);
        program.child.kill(cause === 'SIGABRT' ? 'SIGABRT' : 'SIGUSR2');
        const { code, signal, took_ms } = await program.ending();
        assert.notEqual(code, 0, program.said());
        assert.ok(took_ms < bound_ms, `it took ${Math.round(took_ms)} ms`);
        assert.equal(await isOpen(program.port), false, 'its ports are free');
        if (cause === 'exception' || cause === 'rejection') {
          assert.deepEqual([code, signal], [75, null], program.said());
          assert.match(program.said(), /ends with code 75: an? (exception|rejection) that nobody/);
        } else assert.equal(signal, 'SIGABRT');
      });
    }

  it('an exit after a failure does not wait for a statement that takes hours', async () => {
    const folder = temporaryFolder('fatal', tmpdir());
    const embedded = new URL('../../services/common/clickhouse/embedded.js', import.meta.url);
    const program = `
      const { openEmbedded } = await import('${embedded}');
      const database = await openEmbedded(${JSON.stringify(folder)});
      const sql = 'SELECT count() FROM numbers(1e13) WHERE sipHash64(number) = 1';
      const onTurn = () => setTimeout(() => process.exit(75), 500);
      await database.rows(sql, {}, { name: 'test', onTurn });`;
    const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { stdio: 'ignore' });
    running.add(child);
    const [code] = await once(child, 'exit', { signal: AbortSignal.timeout(2 * bound_ms) });
    running.delete(child);
    assert.notEqual(code, 0);
  });

  // The kernel keeps signals from the first process of a PID namespace, as that of a container is.
  const canUnshare = process.platform === 'linux' && process.getuid?.() === 0;
  const inContainer = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
  for (const cause of ['native code', 'heap', 'exception'] as const)
    it(`npm start as the first process of a container: ${cause}`, async function () {
      if (!canUnshare) return this.skip(); // it takes root
      const program = await start('bin/weft.js', ['start'], cause, inContainer);
      const { pid } = program.child;
      process.kill(Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')), 'SIGUSR2');
      const { code, took_ms } = await program.ending();
      assert.notEqual(code, 0, program.said());
      assert.ok(took_ms < bound_ms, `it took ${Math.round(took_ms)} ms`);
      assert.equal(await isOpen(program.port), false, 'its ports are free');
    });
});
