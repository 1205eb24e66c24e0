import assert from 'node:assert/strict';
import type { Stack } from './stack.js';
import { type ListAnswer, walkBack, walkForward } from './walk.js';

/** The items of pages, in order. */
export const itemsOf = <T>(pages: readonly ListAnswer[], member: string): T[] =>
  pages.flatMap((page) => (page as unknown as Record<string, T[]>)[member] as T[]);

/** How a list is asked for and what it must hold. */
export interface ExpectedList<T> {
  readonly path: string;
  /** Name of the list in the answer. */
  readonly member: string;
  /** Everything it holds, oldest first. */
  readonly items: readonly T[];
}

/**
 * Walks a list in both orders, forward and back, in pages of `limit`, and fails unless each
 * page holds what it must, every total is exact and the walk back shows the same pages.
 */
export async function checkWalks<T>(stack: Stack, list: ExpectedList<T>, limit: number): Promise<void> {
  const { path, member, items } = list;
  const total = String(items.length);
  for (const reverse of [true, false]) {
    const query = `${path}${path.includes('?') ? '&' : '?'}pagination.reverse=${reverse}`;
    const pages = await walkForward(stack, query, limit);
    assert.deepEqual(itemsOf(pages, member), reverse ? items.toReversed() : items, query);
    assert.equal(pages.length, Math.max(1, Math.ceil(items.length / limit)), `${query}: pages`);
    for (const page of pages) assert.equal(page.pagination.total, total, query);
    assert.equal(pages[0]?.pagination.previous_key, '', query);
    const back = await walkBack(stack, query, limit, pages.at(-1) as ListAnswer);
    assert.deepEqual(
      back.map((page) => itemsOf([page], member)),
      pages.slice(0, -1).map((page) => itemsOf([page], member)),
      `${query}: the way back`,
    );
  }
}

/** Fails unless the whole list, newest first on one page, and its total are as expected. */
export async function checkWhole<T>(stack: Stack, list: ExpectedList<T>): Promise<void> {
  const page: ListAnswer = await stack.get(
    `${list.path}${list.path.includes('?') ? '&' : '?'}pagination.limit=1000`,
  );
  assert.deepEqual(itemsOf([page], list.member), list.items.toReversed(), list.path);
  assert.deepEqual(
    page.pagination,
    { next_key: '', previous_key: '', total: String(list.items.length) },
    list.path,
  );
}
