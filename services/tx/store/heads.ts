import { type AccountHead, emptyList, type ListKey, latestKept } from './account-list.js';
import { createHeadTable } from './head-table.js';

/** The heads of account lists while a batch is numbered. Nothing counts before `commit`. */
export interface StagedHeads {
  /** Appends an item to a list and gives its position. */
  append(key: ListKey, sequence: number): number;
  /** The lists that were appended to, as they are now. */
  changed(): IterableIterator<[ListKey, AccountHead]>;
  /** Takes the changes over, once they are written. */
  commit(): void;
}

/** What the one writer knows of the ends of account lists. */
export interface Heads {
  /** Prepares appending to lists; reads those that are not in memory, all in one go. */
  stage(keys: ReadonlySet<ListKey>): Promise<StagedHeads>;
  /**
   * Forgets everything: after a failure, and when the tables were cut.
   *
   * @param all the ends of all lists that have items, where they are known: then a list
   *   that is not in memory is empty, and nothing is read until one has to make room.
   */
  clear(all?: ReadonlyMap<ListKey, AccountHead>): void;
}

/**
 * Keeps the heads of the lists that were used last. Busy accounts stay in memory, so a miss
 * is nearly always an account that has few items or none.
 *
 * @param read gives the heads of those lists that have items.
 * @param capacity how many lists to remember.
 */
export function createHeads(
  read: (keys: readonly ListKey[]) => Promise<Map<ListKey, AccountHead>>,
  capacity: number,
): Heads {
  let isComplete = false;
  const known = createHeadTable(capacity, () => {
    isComplete = false;
  });
  return {
    async stage(keys) {
      const staged = new Map<ListKey, AccountHead>();
      const missing: ListKey[] = [];
      for (const key of keys) {
        const head = known.get(key);
        if (head === undefined) missing.push(key);
        else staged.set(key, head);
      }
      if (missing.length > 0 && !isComplete)
        for (const [key, head] of await read(missing)) staged.set(key, head);
      const changed = new Map<ListKey, AccountHead>();
      return {
        append(key, sequence) {
          const { count, latest } = changed.get(key) ?? staged.get(key) ?? emptyList;
          const next = { count: count + 1, latest: [sequence, ...latest.slice(0, latestKept - 1)] };
          changed.set(key, next);
          return next.count;
        },
        changed: () => changed.entries(),
        commit() {
          for (const [key, head] of changed) known.set(key, head);
        },
      };
    },
    clear(all) {
      known.clear();
      isComplete = all !== undefined && all.size <= capacity;
      if (isComplete) for (const [key, head] of all ?? []) known.set(key, head);
    },
  };
}
