import { run, tryRun } from './programs.js';

/** The bridge that pods hang on, and what is on it. */
export const bridge = 'weft0';
export const podNetwork = '10.244.0.0/24';
/** This machine, as pods see it. */
export const hostAddress = '10.244.0.1';
export const dnsAddress = hostAddress;

/** Makes the bridge. */
export async function makeNetwork(): Promise<void> {
  await removeNetwork();
  await run('ip', ['link', 'add', bridge, 'type', 'bridge']);
  await run('ip', ['addr', 'add', `${hostAddress}/24`, 'dev', bridge]);
  await run('ip', ['link', 'set', bridge, 'up']);
  await run('sh', ['-c', 'echo 1 > /proc/sys/net/ipv4/ip_forward']);
}

/** Removes it, with what pods and kube-proxy have left. */
export async function removeNetwork(): Promise<void> {
  for (const line of (await tryRun('ip', ['-o', 'link', 'show', 'master', bridge])).split('\n')) {
    const name = /^\d+: (veth\w+)/.exec(line)?.[1];
    if (name !== undefined) await tryRun('ip', ['link', 'del', name]);
  }
  await tryRun('ip', ['link', 'del', bridge]);
  for (const family of ['ip', 'ip6']) await tryRun('nft', ['delete', 'table', family, 'kube-proxy']);
}
