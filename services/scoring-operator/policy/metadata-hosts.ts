import { lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

/*
 * Where machines in a cloud ask for their own secrets: no source of scores is there, and whoever writes a policy must not
 * be able to have it read.
 */

const never = new BlockList();
never.addSubnet('169.254.0.0', 16, 'ipv4');
never.addAddress('100.100.100.200', 'ipv4');
never.addSubnet('fe80::', 10, 'ipv6');
never.addAddress('168.63.129.16', 'ipv4');
never.addAddress('192.0.0.192', 'ipv4');
never.addSubnet('fd00:ec2::', 64, 'ipv6');
never.addAddress('fd20:ce::254', 'ipv6');
// 169.254.0.0 and its neighbours where IPv4 is reached through NAT64.
never.addSubnet('64:ff9b::a9fe:0', 112, 'ipv6');
never.addAddress('64:ff9b::6464:64c8', 'ipv6');

const names = /^(metadata|instance-data)(\.|$)/i;

/** Whether a host, as a URL has it, is link-local or a cloud's metadata service by its name or address. */
export function isMetadataHost(host: string): boolean {
  const name = host.replace(/^\[|\]$/g, '');
  const family = isIP(name);
  return family === 0 ? names.test(name) : isMetadataAddress(name, family);
}

function isMetadataAddress(address: string, family: number): boolean {
  // An IPv6 address that holds an IPv4 one is compared as that.
  return never.check(address.replace(/%.*$/, ''), family === 6 ? 'ipv6' : 'ipv4');
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
