import { createHash } from 'node:crypto';
import { lookup } from 'node:dns';
import { lookup as lookupAll } from 'node:dns/promises';
import { open } from 'node:fs/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';
import { resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { request } from 'undici';
import { messageOf } from '../../common/runtime/errors.js';
import { createDispatcher, isProxySet } from '../../common/runtime/network.js';
import { BodyTooLarge, readBody } from '../../common/util/bounded-input.js';
import { within } from '../../common/util/signal.js';
import { parseCsv } from './csv.js';
import { type Measure, ScoringError, type SourceRule } from './policy.js';

/** A source that did not answer, or not well: it may the next time. */
export class SourceUnavailable extends Error {
  override name = 'SourceUnavailable';
}

interface Bytes {
  readonly bytes: Buffer;
  readonly etag: string;
}

/**
 * Reads the values of a source rule.
 *
 * @throws ScoringError for input that is not as the policy says, SourceUnavailable when a URL
 *   does not answer.
 */
export async function readSource(
  rule: SourceRule,
  account_prefix: string,
  signal: AbortSignal,
): Promise<Measure> {
  const { bytes, etag } = rule.is_url ? await readUrl(rule, signal) : await readFile(rule);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  const complain = (what: string): never => {
    throw new ScoringError(`${nameOf(rule)}: ${what}`);
  };
  if (rule.sha256 !== undefined && rule.sha256 !== sha256)
    complain(`its SHA-256 is ${sha256}, and the policy says ${rule.sha256}`);
  const reading = parseCsv(textOf(bytes, complain), rule.duplicates, account_prefix);
  if (reading.mistakes !== undefined) return complain(reading.mistakes.join('\n  '));
  return { ...reading.measure, source: { location: rule.location, sha256, bytes: bytes.length, etag } };
}

function textOf(bytes: Buffer, complain: (what: string) => never): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return complain('it is not UTF-8');
  }
}

/** All bytes of a source, unless they are too many. */
async function collect(rule: SourceRule, chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  try {
    return await readBody(chunks, rule.max_bytes);
  } catch (error) {
    if (!(error instanceof BodyTooLarge)) throw error;
    throw new ScoringError(`${nameOf(rule)}: it is larger than max_bytes, which is ${rule.max_bytes}`);
  }
}

async function readFile(rule: SourceRule): Promise<Bytes> {
  try {
    const file = await open(resolve(rule.folder, rule.location), 'r');
    return { bytes: await collect(rule, file.createReadStream()), etag: '' };
  } catch (error) {
    if (error instanceof ScoringError) throw error;
    throw new ScoringError(`${nameOf(rule)}: ${messageOf(error)}`);
  }
}

async function readUrl(rule: SourceRule, signal: AbortSignal): Promise<Bytes> {
  const ended = within(rule.timeout_ms, signal);
  const fail = (why: string) => new SourceUnavailable(`${nameOf(rule)}: ${why}`);
  const refuse = () =>
    new ScoringError(
      `${nameOf(rule)}: its host is link-local or the metadata service of a cloud, which is never asked`,
    );
  const { hostname } = new URL(rule.location);
  if (isMetadataHost(hostname) || (isProxySet() && (await leadsToMetadata(hostname)))) throw refuse();
  const dispatcher = createDispatcher({ connect: { lookup: lookupElsewhere(refuse) } });
  try {
    const headers = { accept: 'text/csv, text/plain;q=0.9, */*;q=0.1' };
    const response = await request(rule.location, { dispatcher, signal: ended, headers });
    if (response.statusCode !== 200) {
      await response.body.dump();
      throw fail(`it answers ${response.statusCode}`);
    }
    const etag = response.headers['etag'];
    return {
      bytes: await collect(rule, response.body),
      etag: typeof etag === 'string' ? etag : '',
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ScoringError || error instanceof SourceUnavailable) throw error;
    throw fail(ended.aborted ? `no whole answer within ${rule.timeout_ms} ms` : messageOf(error));
  } finally {
    await dispatcher.destroy();
  }
}

/** What a person should know of a source that anybody on the way can change; undefined where nobody can unseen. */
export function sourceDoubt({ is_url, location, sha256, name }: SourceRule): string | undefined {
  if (!is_url || sha256 !== undefined) return undefined;
  const { protocol, hostname } = new URL(location);
  const isOwn = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  if (protocol !== 'http:' || isOwn) return undefined;
  return `the source ${name} is read over http: without a sha256 in the policy: whoever is on the way can change scores unseen; use https: or say its sha256`;
}

const nameOf = ({ name, location }: SourceRule): string => `the source ${name} (${location})`;

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
