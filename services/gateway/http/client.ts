import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';

/** Who sent a request; of IPv6 the /64, since one customer has all of it. */
export function clientAddress(request: IncomingMessage, trusted_proxies: number): string {
  const forwarded = trusted_proxies === 0 ? '' : String(request.headers['x-forwarded-for'] ?? '');
  const hops = forwarded.split(',').map((hop) => hop.trim());
  return clientOf(withoutPort(hops.at(-trusted_proxies) ?? '') || (request.socket.remoteAddress ?? ''));
}

/** The client that an address stands for. */
export function clientOf(address: string): string {
  const v4 = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (v4 !== undefined) return v4;
  return isIPv6(address) ? networkOf(address) : address;
}

/** The address in an entry of X-Forwarded-For, without the port and the brackets that some proxies write; empty where there is none. */
function withoutPort(hop: string): string {
  const bare = /^\[([^\]]*)\](?::\d*)?$/.exec(hop)?.[1] ?? hop;
  if (isIP(bare) !== 0) return bare;
  const address = /^([^:]*):\d*$/.exec(bare)?.[1];
  return address !== undefined && isIP(address) !== 0 ? address : '';
}

function networkOf(address: string): string {
  const [head = '', tail = ''] = address.split('::');
  const left = head.split(':').filter((group) => group !== '');
  const right = tail.split(':').filter((group) => group !== '');
  const missing = address.includes('::') ? Math.max(0, 8 - left.length - right.length) : 0;
  const groups = [...left, ...Array.from({ length: missing }, () => '0'), ...right];
  return groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
