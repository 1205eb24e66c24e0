import { createHash } from 'node:crypto';
import { open } from 'node:fs/promises';
import { resolve } from 'node:path';
import { request } from 'undici';
import { messageOf } from '../../common/errors.js';
import { BodyTooLarge, readBody } from '../../common/http-body.js';
import { createDispatcher, isProxySet } from '../../common/http-proxy.js';
import { within } from '../../common/signal.js';
import { parseCsv } from './csv.js';
import { ScoringError } from './errors.js';
import type { Measure } from './facts.js';
import { isMetadataHost, leadsToMetadata, lookupElsewhere } from './metadata-hosts.js';
import type { SourceRule } from './policy.js';

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
