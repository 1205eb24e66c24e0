import type { AccountList } from './tables.js';

/** The end of an account's list. */
export interface AccountHead {
  /** Length of the list. */
  readonly count: number;
  /** Sequences of its last items, newest first: all of them, or `latestKept`. */
  readonly latest: readonly number[];
}

/** An account's list as a text: `list/account`. */
export type ListKey = `${AccountList}/${string}`;

export const listKey = (list: AccountList, account: string): ListKey => `${list}/${account}`;

/** An empty list. */
export const emptyList: AccountHead = { count: 0, latest: [] };

/** How many sequences a head carries: the first page of a wallet fits. */
export const latestKept = 16;

/** The list and the account of a key. */
export const listOf = (key: ListKey): readonly [AccountList, string] => {
  const slash = key.indexOf('/');
  return [key.slice(0, slash) as AccountList, key.slice(slash + 1)];
};
