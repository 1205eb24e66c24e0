import type { Stack } from './stack.js';

/** What every list answer has. */
export interface ListAnswer {
  readonly pagination: { readonly next_key: string; readonly previous_key: string; readonly total: string };
}

/** The pages of a list, walked by next_key from the first to the last. */
export async function walkForward(
  stack: Pick<Stack, 'get'>,
  path: string,
  limit: number,
): Promise<ListAnswer[]> {
  const join = path.includes('?') ? '&' : '?';
  const pages: ListAnswer[] = [];
  let key = '';
  do {
    const page: ListAnswer = await stack.get(
      `${path}${join}pagination.limit=${limit}${key === '' ? '' : `&pagination.key=${key}`}`,
    );
    pages.push(page);
    key = page.pagination.next_key;
    if (pages.length > 10_000) throw new Error(`${path}: the walk does not end`);
  } while (key !== '');
  return pages;
}
