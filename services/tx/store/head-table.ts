import { createLru } from '../../common/lru.js';
import { type AccountHead, type ListKey, latestKept } from './account-list.js';

/** The ends of the account lists that were used last. */
export interface HeadTable {
  get(key: ListKey): AccountHead | undefined;
  set(key: ListKey, head: AccountHead): void;
  clear(): void;
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
export function createHeadTable(capacity: number, onEvict: () => void = () => {}): HeadTable {
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
  };
}
