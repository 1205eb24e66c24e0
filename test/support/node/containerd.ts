import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '../../../services/common/runtime/lifecycle.js';
import { eventually } from '../block.js';
import { bridge, podNetwork } from './network.js';
import { cniFolder, type Daemons, run, tryRun } from './programs.js';

/** What holds the network of a pod. */
export const pauseImage = 'docker.io/local/pause:1';

/** containerd, for a kubelet. */
export interface Containerd {
  readonly socket: string;
  /** Takes an image from a file that tools/image/archive.mjs made. */
  load(file: string): Promise<void>;
  /** Processes of this machine that are containers, by the container's id. */
  tasks(): Promise<Map<string, number>>;
  /** Ends all containers, and then itself. */
  stop(): Promise<void>;
}

/** Starts it in a folder of its own. */
export async function startContainerd(folder: string, daemons: Daemons): Promise<Containerd> {
  const socket = join(folder, 'containerd.sock');
  mkdirSync(join(folder, 'cni'), { recursive: true });
  writeFileSync(join(folder, 'cni/10-weft.conflist'), JSON.stringify(cniConfig(folder)));
  writeFileSync(join(folder, 'config.toml'), config(folder, socket));
  daemons.start('containerd', 'containerd', ['--config', join(folder, 'config.toml')]);
  const ctr = (...args: string[]): Promise<string> => tryRun('ctr', ['-a', socket, '-n', 'k8s.io', ...args]);
  const isUp = async (): Promise<boolean> =>
    (await tryRun('ctr', ['-a', socket, 'version'])).includes('Server:');
  await eventually(isUp, `containerd: ${daemons.log('containerd')}`, 30_000);
  const tasks = async (): Promise<Map<string, number>> => {
    const lines = (await ctr('tasks', 'ls')).trim().split('\n').slice(1);
    return new Map(lines.map((line) => line.split(/\s+/)).map(([id = '', pid]) => [id, Number(pid)]));
  };
  return {
    socket,
    async load(file) {
      await run('ctr', ['-a', socket, '-n', 'k8s.io', 'images', 'import', file]);
    },
    tasks,
    async stop() {
      for (const id of (await tasks()).keys()) await ctr('tasks', 'kill', '-s', '9', id);
      const deadline = Date.now() + 10_000;
      for (let left = await tasks(); left.size > 0 && Date.now() < deadline; left = await tasks()) {
        for (const id of left.keys()) await ctr('tasks', 'rm', '-f', id);
        await sleep(200);
      }
      for (const id of (await ctr('containers', 'ls', '-q')).split('\n'))
        if (id !== '') await ctr('containers', 'rm', id);
      await daemons.kill('containerd');
    },
  };
}

/** What a machine in a container cannot do is switched off: AppArmor, and raising the importance to the OOM killer. */
function config(folder: string, socket: string): string {
  return `version = 2
root = "${join(folder, 'root')}"
state = "${join(folder, 'state')}"
oom_score = 0
[grpc]
  address = "${socket}"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${pauseImage}"
  restrict_oom_score_adj = true
  disable_apparmor = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "${cniFolder}"
    conf_dir = "${join(folder, 'cni')}"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    snapshotter = "overlayfs"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc.options]
        SystemdCgroup = false
`;
}

const cniConfig = (folder: string): object => ({
  cniVersion: '0.4.0',
  name: 'weft',
  plugins: [
    {
      type: 'bridge',
      bridge,
      isGateway: true,
      hairpinMode: true,
      ipam: {
        type: 'host-local',
        dataDir: join(folder, 'addresses'),
        // The first ones are the machine's own.
        ranges: [[{ subnet: podNetwork, rangeStart: '10.244.0.10' }]],
        routes: [{ dst: '0.0.0.0/0' }],
      },
    },
  ],
});
