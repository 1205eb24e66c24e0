import type { PageResponse } from '../../common/gen/indexer/common/v1/common.js';
import { type AskedPage, checkWhole, pageJson } from '../pagination.js';
import type { About, Content } from '../route.js';

/**
 * A page of a list whose items come, go and change: it is never settled, since what it shows
 * may change with any block.
 *
 * @param items as they are shown.
 * @param request what was asked for.
 */
export function movingContent(
  name: string,
  items: readonly object[],
  request: AskedPage,
  page: PageResponse | undefined,
  about: About,
): Content {
  checkWhole(request, items.length, page);
  const body = `{"${name}":${JSON.stringify(items)},"pagination":${pageJson(page, about.absent_key)}}`;
  return { body: Buffer.from(body), settled: false };
}
