import { fold } from '../token-key.js';
import type { Batch } from './batch.js';
import { itemsOf } from './items.js';
import type { FactName, TableName, ViewName } from './tables.js';
import type { CollectionName, Origin } from './types.js';

/** Lines of JSONEachRow for a table, made as they are written: texts of contracts can make them much larger than the batch. */
export type TableRows<Name extends TableName = TableName> = readonly [table: Name, lines: Iterable<string>];

/** Lines of rows, made anew each time they are gone through. */
const linesOf = <Row>(rows: Iterable<Row>, toLine: (row: Row) => object | undefined): Iterable<string> => ({
  *[Symbol.iterator]() {
    for (const row of rows) {
      const line = toLine(row);
      if (line !== undefined) yield JSON.stringify(line);
    }
  },
});

const lines = (rows: Iterable<object>): Iterable<string> => linesOf(rows, (row) => row);

/**
 * The facts of a batch, table by table in the order in which they are written; the cursor is not among them.
 *
 * @param version of the names.
 */
export function factRows(batch: Batch, version: number): TableRows<FactName>[] {
  const changes = lines(batch.changes);
  return [
    ['changes', changes],
    ['history', changes],
    ['account_history', lines(batch.accountChanges)],
    ['objects', lines(batch.objects)],
    ['contracts', lines(batch.contracts)],
    ['births', lines(batch.births)],
    ['classes', lines(batch.classes)],
    ['asks', lines(batch.asks)],
    ['collection_names', linesOf(batch.names, (name) => nameRow(name, 'chain', version))],
  ];
}

/** A row of `collection_names`. */
export const nameRow = (name: CollectionName, source: 'node' | 'chain', version: number) => ({
  ...name,
  folded_name: fold(name.name),
  folded_origin: fold(name.origin_name),
  source,
  version,
});

/**
 * The rows of the views of tokens that a batch changes. An entry of a list counts as far as the state of its token agrees:
 * the new entries come first, then the states, then the old entries go. So a token is in the list that it leaves until it
 * is in the one where it comes, wherever the writer is stopped.
 */
export function tokenRows(batch: Batch, version: string): TableRows<ViewName>[] {
  // What came and went within the batch was never there.
  const entries = (isGoing: boolean) =>
    linesOf(itemsOf(batch.items), ({ gone, was, ...entry }) =>
      was === gone && gone === isGoing ? { ...entry, version, is_deleted: Number(gone) } : undefined,
    );
  return [
    ['token_lists', entries(false)],
    [
      'token_states',
      linesOf(batch.tokens, ([, { state, ...token }]) => ({ ...token, ...state, version, is_deleted: 0 })),
    ],
    ['token_lists', entries(true)],
    [
      'token_counts',
      linesOf(batch.counts, ([, { owner, collection, n }]) => ({
        ...{ account: owner, collection, token_count: n, version, is_deleted: Number(n === 0) },
      })),
    ],
  ];
}

/** A collection that has a name, and the one of its births that counted before. */
export interface NamedCollection {
  readonly origin: Origin;
  readonly before: Origin | undefined;
  readonly name: CollectionName;
}

/** The rows of the views of collections. */
export function collectionRows(
  collections: readonly NamedCollection[],
  version: string,
): TableRows<ViewName>[] {
  const shown = collections.map(({ origin: { born_at, creator, timestamp }, name }) => {
    const { collection, origin_name } = name;
    const row = { collection, born_at, creator: creator || name.creator, name: name.name, origin_name };
    return JSON.stringify({ ...row, timestamp, version, is_deleted: 0 });
  });
  const list = collections.flatMap(({ origin: { born_at }, before, name }) => {
    const { collection } = name;
    const [folded_name, folded_origin] = [fold(name.name), fold(name.origin_name)];
    const row = { born_at, collection, folded_name, folded_origin, version, is_deleted: 0 };
    // It turned out to be created elsewhere.
    const isMoved = before !== undefined && before.born_at !== born_at;
    const old = { born_at: before?.born_at, collection, version, is_deleted: 1 };
    return isMoved ? [JSON.stringify(old), JSON.stringify(row)] : [JSON.stringify(row)];
  });
  return [
    ['shown_collections', shown],
    ['collection_list', list],
  ];
}
