import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { packageRoot } from '../../../services/common/runtime/paths.js';
import { freePort } from '../../../tools/bench/processes.js';
import { outputOf } from '../output.js';
import type { TestNamespace } from './namespace.js';

const main = fileURLToPath(new URL('../../../services/scoring-operator/main.js', import.meta.url));

/** An operator as a process of its own, with the rights of the role that ships. */
export interface OperatorProcess {
  readonly child: ChildProcess;
  /** Everything that it has written so far. */
  output(): string;
  /** A metric's value; undefined where there is none. */
  metric(name: string, labels?: string): Promise<number | undefined>;
  ready(): Promise<boolean>;
  /** Ends it with SIGTERM. @returns the exit code */
  end(): Promise<number | null>;
  /** Ends it with SIGKILL. */
  kill(): Promise<void>;
}

/** Starts one for a namespace. Its tables are behind CLICKHOUSE_URL. */
export async function startOperatorProcess(
  { plane, name, operatorToken }: TestNamespace,
  env: Readonly<Record<string, string>>,
): Promise<OperatorProcess> {
  const port = await freePort();
  const child = spawn(process.execPath, [main], {
    env: {
      PATH: process.env['PATH'] ?? '',
      WEFT_ROOT: packageRoot,
      KUBECONFIG: plane.kubeconfig(operatorToken),
      KUBERNETES_OPERATOR: 'true',
      KUBERNETES_NAMESPACE: name,
      JOB_IMAGE: 'registry.example/weft:test',
      LEADER_LEASE_SECONDS: '8',
      RELIST_SECONDS: '10',
      OPS_PORT: String(port),
      DATA_DIR: join(plane.folder, `operator-${port}`),
      LOG_LEVEL: 'info',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = outputOf(child);
  const ended = new Promise<number | null>((resolve) => child.once('close', (code) => resolve(code)));
  const leave = (): void => void child.kill('SIGKILL');
  process.once('exit', leave);
  void ended.then(() => process.off('exit', leave));
  const fetchText = async (path: string): Promise<{ readonly status: number; readonly text: string }> => {
    try {
      const response = await fetch(`http://127.0.0.1:${port}${path}`);
      return { status: response.status, text: await response.text() };
    } catch {
      return { status: 0, text: '' };
    }
  };
  return {
    child,
    output,
    async metric(metric, labels = '') {
      const { text: page } = await fetchText('/metrics');
      const line = page.split('\n').find((one) => one.startsWith(metric) && one.includes(labels));
      return line === undefined ? undefined : Number(line.split(' ').at(-1));
    },
    ready: async () => (await fetchText('/readyz')).status === 200,
    async end() {
      child.kill('SIGTERM');
      return ended;
    },
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
