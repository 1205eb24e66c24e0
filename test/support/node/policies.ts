import { eventually } from '../block.js';
import { podNetwork } from './network.js';
import { type Daemons, program, run, tryRun } from './programs.js';

/** The kernel's queue in which packets wait for test/node/policies. */
const queue = '100';

/** Chains by the hook that they hang on, with rules: what each new connection of a pod comes through. */
const chains = {
  // From pods to this machine.
  INPUT: { name: 'WEFT-POLICIES-IN', rules: [['!', '-i', 'lo', '-s', podNetwork]] },
  // To pods from anywhere. Programs of this machine may always: so it is in any cluster, or probes would fail.
  POSTROUTING: {
    name: 'WEFT-POLICIES',
    rules: [
      ['-d', podNetwork],
      ['-s', podNetwork],
    ],
  },
} as const;

/** Has network policies enforced between pods, and between pods and this machine. */
export async function enforcePolicies(daemons: Daemons, kubeconfig: string): Promise<void> {
  daemons.start('policies', program('POLICIES'), [`--kubeconfig=${kubeconfig}`, '--node=node-1']);
  const isRead = async (): Promise<boolean> =>
    (await run('cat', ['/proc/net/netfilter/nfnetlink_queue']))
      .split('\n')
      .some((line) => line.trim().startsWith(`${queue} `));
  await eventually(isRead, `network policies to be enforced: ${daemons.log('policies')}`, 30_000);
  for (const [hook, { name, rules }] of Object.entries(chains)) {
    await iptables('-N', name);
    if (hook === 'POSTROUTING')
      await iptables('-A', name, ...['-m', 'owner', '--uid-owner', '0', '-j', 'RETURN']);
    for (const rule of rules)
      await iptables(
        '-A',
        name,
        ...rule,
        '-m',
        'conntrack',
        '--ctstate',
        'NEW',
        '-j',
        'NFQUEUE',
        '--queue-num',
        queue,
      );
    await iptables('-A', hook, '-j', name);
  }
}

/** Takes away the rules. */
export async function removePolicies(): Promise<void> {
  for (const [hook, { name }] of Object.entries(chains)) {
    for (const args of [
      ['-D', hook, '-j', name],
      ['-F', name],
      ['-X', name],
    ])
      await tryRun('iptables', ['-w', '-t', 'mangle', ...args]);
  }
}

const iptables = (...args: readonly string[]): Promise<string> =>
  run('iptables', ['-w', '-t', 'mangle', ...args]);
