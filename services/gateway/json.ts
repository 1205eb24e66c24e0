import { status } from '@grpc/grpc-js';
import type { PageResponse } from '../common/gen/indexer/common/v1/common.js';
import type { LargeBody } from '../common/gen/indexer/tx/v1/tx.js';
import { type CallSettings, streamRpc } from '../common/rpc/client.js';
import { RpcError } from '../common/runtime/errors.js';
import type { Clients } from './clients.js';
import { type AskedPage, checkWhole, isSettledPage, pageJson } from './pagination.js';
import type { Content, RouteContext } from './route.js';

const comma = Buffer.from(',');

/** @throws RpcError INTERNAL when a service sent no text where a body has to be. */
function present(body: Buffer): Buffer {
  if (body.length === 0) throw new RpcError(status.INTERNAL, 'a service sent an empty body');
  return body;
}

/** `{"name": body}` with the body's bytes as they came. */
export function objectOf(name: string, body: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`{"${name}":`), present(body), Buffer.from('}')]);
}

/** Bodies as a service gives them: those of a page, or the only one where that is too large to be held. */
export interface GivenBodies {
  readonly bodies: readonly Buffer[];
  readonly large: LargeBody | undefined;
}

/**
 * `{"name": [bodies], "pagination": {...}}` with the bodies' bytes as they came.
 *
 * @param request what was asked for; decides with the answer whether the page can change.
 */
export function pageContent(
  name: string,
  { bodies, large }: GivenBodies,
  request: AskedPage,
  page: PageResponse | undefined,
  { clients, call, about }: Pick<RouteContext, 'clients' | 'call' | 'about'>,
): Content {
  checkWhole(request, large === undefined ? bodies.length : 1, page);
  const [before, after] = [`{"${name}":[`, `],"pagination":${pageJson(page, about.absent_key)}}`];
  const settled = isSettledPage(request, page);
  if (large !== undefined) return { ...largeContent(before, large, after, clients, call), settled };
  const parts: Buffer[] = [Buffer.from(before)];
  bodies.forEach((body, i) => {
    if (i > 0) parts.push(comma);
    parts.push(present(body));
  });
  parts.push(Buffer.from(after));
  return { body: Buffer.concat(parts), settled };
}

/** `{"name": body}` of a body that can no longer change. */
export function bodyContent(
  name: string,
  { body, large }: { readonly body: Buffer; readonly large: LargeBody | undefined },
  { clients, call }: Pick<RouteContext, 'clients' | 'call'>,
): Content {
  if (large === undefined) return { body: objectOf(name, body), settled: true };
  return { ...largeContent(`{"${name}":`, large, '}', clients, call), settled: true };
}

/** A large body between two texts, read while it is sent. */
function largeContent(
  before: string,
  large: LargeBody,
  after: string,
  { tx }: Clients,
  { request_id, client }: CallSettings,
): Pick<Content, 'body' | 'streamed'> {
  const open = async function* (signal: AbortSignal): AsyncGenerator<Buffer> {
    yield Buffer.from(before);
    const settings = { request_id, client, signal };
    for await (const { part } of streamRpc(tx.streamBody.bind(tx), { body: large }, settings)) yield part;
    yield Buffer.from(after);
  };
  const bytes = Buffer.byteLength(before) + large.size + Buffer.byteLength(after);
  return { body: Buffer.alloc(0), streamed: { bytes, open } };
}

/**
 * A text with its percent-encoding taken away once more, for clients that encode twice;
 * undefined where that gives nothing else.
 */
export function decodedAgain(text: string): string | undefined {
  if (!text.includes('%')) return undefined;
  try {
    const decoded = decodeURIComponent(text);
    return decoded === text ? undefined : decoded;
  } catch {
    return undefined; // a percent sign that encodes nothing
  }
}

/**
 * Asks for a text as it came, and when that finds nothing, as it is decoded once more. A key
 * of the one is no key of the other: then the other is asked too.
 *
 * @param isFound whether an answer holds anything.
 */
export async function asEitherSpelling<T>(
  text: string,
  ask: (text: string) => Promise<T>,
  isFound: (answer: T) => boolean,
): Promise<T> {
  const other = decodedAgain(text);
  if (other === undefined) return ask(text);
  try {
    const answer = await ask(text);
    if (isFound(answer)) return answer;
    const again = await ask(other).catch(() => answer);
    return isFound(again) ? again : answer;
  } catch (error) {
    if (!(error instanceof RpcError) || error.code !== status.INVALID_ARGUMENT) throw error;
    return ask(other);
  }
}
