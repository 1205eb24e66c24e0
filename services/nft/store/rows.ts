import { fold } from '../names.js';
import type { Batch } from './batch.js';
import { type Editions, familyOf, nameIn, ownerIn } from './editions.js';
import type { ItemRow } from './items.js';
import type { TableName } from './tables.js';
import type { ShownCollection } from './types.js';

/** Lines of JSONEachRow for a table. */
export type TableRows = readonly [table: TableName, lines: string[]];

const lines = (rows: Iterable<object>): string[] => Array.from(rows, (row) => JSON.stringify(row));

/**
 * The rows of a batch, table by table in the order in which they are written: the changes
 * first, since everything else can be made from them; the cursor is not among them.
 *
 * @param version of the rows that the chain's place does not version.
 * @param editions of the lists that the batch touches.
 * @param base the cursor's place before the batch.
 */
export function rowsOf(batch: Batch, version: number, editions: Editions, base: number): TableRows[] {
  const changes = lines(batch.changes);
  const shown = [...batch.shown.values()];
  return [
    ['changes', changes],
    ['history', changes],
    ['objects', lines(batch.objects)],
    ['contracts', lines(batch.contracts)],
    ['births', lines(batch.births)],
    ['classes', lines(batch.classes)],
    ['tokens', lines([...batch.tokens.values()].map(({ state, ...place }) => ({ ...place, ...state })))],
    ['items', itemLines(batch.items.values(), editions, base)],
    [
      'counts',
      lines([...batch.counts.values()].map((row) => ({ ...row, owner: ownerIn(editions, row.owner), base }))),
    ],
    ['asks', lines(batch.asks)],
    ...shownRows(shown, version),
  ];
}

/**
 * Items under the names that their lists have in the table.
 *
 * @param base the cursor's place that `was` is true of.
 */
export const itemLines = (items: Iterable<ItemRow>, editions: Editions, base: number): string[] =>
  Array.from(items, (row) => {
    const scope = nameIn(editions, { family: familyOf(row.list), scope: row.scope });
    return JSON.stringify({ ...row, scope, base });
  });

/** Rows that show collections. */
export function shownRows(shown: readonly ShownCollection[], version: number): TableRows[] {
  const rows = shown.map((collection) => ({
    ...collection,
    folded_name: fold(collection.name),
    folded_origin: fold(collection.origin_name),
    version,
    gone: false,
  }));
  return [
    ['collection_order', lines(rows.map(({ name, origin_name, creator, timestamp, ...row }) => row))],
    ['collections', lines(rows)],
  ];
}

/** Rows that take a collection from its old place in the list: it turned out to be born elsewhere. */
export function movedRows(old: readonly ShownCollection[], version: number): TableRows[] {
  const rows = old.map(({ born_at, collection, at }) => ({
    ...{ born_at, collection, at, version },
    ...{ folded_name: '', folded_origin: '', gone: true },
  }));
  return [['collection_order', lines(rows)]];
}
