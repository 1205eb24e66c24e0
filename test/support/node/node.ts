import { randomBytes } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CoreV1Api } from '@kubernetes/client-node';
import { freePort } from '../../../tools/bench/processes.js';
import { eventually } from '../block.js';
import { type ControlPlane, startControlPlane } from '../kubernetes/control-plane.js';
import { type Containerd, startContainerd } from './containerd.js';
import { buildPause } from './images.js';
import { folderPrefix, refuseOthers, removeLeftovers } from './leftovers.js';
import { dnsAddress, hostAddress, makeNetwork, podNetwork } from './network.js';
import { enforcePolicies } from './policies.js';
import { createDaemons, program, run, whatIsMissing } from './programs.js';

/** A cluster of one real node: pods are containers of this machine, and network policies are enforced. */
export interface Node {
  readonly plane: ControlPlane;
  readonly containerd: Containerd;
  /** A connection of an administrator, as a file. */
  readonly kubeconfig: string;
  /** Runs kubectl. @returns what it printed */
  kubectl(...args: string[]): Promise<string>;
  /** What the node's programs logged last, for messages of failures. */
  logs(): string;
  /** Ends all of it, and removes what it left on the machine. */
  stop(): Promise<void>;
}

/**
 * Starts one. There can be one on a machine: it takes a bridge and addresses of its own.
 *
 * @throws Error that names what the machine lacks
 */
export async function startNode(): Promise<Node> {
  const missing = whatIsMissing();
  if (missing !== undefined) throw new Error(`no node can run here: ${missing}`);
  await removeLeftovers();
  await refuseOthers();
  // Not below WEFT_TEST_FOLDER: sockets have short names, and mounts have to be taken down before it is removed.
  const folder = mkdtempSync(folderPrefix);
  const daemons = createDaemons(folder);
  await makeNetwork();
  const containerd = await startContainerd(join(folder, 'containerd'), daemons);
  await containerd.load(await buildPause(folder));
  const nodeToken = randomBytes(16).toString('hex');
  const plane = await startControlPlane({ address: hostAddress, nodeToken });
  const kubeconfig = plane.kubeconfig(plane.adminToken);
  const bin = program('KUBEBUILDER_ASSETS');
  const kubectl = (...args: string[]): Promise<string> =>
    run(join(bin, 'kubectl'), ['--kubeconfig', kubeconfig, ...args]);

  const kubelet = join(folder, 'kubelet');
  writeFileSync(join(folder, 'kubelet.yaml'), JSON.stringify(kubeletConfig(folder, containerd.socket)));
  daemons.start('kubelet', join(bin, 'kubelet'), [
    `--config=${join(folder, 'kubelet.yaml')}`,
    `--kubeconfig=${plane.kubeconfig(nodeToken)}`,
    ...['--hostname-override=node-1', `--node-ip=${hostAddress}`, `--root-dir=${kubelet}`],
  ]);
  daemons.start('kube-proxy', join(bin, 'kube-proxy'), [
    ...[`--kubeconfig=${kubeconfig}`, '--proxy-mode=nftables', '--hostname-override=node-1'],
    ...[`--cluster-cidr=${podNetwork}`, '--conntrack-max-per-core=0'],
    `--healthz-bind-address=127.0.0.1:${await freePort()}`,
    `--metrics-bind-address=127.0.0.1:${await freePort()}`,
  ]);
  writeFileSync(join(folder, 'Corefile'), corefile(kubeconfig));
  daemons.start('coredns', program('COREDNS'), ['-conf', join(folder, 'Corefile')]);

  await enforcePolicies(daemons, kubeconfig);

  const names = ['kubelet', 'kube-proxy', 'coredns', 'policies', 'containerd'];
  const logs = (): string => names.map((name) => `${name}:\n${daemons.log(name)}`).join('\n');
  const stop = async (): Promise<void> => {
    for (const name of ['kubelet', 'kube-proxy', 'coredns', 'policies']) await daemons.kill(name);
    await containerd.stop();
    plane.stop();
    await removeLeftovers();
  };
  const core = plane.config().makeApiClient(CoreV1Api);
  const isReady = async (): Promise<boolean> => {
    const node = await core.readNode({ name: 'node-1' }).catch(() => undefined);
    return (
      node?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
    );
  };
  await eventually(isReady, 'the node to be ready', 90_000).catch(async (error: Error) => {
    const said = logs();
    await stop();
    throw new Error(`${error.message}\n${said}`);
  });
  return { plane, containerd, kubeconfig, kubectl, logs, stop };
}

/** What a kubelet in a container needs: old control groups, no swap, no judgement of the disk. */
const kubeletConfig = (folder: string, socket: string): object => ({
  apiVersion: 'kubelet.config.k8s.io/v1beta1',
  kind: 'KubeletConfiguration',
  address: hostAddress,
  port: 10250,
  healthzBindAddress: '127.0.0.1',
  authentication: { anonymous: { enabled: true }, webhook: { enabled: false } },
  authorization: { mode: 'AlwaysAllow' },
  cgroupDriver: 'cgroupfs',
  failCgroupV1: false,
  failSwapOn: false,
  containerRuntimeEndpoint: `unix://${socket}`,
  clusterDNS: [dnsAddress],
  clusterDomain: 'cluster.local',
  resolvConf: '',
  imageGCHighThresholdPercent: 100,
  evictionHard: { 'memory.available': '100Mi' },
  oomScoreAdj: 0,
  podLogsDir: join(folder, 'podlogs'),
  syncFrequency: '5s',
  nodeStatusUpdateFrequency: '5s',
});

const corefile = (kubeconfig: string): string => `.:53 {
  bind ${dnsAddress}
  errors
  kubernetes cluster.local in-addr.arpa {
    kubeconfig ${kubeconfig}
    ttl 2
  }
}
`;
