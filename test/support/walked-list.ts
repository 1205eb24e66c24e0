import assert from 'node:assert/strict';
import { checkWalk, type ExpectedList } from './lists.js';
import type { Stack } from './stack.js';
import type { ListAnswer } from './walk.js';

/** The items of pages, in order. */
export const itemsOf = <T>(pages: readonly ListAnswer[], member: string): T[] =>
  pages.flatMap((page) => (page as unknown as Record<string, T[]>)[member] as T[]);

/** How a list of the HTTP API is asked for and what it must hold. */
export interface ApiList<T> {
  readonly path: string;
  /** Name of the list in the answer. */
  readonly member: string;
  /** Everything it holds, oldest first. */
  readonly items: readonly unknown[];
  /** What of an item is compared; all of it by default. */
  readonly shown?: (item: T) => unknown;
}

const withQuery = (path: string, query: string): string => `${path}${path.includes('?') ? '&' : '?'}${query}`;

/** Such a list, to be walked. */
export const listAt = <T>(
  stack: Pick<Stack, 'get'>,
  { path, member, items, shown = (item) => item }: ApiList<T>,
): ExpectedList => ({
  name: path,
  items,
  async read({ key, limit, reverse }) {
    const from = key === '' ? '' : `&pagination.key=${key}`;
    const query = `pagination.limit=${limit}&pagination.reverse=${reverse}${from}`;
    const page = await stack.get<ListAnswer>(withQuery(path, query));
    return { items: itemsOf<T>([page], member).map(shown), pagination: page.pagination };
  },
});

/** Walks a list in both orders, forward and back, in pages of `limit`. */
export async function checkWalks<T>(stack: Stack, list: ApiList<T>, limit: number): Promise<void> {
  for (const reverse of [true, false]) await checkWalk(listAt(stack, list), limit, reverse);
}

/** Fails unless the whole list, newest first on one page, and its total are as expected. */
export async function checkWhole<T>(stack: Stack, list: ApiList<T>): Promise<void> {
  const page = await stack.get<ListAnswer>(withQuery(list.path, 'pagination.limit=1000'));
  assert.deepEqual(itemsOf([page], list.member), list.items.toReversed(), list.path);
  const total = String(list.items.length);
  assert.deepEqual(page.pagination, { next_key: '', previous_key: '', total }, list.path);
}
