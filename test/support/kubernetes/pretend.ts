import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../../../services/common/runtime/lifecycle.js';
import { goModule } from '../chart/go-modules.js';
import { program } from '../chart/helm.js';
import type { ControlPlane } from './control-plane.js';
import { ask } from './raw.js';

/** A node on which pods only pretend: they are ready at once, and those of Jobs succeed. */
export interface PretendNode {
  /** Pods with this value of app.kubernetes.io/component stay pending; default: none. */
  hold(component: string | undefined): void;
  stop(): void;
}

const name = 'pretend';
const stages = [
  'node/fast/node-initialize',
  'node/heartbeat-with-lease/node-heartbeat-with-lease',
  'pod/fast',
];

interface Pod {
  readonly metadata: {
    name: string;
    namespace: string;
    labels?: Record<string, string>;
    deletionTimestamp?: string;
  };
  readonly spec: { nodeName?: string };
}

/** Starts kwok, and binds every pod to its one node as a scheduler would. */
export async function pretendNode(plane: ControlPlane): Promise<PretendNode> {
  const folder = join(goModule('kwok', 'sigs.k8s.io/kwok'), 'kustomize/stage');
  const files = stages.flatMap((stage) =>
    stage === 'pod/fast'
      ? readdirSync(join(folder, stage))
          .filter((file) => file.startsWith('pod-') && file.endsWith('.yaml'))
          .map((file) => join(folder, stage, file))
      : [join(folder, `${stage}.yaml`)],
  );
  const token = plane.config().getCurrentUser()?.token as string;
  const log = openSync(join(plane.folder, 'kwok.log'), 'a');
  const child: ChildProcess = spawn(
    program('KWOK'),
    [
      ...[
        '--kubeconfig',
        plane.kubeconfig(token),
        '--manage-all-nodes',
        '--node-lease-duration-seconds',
        '40',
      ],
      ...files.flatMap((file) => ['--config', file]),
    ],
    { stdio: ['ignore', log, log], env: { PATH: process.env['PATH'] ?? '', HOME: plane.folder } },
  );
  const stopping = new AbortController();
  const stop = (): void => {
    stopping.abort();
    child.kill('SIGKILL');
  };
  process.once('exit', stop);
  const node = {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels: { 'kubernetes.io/hostname': name } },
  };
  const { status } = await ask(plane, 'POST', '/api/v1/nodes', node);
  if (status !== 201) throw new Error(`the node was answered with ${status}`);
  let held: string | undefined;
  const bindAll = async (): Promise<void> => {
    const { body } = await ask(plane, 'GET', '/api/v1/pods?fieldSelector=spec.nodeName%3D');
    for (const { metadata } of (body.items ?? []) as Pod[]) {
      if (metadata.deletionTimestamp !== undefined) continue;
      if (held !== undefined && metadata.labels?.['app.kubernetes.io/component'] === held) continue;
      await ask(plane, 'POST', `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}/binding`, {
        apiVersion: 'v1',
        kind: 'Binding',
        metadata: { name: metadata.name },
        target: { apiVersion: 'v1', kind: 'Node', name },
      });
    }
  };
  const bind = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      // A connection that the server ended is tried again, as a scheduler would.
      await bindAll().catch((error: unknown) => {
        if (!stopping.signal.aborted) console.error(`binding: ${String(error)}`);
      });
      await sleep(200, stopping.signal);
    }
  };
  void bind();
  return {
    hold(component) {
      held = component;
    },
    stop,
  };
}
