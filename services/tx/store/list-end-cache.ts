import { createLru } from '../../common/util/lru.js';
import { emptyList, type ListEnd, type ListKey, latestKept } from './list-ends.js';

/** The ends of the account lists that were used last. */
export interface EndTable {
  get(key: ListKey): ListEnd | undefined;
  set(key: ListKey, end: ListEnd): void;
  clear(): void;
  /** Bytes of memory of the numbers. */
  readonly size: number;
}

/** Numbers that a list takes: its length, how many sequences are known of its last items, and those. */
const width = 2 + latestKept;

/** Lists whose numbers stand in one array: memory grows by this much. */
const listsPerPage = 4_096;

/**
 * Makes an empty table. The numbers stand in a few large arrays: as objects of their own they would take twice
 * the memory, and each collection of garbage would have to walk through all of them.
 *
 * @param capacity how many lists to remember.
 * @param onEvict told when one had to make room.
 */
export function createEndTable(capacity: number, onEvict: () => void = () => {}): EndTable {
  const pages: Float64Array[] = [];
  /** Rows that stood for lists which are forgotten. */
  const free: number[] = [];
  let used = 0;
  const rows = createLru<ListKey, number>(capacity, {
    dispose: (row, _key, reason) => {
      if (reason === 'set') return;
      free.push(row);
      if (reason === 'evict') onEvict();
    },
  });

  const pageOf = (row: number): Float64Array => {
    const index = Math.floor(row / listsPerPage);
    pages[index] ??= new Float64Array(listsPerPage * width);
    return pages[index];
  };

  return {
    get(key) {
      const row = rows.get(key);
      if (row === undefined) return undefined;
      const page = pageOf(row);
      const at = (row % listsPerPage) * width;
      const first = at + 2;
      const known = page[at + 1] as number;
      return { count: page[at] as number, latest: Array.from(page.subarray(first, first + known)) };
    },
    set(key, { count, latest }) {
      let row = rows.get(key);
      if (row === undefined) {
        row = free.pop() ?? used++;
        rows.set(key, row);
      }
      const page = pageOf(row);
      const at = (row % listsPerPage) * width;
      page[at] = count;
      page[at + 1] = latest.length;
      page.set(latest, at + 2);
    },
    clear() {
      rows.clear();
      pages.length = 0;
      free.length = 0;
      used = 0;
    },
    get size() {
      return pages.length * listsPerPage * width * Float64Array.BYTES_PER_ELEMENT;
    },
  };
}

/** The ends of account lists while a batch is numbered. Nothing counts before `commit`. */
export interface StagedEnds {
  /** Appends an item to a list and gives its position. */
  append(key: ListKey, sequence: number): number;
  /** The lists that were appended to, as they are now. */
  changed(): IterableIterator<[ListKey, ListEnd]>;
  /** Takes the changes over, once they are written. */
  commit(): void;
}

/** The ends of account lists, as the one writer knows them. */
export interface KnownEnds {
  /** The end of a list, which may be ahead of what is whole; undefined where that is not in memory. */
  get(key: ListKey): ListEnd | undefined;
  /** Bytes of memory of the numbers. */
  readonly size: number;
}

/** What the one writer knows of the ends of account lists. */
export interface Ends extends KnownEnds {
  /** Prepares appending to lists; reads those that are not in memory, all in one go. */
  stage(keys: ReadonlySet<ListKey>): Promise<StagedEnds>;
  /**
   * Forgets everything: after a failure, and when the tables were repaired.
   *
   * @param all the ends of all lists that have items, where they are known: then a list
   *   that is not in memory is empty, and nothing is read until one has to make room.
   */
  clear(all?: ReadonlyMap<ListKey, ListEnd>): void;
}

/**
 * Keeps the ends of the lists that were used last. Busy accounts stay in memory, so a miss
 * is nearly always an account that has few items or none.
 *
 * @param read gives the ends of those lists that have items.
 * @param capacity how many lists to remember.
 */
export function createEnds(
  read: (keys: readonly ListKey[]) => Promise<Map<ListKey, ListEnd>>,
  capacity: number,
): Ends {
  let isComplete = false;
  const known = createEndTable(capacity, () => {
    isComplete = false;
  });
  return {
    get: (key) => known.get(key) ?? (isComplete ? emptyList : undefined),
    get size() {
      return known.size;
    },
    async stage(keys) {
      const staged = new Map<ListKey, ListEnd>();
      const missing: ListKey[] = [];
      for (const key of keys) {
        const end = known.get(key);
        if (end === undefined) missing.push(key);
        else staged.set(key, end);
      }
      if (missing.length > 0 && !isComplete)
        for (const [key, end] of await read(missing)) staged.set(key, end);
      const changed = new Map<ListKey, ListEnd>();
      return {
        append(key, sequence) {
          const { count, latest } = changed.get(key) ?? staged.get(key) ?? emptyList;
          const next = { count: count + 1, latest: [sequence, ...latest.slice(0, latestKept - 1)] };
          changed.set(key, next);
          return next.count;
        },
        changed: () => changed.entries(),
        commit() {
          for (const [key, end] of changed) known.set(key, end);
        },
      };
    },
    clear(all) {
      known.clear();
      isComplete = all !== undefined && all.size <= capacity;
      if (isComplete) for (const [key, end] of all ?? []) known.set(key, end);
    },
  };
}
