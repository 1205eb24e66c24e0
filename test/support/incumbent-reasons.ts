import { isDeepStrictEqual } from 'node:util';
import type { Answer, Asked, Page, Tx } from './incumbent.js';

/** Whether an answer is a problem as the API writes it. */
export const isProblem = ({ json }: Answer): boolean => {
  const { code, message, details, ...rest } = (json ?? {}) as Record<string, unknown>;
  return (
    typeof code === 'number' &&
    typeof message === 'string' &&
    message !== '' &&
    isDeepStrictEqual([details, rest], [[], {}])
  );
};

/** Whether a query asks for the first page of a list. */
export const isFirstPage = (query: URLSearchParams): boolean =>
  ['', '0', null].includes(query.get('pagination.offset')) && !query.get('pagination.key');

/** The one list of a page. */
export const itemsOf = (page: Page): unknown[] =>
  Object.entries(page).find(([name]) => name !== 'pagination')?.[1] as unknown[];

/** A page whose key says only that there is one: keys are tied to the filter as it is. */
export const sameKeys = ({ pagination, ...lists }: Page): unknown => ({
  ...lists,
  pagination: { ...pagination, next_key: pagination.next_key !== '' },
});

/** A path with query parameters set, or taken away where undefined. */
export function withQuery(path: string, change: Readonly<Record<string, string | undefined>>): string {
  const [route = '', search = ''] = path.split('?');
  const kept = search.split('&').filter((pair) => !(decodeURIComponent(pair.split('=')[0] ?? '') in change));
  const set = Object.entries(change).filter(([, value]) => value !== undefined);
  const pairs = [...kept, ...set.map(([name, value]) => `${name}=${encodeURIComponent(value as string)}`)];
  return `${route}?${pairs.filter((pair) => pair !== '').join('&')}`;
}

/** Values of the attributes of a key in the events of a type. */
export const valuesOf = (tx: Tx, type: string, key: string): string[] =>
  tx.events
    .filter((event) => event.type === type)
    .flatMap(({ attributes }) => attributes.filter((attribute) => attribute.key === key))
    .map(({ value }) => value);

/** Whether a tx names an account (bech32) in values of one form and in no other way. */
export const isOnlyIn =
  (isForm: (value: string, account: string) => boolean) => (tx: Tx, account: string) => {
    const values = tx.events.flatMap(({ attributes }) => attributes.map(({ value }) => value));
    const naming = values.filter((value) => value.includes(account));
    return naming.length > 0 && naming.every((value) => isForm(value, account));
  };

/** Our page of an account's txs as it would be without those that `isExtra` picks; undefined if it picks none. */
export async function without(
  { path, query, theirs, ours, facts, ask }: Asked,
  isExtra: (tx: Tx, account: string) => boolean,
): Promise<Page | undefined> {
  const named = /\/txs\/by_account\/([^?]+)/.exec(path)?.[1];
  if (named === undefined || theirs.status !== 200 || ours.status !== 200) return undefined;
  const known = Object.values(facts.accounts as Record<string, { bech32?: string; hex: string }>);
  const account = known.find(({ hex }) => hex.toLowerCase() === named.toLowerCase())?.bech32 ?? named;
  const { txs } = (await ask(withQuery(path, { 'pagination.limit': '1000' }))) as unknown as { txs: Tx[] };
  const kept = txs.filter((tx) => !isExtra(tx, account));
  const { pagination } = ours.json as Page;
  if (kept.length === txs.length || pagination.total !== String(txs.length)) return undefined;
  const limit = Number(query.get('pagination.limit') ?? 100);
  return { txs: kept.slice(0, limit), pagination: { ...pagination, total: String(kept.length) } };
}
