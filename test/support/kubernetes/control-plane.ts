import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { KubeConfig } from '@kubernetes/client-node';
import { sleep } from '../../../services/common/runtime/lifecycle.js';
import { freePort } from '../../../tools/bench/processes.js';
import { temporaryFolder } from '../folder.js';
import { installCrd } from './install.js';

/** etcd, an API server and the controllers, as processes on the loopback interface. */
export interface ControlPlane {
  readonly url: string;
  /** Where its logs are. */
  readonly folder: string;
  readonly caFile: string;
  /** What an administrator shows. */
  readonly adminToken: string;
  /** A connection of whoever has a token; without one of an administrator. */
  config(token?: string): KubeConfig;
  /** Writes such a connection to a file. @returns its path */
  kubeconfig(token: string): string;
  /** Kills the API server with SIGKILL. */
  killApiserver(): Promise<void>;
  /** Starts it again on the same port and the same etcd, and waits until it is ready. */
  startApiserver(): Promise<void>;
  /** Kills everything. */
  stop(): void;
}

let shared: Promise<ControlPlane> | undefined;

/** The control plane that all tests of this process share; each takes a namespace of its own. */
export function controlPlane(): Promise<ControlPlane> {
  shared ??= startControlPlane();
  return shared;
}

/** Where a control plane listens, and whether a node is to join it. */
export interface ControlPlaneOptions {
  /** Address of this machine. Default: that of the loopback interface, which no pod can reach. */
  readonly address?: string;
  /** Token that the kubelet of the node `node-1` shows; also starts the scheduler. */
  readonly nodeToken?: string;
}

/** Starts a control plane of its own. */
export async function startControlPlane({
  address = '127.0.0.1',
  nodeToken,
}: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const assets = process.env['KUBEBUILDER_ASSETS'];
  if (assets === undefined) throw new Error('KUBEBUILDER_ASSETS is not set: run npm run test:kubernetes');
  const folder = temporaryFolder('control-plane');
  const running = new Map<string, ChildProcess>();
  const run = (name: string, args: readonly string[]): ChildProcess => {
    const log = openSync(join(folder, `${name}.log`), 'a');
    const child = spawn(join(assets, name), args, { cwd: folder, stdio: ['ignore', log, log] });
    running.set(name, child);
    return child;
  };
  const stop = (): void => {
    // On SIGTERM the API server would wait for open watches.
    for (const child of running.values()) child.kill('SIGKILL');
  };
  process.once('exit', stop);

  const [etcd, peers, port, controllers] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  run('etcd', [
    ...['--data-dir', 'etcd', '--unsafe-no-fsync', '--log-level', 'error'],
    ...[`--listen-client-urls=http://127.0.0.1:${etcd}`, `--advertise-client-urls=http://127.0.0.1:${etcd}`],
    ...[`--listen-peer-urls=http://127.0.0.1:${peers}`],
    ...[`--initial-advertise-peer-urls=http://127.0.0.1:${peers}`],
    `--initial-cluster=default=http://127.0.0.1:${peers}`,
  ]);
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  writeFileSync(join(folder, 'sa.key'), privateKey.export({ type: 'pkcs1', format: 'pem' }), { mode: 0o600 });
  writeFileSync(join(folder, 'sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }));
  const admin = randomBytes(16).toString('hex');
  const tokens = [`${admin},admin,admin,"system:masters"`];
  if (nodeToken !== undefined) tokens.push(`${nodeToken},system:node:node-1,node-1,"system:nodes"`);
  writeFileSync(join(folder, 'tokens.csv'), `${tokens.join('\n')}\n`, { mode: 0o600 });
  const caFile = join(folder, 'pki/apiserver.crt');
  const url = `https://${address}:${port}`;

  const config = (token = admin): KubeConfig => {
    const kube = new KubeConfig();
    kube.loadFromString(kubeconfigText(url, caFile, token));
    return kube;
  };
  const kubeconfig = (token: string): string => {
    const path = join(folder, `kubeconfig-${randomBytes(4).toString('hex')}`);
    writeFileSync(path, kubeconfigText(url, caFile, token), { mode: 0o600 });
    return path;
  };
  const startApiserver = async (): Promise<void> => {
    const child = run('kube-apiserver', [
      ...[`--etcd-servers=http://127.0.0.1:${etcd}`, `--bind-address=${address}`],
      ...[`--advertise-address=${address}`, `--secure-port=${port}`, '--cert-dir=pki'],
      ...[
        '--service-cluster-ip-range=10.96.0.0/16',
        `--authorization-mode=${nodeToken === undefined ? 'RBAC' : 'Node,RBAC'}`,
      ],
      ...['--token-auth-file=tokens.csv', '--service-account-issuer=https://kubernetes.default.svc'],
      ...['--service-account-key-file=sa.pub', '--service-account-signing-key-file=sa.key'],
      '--enable-priority-and-fairness=false',
      ...(nodeToken === undefined
        ? ['--endpoint-reconciler-type=none']
        : [
            '--enable-admission-plugins=NodeRestriction',
            '--kubelet-preferred-address-types=InternalIP',
            '--allow-privileged=true',
          ]),
    ]);
    await until(() => isReady(url, admin), child, 'the API server', folder);
  };
  await startApiserver();
  // Before the controllers: they would see its children only at their next look for new kinds, half a minute later.
  await installCrd(config());
  const admins = kubeconfig(admin);
  mkdirSync(join(folder, 'pki-controllers'));
  const manager = run('kube-controller-manager', [
    ...[`--kubeconfig=${admins}`, '--leader-elect=false', '--use-service-account-credentials=true'],
    ...['--service-account-private-key-file=sa.key', `--root-ca-file=${caFile}`],
    ...['--bind-address=127.0.0.1', `--secure-port=${controllers}`, '--cert-dir=pki-controllers'],
    '--authentication-skip-lookup=true',
  ]);
  const hasAccount = (): Promise<boolean> =>
    ask(url, admin, '/api/v1/namespaces/default/serviceaccounts/default');
  await until(hasAccount, manager, 'the controllers', folder);
  if (nodeToken !== undefined) {
    mkdirSync(join(folder, 'pki-scheduler'));
    run('kube-scheduler', [
      ...[`--kubeconfig=${admins}`, '--leader-elect=false', '--authentication-skip-lookup=true'],
      ...['--bind-address=127.0.0.1', `--secure-port=${await freePort()}`, '--cert-dir=pki-scheduler'],
    ]);
  }
  return {
    url,
    folder,
    caFile,
    adminToken: admin,
    config,
    kubeconfig,
    async killApiserver() {
      const child = running.get('kube-apiserver') as ChildProcess;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGKILL');
      await ended;
    },
    startApiserver,
    stop,
  };
}

function kubeconfigText(server: string, ca: string, token: string): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server, 'certificate-authority': ca } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  });
}

const isReady = (url: string, token: string): Promise<boolean> => ask(url, token, '/readyz');

/** Whether a path answers 200. The certificate is the server's own: nothing secret is sent to loopback. */
async function ask(url: string, token: string, path: string): Promise<boolean> {
  const { request } = await import('node:https');
  return new Promise((resolve) => {
    const sent = request(
      url + path,
      { headers: { authorization: `Bearer ${token}` }, rejectUnauthorized: false, timeout: 2_000 },
      (response) => {
        response.resume();
        resolve(response.statusCode === 200);
      },
    );
    sent.on('error', () => resolve(false));
    sent.on('timeout', () => sent.destroy());
    sent.end();
  });
}

async function until(
  holds: () => Promise<boolean>,
  child: ChildProcess,
  what: string,
  folder: string,
): Promise<void> {
  const end = Date.now() + 60_000;
  while (!(await holds())) {
    if (child.exitCode !== null || Date.now() > end) {
      const log = readFileSync(join(folder, `${child.spawnfile.split('/').at(-1)}.log`), 'utf8');
      throw new Error(`${what} did not come up: ${log.slice(-1_000)}`);
    }
    await sleep(100);
  }
}
