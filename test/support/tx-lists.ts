import assert from 'node:assert/strict';
import type { PageRequest } from '../../services/common/gen/indexer/common/v1/common.js';
import { listByAccountAndMsgs, listByHeightAndMsgs, listByMsgs } from '../../services/tx/read/filtered.js';
import {
  type BodyPage,
  listAll,
  listByAccount,
  listByHeight,
  listInternalByHash,
} from '../../services/tx/read/lists.js';
import type { Reader } from '../../services/tx/read/reader.js';
import type { Kind } from '../../services/tx/store/tables.js';
import { accounts, busy, listsOf, type ModelBlock, msgTypes, storeOwner, stranger } from './tx-model.js';

/** A list as it is asked for, and what it must hold, oldest first. */
export interface ExpectedPages {
  readonly name: string;
  readonly bodies: readonly string[];
  readonly read: (page: PageRequest) => Promise<BodyPage>;
}

/** Sets of types to filter by: one, several that overlap, one that nothing has. */
export const filters = [
  [msgTypes[0] as string],
  [msgTypes[3] as string],
  [msgTypes[0] as string, msgTypes[1] as string],
  [...msgTypes, 'no.such.v1.Msg'],
  ['no.such.v1.Msg'],
];

/** Every list that the tables have, with what the model says of it. */
export function everyList(
  reader: Reader,
  blocks: readonly ModelBlock[],
  internal_height: number,
): ExpectedPages[] {
  const { txs, evm_txs, frames } = listsOf(blocks, internal_height);
  const items = { tx: txs, evm_tx: evm_txs, internal_tx: frames };
  const hasAny = (wanted: readonly string[]) => (tx: { msgs: readonly string[] }) =>
    tx.msgs.some((msg) => wanted.includes(msg));
  const bodiesOf = (some: readonly { body: string }[]) => some.map(({ body }) => body);
  const lists: ExpectedPages[] = [];
  const add = (name: string, some: readonly { body: string }[], read: ExpectedPages['read']) =>
    lists.push({ name, bodies: bodiesOf(some), read });

  for (const kind of ['tx', 'evm_tx', 'internal_tx'] as Kind[]) {
    add(kind, items[kind], (page) => listAll(reader, kind, page, {}));
    for (const account of [...accounts, busy, stranger, ...storeOwner.values()]) {
      for (const sent of [false, true]) {
        const some = items[kind].filter(
          (item) => item.accounts.has(account) && (!sent || item.accounts.get(account)),
        );
        add(`${kind} of ${account}, sent ${sent}`, some, (page) =>
          listByAccount(reader, kind, account, sent, page, {}),
        );
      }
    }
    for (const block of [...blocks.slice(-3), undefined]) {
      const height = block?.height ?? (blocks.at(-1)?.height ?? 0) + 1;
      const members = {
        tx: block?.txs,
        evm_tx: block?.evm_txs,
        internal_tx: height <= internal_height ? block?.frames : [],
      };
      add(`${kind} at ${height}`, members[kind] ?? [], (page) =>
        listByHeight(reader, kind, height, page, {}),
      );
    }
  }
  for (const wanted of filters) {
    add(`txs with ${wanted}`, txs.filter(hasAny(wanted)), (page) => listByMsgs(reader, wanted, page, {}));
    for (const account of [accounts[0] as string, busy, stranger]) {
      for (const sent of [false, true]) {
        const some = txs.filter(
          (tx) => hasAny(wanted)(tx) && tx.accounts.has(account) && (!sent || tx.accounts.get(account)),
        );
        add(`txs of ${account} with ${wanted}, sent ${sent}`, some, (page) =>
          listByAccountAndMsgs(reader, account, sent, wanted, page, {}),
        );
      }
    }
    for (const { height, txs: members } of blocks.slice(-2)) {
      add(`txs at ${height} with ${wanted}`, members.filter(hasAny(wanted)), (page) =>
        listByHeightAndMsgs(reader, height, wanted, page, {}),
      );
    }
  }
  for (const { hash } of evm_txs.slice(-2)) {
    add(
      `frames of ${hash}`,
      frames.filter((frame) => frame.hash === hash),
      async (page) => {
        const found = await listInternalByHash(reader, hash, page, {});
        assert.ok(found !== undefined, `${hash} is known`);
        return found;
      },
    );
  }
  return lists;
}

const page = (request: Partial<PageRequest>): PageRequest => ({
  key: '',
  offset: 0,
  limit: 1000,
  count_total: true,
  reverse: true,
  ...request,
});

const texts = ({ bodies }: BodyPage): string[] => bodies.map((body) => body.toString());

/** Reads a list whole, in both orders. */
export async function checkContent(list: ExpectedPages): Promise<void> {
  const newestFirst = [...list.bodies].reverse();
  for (const [reverse, expected] of [
    [true, newestFirst],
    [false, list.bodies],
  ] as const) {
    const answer = await list.read(page({ reverse }));
    assert.deepEqual(texts(answer), expected.slice(0, 1000), `${list.name}, reverse ${reverse}`);
    assert.equal(answer.pagination.total, String(list.bodies.length), `${list.name}: total`);
  }
}

/** Walks a list forward and back by keys in both orders, and looks at offsets. */
export async function checkPaging(list: ExpectedPages, limit: number): Promise<void> {
  for (const reverse of [true, false]) {
    const expected = reverse ? [...list.bodies].reverse() : list.bodies;
    const about = `${list.name}, limit ${limit}, reverse ${reverse}`;
    const forward = await walk(list, { limit, reverse }, 'next_key');
    assert.deepEqual(forward.flatMap(texts), expected, `${about}, forward`);
    assert.ok(
      forward.every(({ pagination }) => pagination.total === String(expected.length)),
      `${about}, totals`,
    );
    assert.equal(forward[0]?.pagination.previous_key, '', `${about}: nothing before the first page`);
    const last = forward.at(-1) as BodyPage;
    const back = await walk(
      list,
      { limit, reverse, key: last.pagination.previous_key },
      'previous_key',
      last,
    );
    assert.deepEqual(back.reverse().map(texts), forward.map(texts), `${about}, back`);
    const n = expected.length;
    for (const offset of new Set([0, 1, limit, n - 1, n, n + 5])) {
      if (offset < 0) continue;
      const answer = await list.read(page({ limit, reverse, offset, count_total: offset > n }));
      assert.deepEqual(texts(answer), expected.slice(offset, offset + limit), `${about}, offset ${offset}`);
      assert.equal(
        answer.pagination.total,
        offset > n ? String(n) : '0',
        `${about}, offset ${offset}: total`,
      );
      assert.equal(
        answer.pagination.next_key !== '',
        offset + limit < n,
        `${about}, offset ${offset}: next_key`,
      );
      if (answer.pagination.next_key !== '') {
        const next = await list.read(page({ limit, reverse, key: answer.pagination.next_key, offset: 3 }));
        assert.deepEqual(
          texts(next),
          expected.slice(offset + limit, offset + 2 * limit),
          `${about}, after offset ${offset}`,
        );
      }
      if (answer.pagination.previous_key !== '') {
        const before = await list.read(page({ limit, reverse, key: answer.pagination.previous_key }));
        assert.deepEqual(
          texts(before),
          expected.slice(Math.max(0, Math.min(offset, n) - limit), offset),
          `${about}, before offset ${offset}`,
        );
      }
      assert.equal(
        answer.pagination.previous_key !== '',
        offset > 0 && n > 0,
        `${about}, offset ${offset}: previous_key`,
      );
    }
  }
}

async function walk(
  list: ExpectedPages,
  request: Partial<PageRequest>,
  direction: 'next_key' | 'previous_key',
  start?: BodyPage,
): Promise<BodyPage[]> {
  const pages: BodyPage[] = start === undefined ? [] : [start];
  if (start !== undefined && request.key === '') return pages;
  for (let key = request.key ?? ''; ; ) {
    const answer = await list.read(page({ ...request, key }));
    pages.push(answer);
    key = answer.pagination[direction];
    if (key === '') return pages;
    assert.ok(pages.length < 2_000, `${list.name}: the walk ends`);
  }
}
