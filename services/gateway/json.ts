import { status } from '@grpc/grpc-js';
import { RpcError } from '../common/errors.js';
import type { PageRequest, PageResponse } from '../common/gen/indexer/common/v1/common.js';
import { type AbsentKey, isSettledPage, pageJson } from './pagination.js';
import type { Content } from './route.js';

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

/**
 * `{"name": [bodies], "pagination": {...}}` with the bodies' bytes as they came.
 *
 * @param request what was asked for; decides with the answer whether the page can change.
 */
export function pageContent(
  name: string,
  bodies: readonly Buffer[],
  request: PageRequest,
  page: PageResponse | undefined,
  absent: AbsentKey,
): Content {
  const parts: Buffer[] = [Buffer.from(`{"${name}":[`)];
  bodies.forEach((body, i) => {
    if (i > 0) parts.push(comma);
    parts.push(present(body));
  });
  parts.push(Buffer.from(`],"pagination":${pageJson(page, absent)}}`));
  return { body: Buffer.concat(parts), settled: isSettledPage(request, page) };
}
