import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { ownMemory } from '../../common/util/gzip.js';
import type { Content } from '../route.js';

/** Codings that an answer can be sent in. */
export type Coding = 'br' | 'gzip' | 'identity';

/** A body as it is sent in one coding, with the headers that belong to it, name and value in turn. */
export interface Encoded {
  readonly body: Buffer;
  readonly etag: string;
  readonly headers: readonly string[];
  /** Those of the headers that a 304 repeats. */
  readonly unchanged_headers: readonly string[];
}

/** A good answer, kept ready to be sent in every coding that was asked for so far. */
export interface Answer {
  readonly content: Content;
  readonly identity: Encoded;
  br?: Encoded | Promise<Encoded>;
  gzip?: Encoded | Promise<Encoded>;
}

/** Seconds that clients and proxies may keep what can no longer change. */
const long_s = 86_400;

/** Below this, compression saves less than it costs. */
const leastCompressed_bytes = 1_024;

const jsonType = 'application/json; charset=utf-8';

/** Above this an answer is sent as it is: compressing it would hold it twice. */
const mostCompressed_bytes = 16 * 1024 * 1024;

/** Makes an answer of a body. */
export function createAnswer(content: Content): Answer {
  if (content.streamed !== undefined)
    return { content, identity: encodeStreamed(content, content.streamed.bytes) };
  return { content, identity: encode(content, content.body, 'identity', hashOf(content.body)) };
}

/** 16 bytes of SHA-256: enough that two bodies never share a tag. */
const hashOf = (body: Buffer): string =>
  createHash('sha256').update(body).digest().subarray(0, 16).toString('base64url');

const maxAgeOf = (content: Content): number => content.max_age ?? (content.settled ? long_s : 1);

/** What is streamed is not known before it is sent: it has no tag. */
function encodeStreamed(content: Content, bytes: number): Encoded {
  const headers = [
    ...['content-type', content.type ?? jsonType],
    ...['content-length', String(bytes)],
    ...['cache-control', `public, max-age=${maxAgeOf(content)}`],
  ];
  return { body: content.body, etag: '', headers, unchanged_headers: [] };
}

function encode(content: Content, body: Buffer, coding: Coding, hash: string): Encoded {
  // A strong tag names exact bytes, so every coding has its own.
  const etag = coding === 'identity' ? `"${hash}"` : `"${hash}-${coding}"`;
  const max_age = maxAgeOf(content);
  const extra = Object.entries(content.headers ?? {});
  const vary = extra.find(([name]) => name === 'vary')?.[1];
  const unchanged_headers = [
    'etag',
    etag,
    'cache-control',
    `public, max-age=${max_age}`,
    'vary',
    vary === undefined ? 'accept-encoding' : `accept-encoding, ${vary}`,
  ];
  const headers = [
    'content-type',
    content.type ?? jsonType,
    'content-length',
    String(body.length),
    ...unchanged_headers,
    ...extra.filter(([name]) => name !== 'vary').flat(),
  ];
  if (coding !== 'identity') headers.push('content-encoding', coding);
  return { body, etag, headers, unchanged_headers };
}

const compressBrotli = promisify(brotliCompress);
const compressGzip = promisify(gzip);

/** Low levels: the body is sent at once, and brotli's lowest beats gzip's on size and time. */
const compress: Record<'br' | 'gzip', (body: Buffer) => Promise<Buffer>> = {
  br: (body) =>
    compressBrotli(body, {
      params: {
        [constants.BROTLI_PARAM_QUALITY]: 1,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.length,
      },
    }),
  gzip: (body) => compressGzip(body, { level: 1 }),
};

/**
 * The answer in a coding; at once when it is at hand, else after compressing it, which is
 * done once however many ask. What is small stays as it is.
 */
export function inCoding(answer: Answer, coding: Coding): Encoded | Promise<Encoded> {
  const { length } = answer.content.body;
  if (coding === 'identity' || length < leastCompressed_bytes || length > mostCompressed_bytes)
    return answer.identity;
  const ready = answer[coding];
  if (ready !== undefined) return ready;
  const hash = answer.identity.etag.slice(1, -1);
  const work = compress[coding](answer.content.body).then(
    (body) => {
      const encoded = encode(answer.content, ownMemory(body), coding, hash);
      answer[coding] = encoded;
      return encoded;
    },
    () => {
      delete answer[coding]; // out of memory, say: the plain body serves as well
      return answer.identity;
    },
  );
  answer[coding] = work;
  return work;
}

/** Bytes that an answer holds, for the bound of the cache. */
export function bytesOf(answer: Answer): number {
  const compressed = (part: Encoded | Promise<Encoded> | undefined): number =>
    part !== undefined && 'body' in part ? part.body.length : 0;
  return answer.content.body.length + compressed(answer.br) + compressed(answer.gzip) + 1_024;
}
