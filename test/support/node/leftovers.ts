import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sleep } from '../../../services/common/runtime/lifecycle.js';
import { removeNetwork } from './network.js';
import { removePolicies } from './policies.js';
import { tryRun } from './programs.js';

/** Where nodes have their folders: no place that somebody removes while there are mounts in it. */
export const folderPrefix = '/var/tmp/weft-node-';

/**
 * Ends and removes all that nodes of tests have left on this machine: the one that is being
 * stopped, or one whose test was killed.
 */
export async function removeLeftovers(): Promise<void> {
  const parent = dirname(folderPrefix);
  const folders = readdirSync(parent).filter((name) => join(parent, name).startsWith(folderPrefix));
  // Pods without a folder of ours are somebody else's.
  if (folders.length === 0) return;
  await killAll(() => [...processesOf(folderPrefix), ...processesInPods()]);
  await unmountAll(folderPrefix);
  await tryRun('sh', ['-c', 'find /sys/fs/cgroup/*/kubepods -depth -type d -exec rmdir {} +']);
  await removePolicies();
  await removeNetwork();
  for (const name of folders) rmSync(join(parent, name), { recursive: true, force: true });
}

/** Kills processes until none is found any more, for five seconds at the most. */
export async function killAll(find: () => readonly number[]): Promise<void> {
  for (let attempt = 0; attempt < 25; attempt++) {
    const pids = find();
    if (pids.length === 0) break;
    for (const pid of pids) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // it has ended by itself
      }
    }
    await sleep(200);
  }
}

/** Unmounts what is mounted below paths that begin so. */
export async function unmountAll(prefix: string): Promise<void> {
  await tryRun('sh', ['-c', `grep -o '${prefix}[^ ]*' /proc/self/mounts | sort -r | xargs -r umount -l`]);
}

/** @throws Error where this machine is a node of somebody else's cluster, whose network this one's would break */
export async function refuseOthers(): Promise<void> {
  const tables = await tryRun('nft', ['list', 'tables']);
  if (processesInPods().length > 0 || tables.includes('kube-proxy'))
    throw new Error('no node can run here: this machine is one of another cluster already');
}

/** Programs with a word in their arguments. */
export function processesOf(word: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => read(join('/proc', name, 'cmdline')).includes(word))
    .map(Number);
}

/** Programs in the control groups of pods. */
function processesInPods(): number[] {
  const root = '/sys/fs/cgroup/cpu/kubepods';
  const files = list(root).filter((name) => name.endsWith('cgroup.procs'));
  return files.flatMap((name) => read(join(root, name)).split('\n').filter(Boolean).map(Number));
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
