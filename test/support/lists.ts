import assert from 'node:assert/strict';
import type { PageRequest, PageResponse } from '../../services/common/gen/indexer/common/v1/common.js';

/** A page of any list. */
export interface ListPage {
  readonly items: readonly unknown[];
  readonly pagination: PageResponse;
}

/** A list as it is asked for, and what it must hold, in ascending order. */
export interface ExpectedList {
  readonly name: string;
  readonly items: readonly unknown[];
  read(request: PageRequest): Promise<ListPage>;
}

/** All of a list, newest first, unless told otherwise. */
export const pageOf = (request: Partial<PageRequest> = {}): PageRequest => ({
  ...{ key: '', offset: 0, limit: 1000, count_total: true, reverse: true },
  ...request,
});

const itemsOf = ({ items }: ListPage): readonly unknown[] => items;

/** Reads a list whole, in both orders. */
export async function checkWhole(list: ExpectedList): Promise<void> {
  for (const reverse of [true, false]) {
    const about = `${list.name}, reverse ${reverse}`;
    const { items, pagination } = await list.read(pageOf({ reverse }));
    assert.deepEqual(items, reverse ? list.items.toReversed() : list.items, about);
    const total = String(list.items.length);
    assert.deepEqual(pagination, { next_key: '', previous_key: '', total }, about);
  }
}

/** Walks a list forward and back by keys in one order. */
export async function checkWalk(list: ExpectedList, limit: number, reverse: boolean): Promise<void> {
  const about = `${list.name}, limit ${limit}, reverse ${reverse}`;
  const total = list.items.length;
  const walk = async (from: ListPage, direction: 'next_key' | 'previous_key') => {
    const pages = [from];
    for (let key = from.pagination[direction]; key !== ''; key = pages.at(-1)!.pagination[direction]) {
      // A key says where a page begins: no offset counts beside it.
      pages.push(await list.read(pageOf({ limit, reverse, key, offset: 7 })));
      assert.ok(pages.length <= total + 1, `${about}: the walk ends`);
    }
    return pages;
  };
  const forward = await walk(await list.read(pageOf({ limit, reverse })), 'next_key');
  const expected = reverse ? list.items.toReversed() : list.items;
  assert.deepEqual(forward.flatMap(itemsOf), expected, `${about}, forward`);
  assert.equal(forward.length, Math.max(1, Math.ceil(total / limit)), `${about}: pages`);
  for (const { pagination } of forward) assert.equal(pagination.total, String(total), `${about}: totals`);
  assert.equal(forward[0]!.pagination.previous_key, '', `${about}: nothing before the first page`);
  const back = await walk(forward.at(-1)!, 'previous_key');
  assert.deepEqual(back.reverse().map(itemsOf), forward.map(itemsOf), `${about}, back`);
}

/** Looks at pages by offset, and at those that their keys lead to. */
export async function checkOffsets(
  list: ExpectedList,
  limit: number,
  reverse: boolean,
  offsets: readonly number[],
): Promise<void> {
  const total = list.items.length;
  const expected = reverse ? list.items.toReversed() : list.items;
  const read = (request: Partial<PageRequest>) => list.read(pageOf({ limit, reverse, ...request }));
  for (const offset of new Set(offsets.filter((one) => one >= 0))) {
    const at = `${list.name}, limit ${limit}, reverse ${reverse}, offset ${offset}`;
    const { items, pagination } = await read({ offset, count_total: offset > total });
    assert.deepEqual(items, expected.slice(offset, offset + limit), at);
    assert.equal(pagination.total, offset > total ? String(total) : '0', `${at}: total`);
    assert.equal(pagination.next_key !== '', offset + limit < total, `${at}: next_key`);
    assert.equal(pagination.previous_key !== '', offset > 0 && total > 0, `${at}: previous_key`);
    const end = Math.min(offset, total);
    const neighbours = [
      [pagination.next_key, offset + limit, offset + 2 * limit],
      [pagination.previous_key, Math.max(0, end - limit), end],
    ] as const;
    for (const [key, from, to] of neighbours)
      if (key !== '')
        assert.deepEqual((await read({ key })).items, expected.slice(from, to), `${at}, from ${from}`);
  }
}

/** Walks a list in both orders, and looks at offsets around the ends of it and of a page. */
export async function checkPages(list: ExpectedList, limit: number): Promise<void> {
  const total = list.items.length;
  for (const reverse of [true, false]) {
    await checkWalk(list, limit, reverse);
    await checkOffsets(list, limit, reverse, [0, 1, limit, total - 1, total, total + 5]);
  }
}
