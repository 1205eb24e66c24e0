import { isIP } from 'node:net';
import type { RightValues, Settings } from '../../common/config.js';
import { asJson, asListByKey } from './json-setting.js';
import { asWord } from './names.js';
import { podSchemas } from './pod-schemas.js';

/** An entry of /etc/hosts. */
type HostAlias = Readonly<{ ip: string; hostnames: readonly string[] }>;
type DnsConfig = Readonly<{ nameservers?: readonly string[] }> & Readonly<Record<string, unknown>>;

const asList = asListByKey<HostAlias, 'ip'>(podSchemas.hostAlias, 'ip', 'a list of entries of /etc/hosts');

function asHostAliases(given: string): readonly HostAlias[] | undefined {
  const aliases = asList(given);
  const wrong = aliases?.filter(({ ip }) => isIP(ip) === 0).map(({ ip }) => ip) ?? [];
  if (wrong.length > 0) throw new Error(`must have addresses, which these are not: ${wrong.join(', ')}`);
  return aliases;
}

/** How the pods of Jobs find others by their names. */
export const jobNetworkSettings = {
  JOB_DNS_POLICY: {
    doc: 'DNS policy of the pods of Jobs: ClusterFirst, ClusterFirstWithHostNet, Default or None. Unset: as Kubernetes does, ClusterFirst. None needs nameservers in JOB_DNS_CONFIG.',
    default: '',
    parse: asWord('ClusterFirst', 'ClusterFirstWithHostNet', 'Default', 'None'),
  },
  JOB_DNS_CONFIG: {
    doc: 'DNS settings of the pods of Jobs as JSON, such as `{"nameservers":["10.0.0.53"],"options":[{"name":"ndots","value":"2"}]}`.',
    default: '',
    parse: asJson<DnsConfig>(podSchemas.dnsConfig, 'DNS settings'),
  },
  JOB_HOST_ALIASES: {
    doc: 'Entries of /etc/hosts in the pods of Jobs as a JSON list, such as `[{"ip":"10.0.0.1","hostnames":["node"]}]`.',
    default: '',
    parse: asHostAliases,
  },
} satisfies Settings;

/** What these settings have to be together. @returns mistakes */
export function checkJobNetwork(values: RightValues<typeof jobNetworkSettings>): string[] {
  // Absent: it was wrong itself.
  if (values.JOB_DNS_POLICY !== 'None' || !Object.hasOwn(values, 'JOB_DNS_CONFIG')) return [];
  return (values.JOB_DNS_CONFIG?.nameservers ?? []).length > 0
    ? []
    : ['JOB_DNS_POLICY is None: JOB_DNS_CONFIG must have nameservers then'];
}
