import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RichlistServiceClient } from '../../services/common/gen/indexer/richlist/v1/richlist.js';
import { connectRpc } from '../../services/common/rpc/client.js';
import { packageRoot } from '../../services/common/runtime/paths.js';
import { freePort } from '../../tools/bench/processes.js';
import type { ReplayNode } from '../../tools/replay/node.js';
import { eventually } from './block.js';
import { temporaryFolder } from './folder.js';

/** `weft start` as a process of its own, on a folder that outlives it. */
export interface Program {
  readonly url: string;
  /** A client of the richlist service. */
  readonly richlist: RichlistServiceClient;
  /** Id of the process that runs now. */
  pid(): number;
  /** Base URL of its metrics. */
  ops_url(): string;
  get<T = Record<string, unknown>>(path: string, status?: number): Promise<T>;
  /** Heights of blocks and of internal txs that are served; 0 while nothing answers. */
  heights(): Promise<{ height: number; internal_tx_height: number }>;
  /** Kills it with SIGKILL and starts it again on the same folder. */
  killAndRestart(): Promise<void>;
  /** Ends it with SIGTERM. @returns the exit code. */
  stop(): Promise<number | null>;
}

/** Starts the program on a node. */
export async function startProgram(
  node: ReplayNode,
  env: Readonly<Record<string, string>> = {},
): Promise<Program> {
  const folder = temporaryFolder('program', tmpdir());
  const [port, opsPort, richlistPort] = [await freePort(), await freePort(), await freePort()];
  const url = `http://127.0.0.1:${port}`;
  const start = (): ChildProcess =>
    spawn(process.execPath, [join(packageRoot, 'bin/weft.js'), 'start'], {
      env: {
        PATH: process.env['PATH'] ?? '',
        RPC_URL: node.rpc_url,
        REST_URL: node.rest_url,
        JSON_RPC_URL: node.json_rpc_url,
        DATA_DIR: folder,
        PORT: String(port),
        OPS_PORT: String(opsPort),
        BLOCK_GRPC_PORT: '0',
        TX_GRPC_PORT: '0',
        NFT_GRPC_PORT: '0',
        RICHLIST_GRPC_PORT: String(richlistPort),
        LOG_LEVEL: 'error',
        ...env,
      },
      stdio: 'ignore',
    });
  let child = start();
  const richlist = connectRpc(RichlistServiceClient, `127.0.0.1:${richlistPort}`);
  const program: Program = {
    url,
    richlist,
    pid: () => child.pid as number,
    ops_url: () => `http://127.0.0.1:${opsPort}`,
    async get<T>(path: string, status = 200): Promise<T> {
      const response = await fetch(url + path);
      assert.equal(response.status, status, path);
      return (await response.json()) as T;
    },
    async heights() {
      try {
        return await program.get('/status');
      } catch {
        return { height: 0, internal_tx_height: 0 };
      }
    },
    async killAndRestart() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
      child = start();
    },
    async stop() {
      if (child.exitCode === null && child.signalCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }
      richlist.close();
      return child.exitCode;
    },
  };
  await eventually(async () => {
    assert.equal(child.exitCode, null, 'the program ended by itself');
    return fetch(`${url}/status`).then(
      () => true,
      () => false,
    );
  }, 'the program to listen');
  return program;
}
