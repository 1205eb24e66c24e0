import type { PageResponse } from '../../common/gen/indexer/common/v1/common.js';
import { pageContentOf } from '../json.js';
import type { About, Content } from '../route.js';

/** A page of a list whose items come, go and change: it is never settled. */
export const movingContent = (
  name: string,
  bodies: readonly Buffer[],
  page: PageResponse | undefined,
  about: About,
): Content => ({ body: pageContentOf(name, bodies, page, about.absent_key), settled: false });
