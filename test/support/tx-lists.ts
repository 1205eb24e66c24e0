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
import type { ExpectedList } from './lists.js';
import { accounts, busy, listsOf, type ModelBlock, msgTypes, storeOwner, stranger } from './tx-model.js';

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
): ExpectedList[] {
  const { txs, evm_txs, frames } = listsOf(blocks, internal_height);
  const items = { tx: txs, evm_tx: evm_txs, internal_tx: frames };
  const hasAny = (wanted: readonly string[]) => (tx: { msgs: readonly string[] }) =>
    tx.msgs.some((msg) => wanted.includes(msg));
  const lists: ExpectedList[] = [];
  const add = (
    name: string,
    some: readonly { body: string }[],
    read: (page: PageRequest) => Promise<BodyPage>,
  ) =>
    lists.push({
      name,
      items: some.map(({ body }) => body),
      async read(request) {
        const { bodies, pagination } = await read(request);
        return { items: bodies.map(String), pagination };
      },
    });

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
