import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type ItemList, shownIn } from './items.js';
import { comparePositions } from './memory-list.js';
import type { Position } from './moving-page.js';
import { present } from './present.js';
import type { Reading } from './reader.js';

/*
 * Where the items of a long list stand, so that a page far in costs the same as the first.
 * Every so many items one is remembered, with the number of items from it to the next. What
 * has changed since is found by the place of its rows, and only those stretches are counted
 * again; a list that changed much is counted anew.
 */

/** A stretch of a list: from `start` on, so many items. */
interface Stretch {
  readonly start: Position;
  readonly n: number;
}

interface Counted {
  /** Place up to which the list was counted. */
  readonly end: number;
  readonly rollbacks: number;
  readonly stretches: readonly Stretch[];
}

/** Where a page begins: at or beyond a position, after some more items. */
export interface Entry {
  readonly anchor: Position | undefined;
  /** Whether the item at the anchor belongs to the page. */
  readonly inclusive: boolean;
  readonly offset: number;
}

/** The positions of items in lists. */
export interface Ranks {
  /** Where the item after an offset is found. */
  enter(reading: Reading, of: ItemList, offset: number, descending: boolean): Promise<Entry>;
}

/** Items of a stretch when it is counted, and how long it may grow before all is counted anew. */
const [itemsOfStretch, longest] = [500, 2_000];

/** Stretches that are counted again one by one, at most. */
const countedAgain = 24;

/** Changed rows that are looked at, at most. */
const mostChanges = 2_000;

/** Memory for ranks, in bytes: about 100,000 stretches with short ids, lists of fifty million items. */
const memory_bytes = 20 * 1024 * 1024;

/** What a stretch takes beside the id that it begins with. */
const stretch_bytes = 200;

/** A character may take two bytes. */
const bytesOf = ({ stretches }: Counted, key: string): number =>
  stretches.reduce(
    (sum, { start }) => sum + stretch_bytes + 2 * String(start[1]).length,
    2 * key.length + 100,
  );

/** Remembers nothing yet. */
export function createRanks(): Ranks {
  const known = new LRUCache<string, Counted>({
    maxSize: memory_bytes,
    sizeCalculation: bytesOf,
  });

  const count = async (reading: Reading, of: ItemList): Promise<Counted> => {
    const hidden = createHash('sha256').update(of.hidden.join()).digest('base64');
    const key = `${of.list}/${of.scope}/${hidden}`;
    const held = known.get(key);
    const { rollbacks } = reading;
    const isUsable = held !== undefined && held.rollbacks === rollbacks && held.end <= reading.end;
    if (isUsable && held.end === reading.end) return held;
    const updated = isUsable ? await countChanged(reading, of, held.stretches, held.end) : undefined;
    const stretches = updated ?? (await countAll(reading, of));
    const counted = { end: reading.end, rollbacks, stretches };
    // A rollback meanwhile voids the answer, and what was counted for it.
    if (reading.head.rollbacks === rollbacks) known.set(key, counted);
    return counted;
  };

  return {
    async enter(reading, of, offset, descending) {
      const { stretches } = await count(reading, of);
      let left = offset;
      if (!descending) {
        for (const { start, n } of stretches) {
          if (left < n) return { anchor: start, inclusive: true, offset: left };
          left -= n;
        }
      } else {
        for (let index = stretches.length - 1; index >= 0; index--) {
          const { n } = stretches[index] as Stretch;
          if (left < n) return { anchor: stretches[index + 1]?.start, inclusive: false, offset: left };
          left -= n;
        }
      }
      const [first, last] = [stretches[0]?.start, stretches.at(-1)?.start];
      return {
        anchor: descending ? first : last,
        inclusive: !descending,
        offset: left + (stretches.at(-1)?.n ?? 0),
      };
    },
  };
}

async function countAll({ database, tables, end, call }: Reading, of: ItemList): Promise<Stretch[]> {
  const { list, scope } = of;
  const shown = shownIn(tables, end, of);
  const rows = await database.rows<{ height: number; id_key: string; collection: string; n: number }>(
    `SELECT tupleElement(f, 1) AS height, tupleElement(f, 2) AS id_key, tupleElement(f, 3) AS collection, n FROM (SELECT min((height, id_key, collection)) AS f, count() AS n, stretch FROM (SELECT height, id_key, collection, intDiv(row_number() OVER (ORDER BY height, id_key, collection) - 1, {size:UInt64}) AS stretch FROM (SELECT height, id_key, collection FROM ${tables.of('items')} AS i WHERE list = {list:String} AND scope = {scope:String} ${shown.where} GROUP BY height, id_key, collection HAVING ${present})) GROUP BY stretch) ORDER BY stretch`,
    { list, scope, end, size: itemsOfStretch, ...shown.params },
    { name: `nft.ranks_${list}`, ...call },
  );
  return rows.map(({ height, id_key, collection, n }) => ({ start: [height, id_key, collection], n }));
}

/** The stretches with those counted again where something changed since; undefined when that is too much. */
async function countChanged(
  reading: Reading,
  of: ItemList,
  stretches: readonly Stretch[],
  since: number,
): Promise<Stretch[] | undefined> {
  const { database, tables, call } = reading;
  const changed = await database.rows<{ height: number; id_key: string; collection: string }>(
    `SELECT height, id_key, collection FROM ${tables.of('items')} WHERE list = {list:String} AND scope = {scope:String} AND at > {since:UInt64} LIMIT {limit:UInt64}`,
    { list: of.list, scope: of.scope, since, limit: mostChanges },
    { name: `nft.ranks_changed_${of.list}`, ...call },
  );
  if (changed.length === mostChanges || stretches.length === 0) return undefined;
  const dirty = new Set(
    changed.map(({ height, id_key, collection }) => stretchAt(stretches, [height, id_key, collection])),
  );
  if (dirty.size > countedAgain) return undefined;
  const updated = [...stretches];
  for (const index of dirty) {
    const stretch = stretches[index] as Stretch;
    const first = index === 0;
    const n = await countStretch(reading, of, first ? undefined : stretch.start, stretches[index + 1]?.start);
    if (n > longest) return undefined;
    updated[index] = { start: first ? beginning : stretch.start, n };
  }
  return updated;
}

/** Before every item. */
const beginning: Position = [0, '', ''];

/** The stretch that a position belongs to: the last one that begins at or before it. */
function stretchAt(stretches: readonly Stretch[], position: Position): number {
  let [low, high] = [0, stretches.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (comparePositions((stretches[middle] as Stretch).start, position) <= 0) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Items from one position, included, to another, excluded. */
async function countStretch(
  { database, tables, end, call }: Reading,
  of: ItemList,
  from: Position | undefined,
  to: Position | undefined,
): Promise<number> {
  const { list, scope } = of;
  const shown = shownIn(tables, end, of);
  const bound = (name: string, over: string, orEqual: string): string =>
    `AND (height ${over} {${name}_height:UInt64} OR (height = {${name}_height:UInt64} AND (id_key ${over} {${name}_key:String} OR (id_key = {${name}_key:String} AND collection ${over}${orEqual} {${name}_collection:String}))))`;
  const valuesOf = (name: string, position: Position | undefined) =>
    position === undefined
      ? {}
      : {
          [`${name}_height`]: position[0],
          [`${name}_key`]: position[1],
          [`${name}_collection`]: position[2],
        };
  const [row] = await database.rows<{ n: number }>(
    `SELECT count() AS n FROM (SELECT 1 FROM ${tables.of('items')} AS i WHERE list = {list:String} AND scope = {scope:String} ${shown.where} ${from === undefined ? '' : bound('from', '>', '=')} ${to === undefined ? '' : bound('to', '<', '')} GROUP BY height, id_key, collection HAVING ${present})`,
    {
      ...{ list, scope, end },
      ...valuesOf('from', from),
      ...valuesOf('to', to),
      ...shown.params,
    },
    { name: `nft.ranks_stretch_${list}`, ...call },
  );
  return row?.n ?? 0;
}
