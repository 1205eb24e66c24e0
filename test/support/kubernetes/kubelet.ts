import { type ChildProcess, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { CoreV1Api } from '@kubernetes/client-node';
import { packageRoot } from '../../../services/common/runtime/paths.js';
import { temporaryFolder } from '../folder.js';
import { outputOf } from '../output.js';
import type { TestNamespace } from './namespace.js';

/** The parts of a Pod that are needed to run it. */
interface Pod {
  readonly metadata: {
    readonly name: string;
    readonly uid: string;
    readonly deletionTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
  };
  readonly spec: {
    readonly containers: readonly {
      readonly name: string;
      readonly args: readonly string[];
      readonly env: readonly Variable[];
      readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string }[];
    }[];
    readonly volumes: readonly Volume[];
  };
  readonly status?: { readonly phase?: string };
}

interface KeyRef {
  readonly name: string;
  readonly key: string;
  readonly optional?: boolean;
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: {
    readonly secretKeyRef?: KeyRef;
    readonly configMapKeyRef?: KeyRef;
    readonly fieldRef?: { readonly fieldPath: string };
  };
}

interface Volume {
  readonly name: string;
  readonly secret?: {
    readonly secretName: string;
    readonly items?: readonly { readonly key: string; readonly path: string }[];
  };
  readonly configMap?: { readonly name: string };
}

/** A process that stands for a pod. */
export interface RunningPod {
  readonly name: string;
  readonly phase: string;
  readonly child: ChildProcess;
  output(): string;
}

/** Runs the pods of Jobs as processes of this machine, with the environment and the files that a kubelet gives them. */
export interface Kubelet {
  readonly pods: readonly RunningPod[];
  /** Pods that are not started while true. */
  isHeld: boolean;
  stop(): Promise<void>;
}

/** Starts one for a namespace. The rest is the real controllers': they make the pods and judge how they ended. */
export function startKubelet(space: TestNamespace, env: Readonly<Record<string, string>> = {}): Kubelet {
  const { core, name: namespace } = space;
  const started = new Map<string, RunningPod>();
  const kubelet = { pods: [] as RunningPod[], isHeld: false, stop };
  let isStopped = false;

  const look = async (): Promise<void> => {
    const list = (await core.listNamespacedPod({ namespace })) as unknown as { items: Pod[] };
    for (const pod of list.items) {
      const { uid, deletionTimestamp } = pod.metadata;
      const running = started.get(uid);
      if (deletionTimestamp !== undefined) {
        if (running === undefined) await remove(core, namespace, pod.metadata.name);
        else running.child.kill('SIGTERM');
        continue;
      }
      if (running !== undefined || kubelet.isHeld || !/^(Pending)?$/.test(pod.status?.phase ?? '')) continue;
      try {
        const fresh = await run(space, pod, env);
        started.set(uid, fresh);
        kubelet.pods.push(fresh);
      } catch (error) {
        if (!(error instanceof CannotStart)) throw error;
        await tell(core, namespace, pod, error);
      }
    }
  };
  const loop = (async () => {
    while (!isStopped) {
      // The API server may be away for a while.
      await look().catch(() => {});
      await new Promise((resolve) => setTimeout(resolve, 150));
    }
  })();
  async function stop(): Promise<void> {
    isStopped = true;
    await loop;
    for (const { child } of kubelet.pods) child.kill('SIGKILL');
  }
  return kubelet;
}

async function run(
  space: TestNamespace,
  pod: Pod,
  env: Readonly<Record<string, string>>,
): Promise<RunningPod> {
  const { core, name: namespace, plane, jobToken } = space;
  const { name, labels = {} } = pod.metadata;
  const [container] = pod.spec.containers;
  if (container === undefined) throw new Error('a pod without a container');
  const root = temporaryFolder('pod');
  for (const { name: volume, mountPath } of container.volumeMounts) {
    mkdirSync(join(root, mountPath), { recursive: true });
    const source = pod.spec.volumes.find((one) => one.name === volume);
    for (const [path, text] of await filesOf(core, namespace, source).catch(cannotMount(volume))) {
      const file = join(root, mountPath, path);
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, text, { mode: 0o400 });
    }
  }
  const mounts = container.volumeMounts.map(({ mountPath }) => mountPath);
  const mounted = new RegExp(`(?<=^|")(?:${mounts.join('|')})(?=/|$|")`, 'g');
  /** A path in the pod as one of this machine. */
  const here = (value: string): string => value.replace(mounted, (path) => join(root, path));
  const variables: Record<string, string> = {};
  for (const variable of container.env) {
    const value = await resolveVariable(core, namespace, pod, variable).catch(cannotCreate(namespace));
    if (value !== undefined) variables[variable.name] = here(value);
  }
  const child = spawn(process.execPath, [...container.args], {
    cwd: packageRoot,
    env: {
      PATH: process.env['PATH'] ?? '',
      WEFT_ROOT: packageRoot,
      // In a pod it is the mounted token: here one with the same rights.
      KUBECONFIG: plane.kubeconfig(jobToken),
      ...variables,
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = outputOf(child);
  await setPhase(core, namespace, name, {
    phase: 'Running',
    conditions: [{ type: 'Ready', status: 'True' }],
  });
  child.once('close', (code, signal) => {
    void end(core, namespace, pod, code ?? (signal === 'SIGKILL' ? 137 : 143));
  });
  return { name, phase: labels['vip.weft.dev/phase'] ?? '', child, output };
}

/** Tells how a pod ended; a deleted one goes. */
async function end(core: CoreV1Api, namespace: string, pod: Pod, exitCode: number): Promise<void> {
  const { name } = pod.metadata;
  const terminated = { exitCode, startedAt: now(), finishedAt: now() };
  const status = {
    phase: exitCode === 0 ? 'Succeeded' : 'Failed',
    containerStatuses: [
      { name: 'job', ready: false, restartCount: 0, image: 'x', imageID: '', state: { terminated } },
    ],
  };
  for (let attempt = 0; attempt < 100; attempt++) {
    try {
      await setPhase(core, namespace, name, status);
      const found = (await core.readNamespacedPod({ namespace, name })) as unknown as Pod;
      if (found.metadata.deletionTimestamp !== undefined) await remove(core, namespace, name);
      return;
    } catch (error) {
      if ((error as { code?: number }).code === 404) return;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

async function setPhase(core: CoreV1Api, namespace: string, name: string, status: object): Promise<void> {
  const body = [{ op: 'replace', path: '/status', value: { startTime: now(), ...status } }];
  await core.patchNamespacedPodStatus({ namespace, name, body });
}

const remove = async (core: CoreV1Api, namespace: string, name: string): Promise<void> => {
  await core.deleteNamespacedPod({ namespace, name, gracePeriodSeconds: 0 }).catch(() => {});
};

async function filesOf(
  core: CoreV1Api,
  namespace: string,
  volume: Volume | undefined,
): Promise<(readonly [string, string])[]> {
  if (volume?.secret !== undefined) {
    const { secretName, items } = volume.secret;
    const { data = {} } = await core.readNamespacedSecret({ namespace, name: secretName });
    const wanted = items ?? Object.keys(data).map((key) => ({ key, path: key }));
    return wanted.map(({ key, path }) => [path, decode(data[key] ?? missing(secretName, key))]);
  }
  if (volume?.configMap !== undefined) {
    const { data = {} } = await core.readNamespacedConfigMap({ namespace, name: volume.configMap.name });
    return Object.entries(data);
  }
  return [];
}

async function resolveVariable(
  core: CoreV1Api,
  namespace: string,
  { metadata }: Pod,
  { name, value, valueFrom }: Variable,
): Promise<string | undefined> {
  if (valueFrom === undefined) return value ?? '';
  const { secretKeyRef, configMapKeyRef, fieldRef } = valueFrom;
  if (fieldRef !== undefined) return fieldRef.fieldPath === 'metadata.name' ? metadata.name : namespace;
  const reference = secretKeyRef ?? configMapKeyRef;
  if (reference === undefined) throw new Error(`${name} has a source that is not known here`);
  const { data = {} } =
    secretKeyRef === undefined
      ? await core.readNamespacedConfigMap({ namespace, name: reference.name })
      : await core.readNamespacedSecret({ namespace, name: reference.name });
  const found = data[reference.key];
  if (found === undefined) return reference.optional ? undefined : missing(reference.name, reference.key);
  return secretKeyRef === undefined ? found : decode(found);
}

/** Something that a pod refers to is not there. */
class MissingError extends Error {
  constructor(
    readonly object: string,
    readonly key: string,
  ) {
    super(`there is no ${key} in ${object}`);
  }
}

/** What a kubelet tells of a pod that it cannot start: an event, with a reason and words. */
class CannotStart extends Error {
  constructor(
    readonly reason: 'FailedMount' | 'Failed',
    message: string,
  ) {
    super(message);
  }
}

const isGone = (error: unknown): boolean => (error as { code?: number }).code === 404;

/** The words are those of a kubelet (pkg/volume/secret, pkg/kubelet). */
const cannotMount =
  (volume: string) =>
  (error: unknown): never => {
    const why =
      error instanceof MissingError
        ? `references non-existent secret key: ${error.key}`
        : isGone(error)
          ? `secret "${volume}" not found`
          : undefined;
    if (why === undefined) throw error;
    throw new CannotStart('FailedMount', `MountVolume.SetUp failed for volume "${volume}" : ${why}`);
  };

const cannotCreate =
  (namespace: string) =>
  (error: unknown): never => {
    if (!(error instanceof MissingError)) throw error;
    throw new CannotStart(
      'Failed',
      `Error: couldn't find key ${error.key} in Secret ${namespace}/${error.object}`,
    );
  };

/** Writes the event of a pod that cannot be started; said again it is counted. */
async function tell(
  core: CoreV1Api,
  namespace: string,
  { metadata }: Pod,
  error: CannotStart,
): Promise<void> {
  const name = `${metadata.name}.${createHash('sha256').update(error.message).digest('hex').slice(0, 16)}`;
  const at = new Date();
  const body = {
    metadata: { name, namespace },
    involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace, name: metadata.name, uid: metadata.uid },
    type: 'Warning',
    reason: error.reason,
    message: error.message,
    source: { component: 'kubelet' },
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
  await core.createNamespacedEvent({ namespace, body }).catch((failure: unknown) => {
    if ((failure as { code?: number }).code !== 409) throw failure;
  });
}

function missing(name: string, key: string): never {
  throw new MissingError(name, key);
}

const decode = (text: string): string => Buffer.from(text, 'base64').toString('utf8');
const now = (): string => new Date().toISOString();
