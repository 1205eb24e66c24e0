import { lookup } from 'node:dns';
import { lookup as lookupAll } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/*
 * Where machines in a cloud ask for their own secrets: no source of scores is there, and whoever writes a policy must not
 * be able to have it read.
 */

const never = new BlockList();
never.addSubnet('fe80::', 10, 'ipv6');
never.addSubnet('fd00:ec2::', 64, 'ipv6');
never.addAddress('fd20:ce::254', 'ipv6');
// Teredo: any address of IPv4 may be in there, and no server is.
never.addSubnet('2001::', 32, 'ipv6');

/** With the bits that matter. */
const ipv4 = [
  ['169.254.0.0', 16],
  ['100.100.100.200', 32],
  ['168.63.129.16', 32],
  ['192.0.0.192', 32],
] as const;

for (const [address, bits] of ipv4) {
  never.addSubnet(address, bits, 'ipv4');
  // What of IPv6 holds it, besides ::ffff:0:0/96, which is compared as IPv4: at its end (compatible, translated, NAT64) ...
  for (const prefix of ['::', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'])
    never.addSubnet(prefix + address, 96 + bits, 'ipv6');
  // ... and after 2002: (6to4).
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  const hex = [a * 256 + b, c * 256 + d].map((group) => group.toString(16)).join(':');
  never.addSubnet(`2002:${hex}::`, 16 + bits, 'ipv6');
}

const names = /^(metadata|instance-data)(\.|$)/i;

/** Whether a host, as a URL has it, is link-local or a cloud's metadata service by its name or address. */
export function isMetadataHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  const family = isIP(name);
  return family === 0 ? names.test(name) : isMetadataAddress(name, family);
}

function isMetadataAddress(address: string, family: number): boolean {
  return never.check(address.replace(/%.*$/, ''), family === 6 ? 'ipv6' : 'ipv4');
}

/** How long a name is looked up that perhaps only a proxy knows, in milliseconds. */
const patience_ms = 2_000;

/**
 * Whether a name leads there as far as this machine can tell. For requests through a proxy, which looks names up by itself:
 * what it finds may be something else, so it has to refuse such addresses, too.
 */
export async function leadsToMetadata(host: string): Promise<boolean> {
  try {
    const known = lookupAll(host.replace(/^\[|\]$/g, ''), { all: true });
    const found = await Promise.race([known, sleep(patience_ms, [], { ref: false })]);
    return found.some(({ address, family }) => isMetadataAddress(address, family));
  } catch {
    // A name that only the proxy knows.
    return false;
  }
}

/**
 * Looks names up as Node does, and gives no address of a metadata service.
 *
 * @param refuse makes the error for a name that leads there.
 */
export const lookupElsewhere =
  (refuse: () => Error): LookupFunction =>
  (hostname, options, callback) => {
    lookup(hostname, { ...options, all: true }, (error, found) => {
      const [first] = found ?? [];
      if (error !== null || first === undefined) return callback(error, '', 0);
      if (found.some(({ address, family }) => isMetadataAddress(address, family)))
        return callback(refuse(), '', 0);
      if (options.all === true) return callback(null, found);
      callback(null, first.address, first.family);
    });
  };
