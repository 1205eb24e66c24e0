import { parseAccount } from '../../services/common/chain/address.js';
import { compareBytes, tokenKey } from '../../services/nft/token-key.js';
import type { Answer, Page } from './incumbent.js';
import { isProblem } from './incumbent-reasons.js';
import type { CollectionTruth, NftTruth, ShownToken, TokenTruth } from './nft-facts.js';

/** An answer of both about NFTs. */
export interface NftAsked {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly theirs: Answer;
  readonly ours: Answer;
  readonly truth: NftTruth;
  /** Header times by height. */
  readonly times: ReadonlyMap<number, string>;
}

/** An address with its leading zeros, which the incumbent drops. */
const padded = (address: string): string =>
  address === '' ? '' : `0x${address.slice(2).padStart(address.length > 42 ? 64 : 40, '0')}`;

/** The item of a list that an item of the other one is about. */
function identityOf(item: unknown): string {
  const {
    txhash,
    nft,
    collection_addr = '',
    object_addr = '',
  } = item as Partial<ShownToken> & { txhash?: string };
  if (txhash !== undefined) return txhash;
  return nft === undefined ? padded(object_addr) : `${padded(collection_addr)}/${nft.token_id}`;
}

/** Where both agree but for how something is written, or where ours is what is true. */
export type Explain = (reason: string) => void;

/** Compares two answers; returns what nothing explains. */
export function compareNftAnswers(asked: NftAsked, explain: Explain): string[] {
  const { theirs, ours, path } = asked;
  if (theirs.json === undefined && ours.status === theirs.status && isProblem(ours)) {
    explain('errors are JSON');
    return [];
  }
  if (theirs.status === 500 && ours.status === 200) {
    explain('what fails there is answered');
    return [];
  }
  if (theirs.status === 404 && ours.status === 200) {
    explain('an address with leading zeros is found');
    return /\/collections\/0x[1-9a-f]\w{59,61}$/.test(path) ? [] : ['found here only'];
  }
  if (theirs.status !== ours.status) return [`${theirs.status} and ${ours.status}`];
  const [left, right] = [theirs.json as Page, ours.json as Page];
  if (!('pagination' in left)) return compareItems(asked, left['collection'], right['collection'], explain);
  return [...comparePagination(asked, left, right, explain), ...compareLists(asked, left, right, explain)];
}

const itemsOf = (page: Page): unknown[] =>
  Object.entries(page).find(([name]) => name !== 'pagination')?.[1] as unknown[];

function comparePagination({ query }: NftAsked, theirs: Page, ours: Page, explain: Explain): string[] {
  const [left, right] = [theirs.pagination, ours.pagination];
  if (left.next_key !== right.next_key) explain('keys are our own, and "" where there is none');
  const open: string[] = [];
  if (right.next_key !== '' && itemsOf(ours).length < Number(query.get('pagination.limit') ?? 100))
    open.push('a next_key on a page that is not full');
  if (left.total !== right.total) {
    if (left.total === '-1') explain('totals are exact');
    else if (!isDecoding(ours) && itemsOf(theirs).length === itemsOf(ours).length)
      open.push(`total ${left.total} and ${right.total}`);
  }
  return open;
}

const isDecoding = (page: Page): boolean => itemsOf(page).length > 0;

function compareLists(asked: NftAsked, theirs: Page, ours: Page, explain: Explain): string[] {
  const [left, right] = [
    new Map(itemsOf(theirs).map((i) => [identityOf(i), i])),
    new Map(itemsOf(ours).map((i) => [identityOf(i), i])),
  ];
  const open: string[] = [];
  for (const [identity, item] of left) {
    const other = right.get(identity);
    if (other !== undefined) open.push(...compareItems(asked, item, other, explain));
    else if (withoutNul(right.keys()).has(identity) || asked.path.includes('nulid')) explain('NUL is kept');
    else if (!isGone(asked, item, explain)) open.push(`only theirs: ${identity}`);
  }
  for (const [identity, item] of right) {
    if (left.has(identity) || left.has(identity.replaceAll('\0', ''))) continue;
    if (!isMissed(asked, item, left.size, explain)) open.push(`only ours: ${identity}`);
  }
  const shared = [...left.keys()].filter((identity) => right.has(identity));
  const mine = [...right.keys()].filter((identity) => left.has(identity));
  if (shared.join() !== mine.join()) {
    if (isSorted(itemsOf(ours), asked)) explain('numbers sort by value, and heights by the last change');
    else open.push(`other order: ${shared.join(' ')} and ${mine.join(' ')}`);
  }
  return open;
}

/** Texts as the incumbent has them: without NUL. */
const withoutNul = (texts: Iterable<string>): Set<string> =>
  new Set([...texts].filter((text) => text.includes('\0')).map((text) => text.replaceAll('\0', '')));

function isSorted(items: readonly unknown[], { query }: NftAsked): boolean {
  const sign = query.get('pagination.reverse') === 'false' ? 1 : -1;
  const tokens = items as ShownToken[];
  const byId = (a: ShownToken, b: ShownToken) =>
    compareBytes(tokenKey(a.nft.token_id), tokenKey(b.nft.token_id));
  return tokens.every((token, index) => {
    const before = tokens[index - 1];
    if (before === undefined || token.nft === undefined) return true;
    const order =
      query.get('order_by') === 'height'
        ? before.height - token.height || byId(before, token)
        : byId(before, token);
    return order * sign <= 0;
  });
}

/** Whether an item of theirs has no place in our list. */
function isGone({ path, query, truth }: NftAsked, item: unknown, explain: Explain): boolean {
  const isNamed = /by_name\/([^?]+)/.exec(path)?.[1];
  if (isNamed !== undefined) {
    explain('a collection has the name that its contract says now');
    return !truth.collections.some(
      ({ addr, name }) => addr === identityOf(item) && name.toLowerCase().includes(isNamed),
    );
  }
  const account = /by_account\/([^?]+)/.exec(path)?.[1];
  const owner = account === undefined ? undefined : parseAccount(account, 'init');
  const { nft } = item as ShownToken;
  const held = truth.tokens.filter((token) => parseAccount(token.owner, 'init') === owner);
  const isHeld = held.some((token) => `${token.addr}/${token.token_id}` === identityOf(item));
  if (owner !== undefined && !isHeld) {
    explain('owners are who the chain says');
    return nft === undefined ? !held.some(({ addr }) => addr === identityOf(item)) : true;
  }
  // Another page, since the order is another one.
  explain('another order gives other pages');
  return query.has('pagination.limit') && nft !== undefined;
}

/** Whether an item of ours was missed by them. */
function isMissed({ path, query, truth }: NftAsked, item: unknown, found: number, explain: Explain): boolean {
  const { nft, object_addr, txhash } = item as ShownToken & { txhash?: string };
  if (txhash !== undefined) {
    const [, addr = '', id = ''] = /\/txs\/(0x\w+)\/([^?]+)/.exec(path) ?? [];
    const token_id = decodeURIComponent(id);
    const isBurnt = truth.burnt.some(
      (token) => token.addr === padded(addr.toLowerCase()) && token.token_id === token_id,
    );
    explain(isBurnt ? 'a burnt token keeps its txs' : 'values in paths are decoded');
    return found === 0 && (isBurnt || id !== token_id);
  }
  if (path.includes('/by_name/')) {
    explain('values in paths are decoded');
    return path.includes('%') || truth.collections.some(({ addr }) => addr === padded(object_addr));
  }
  if (/by_account/.test(path)) {
    explain('owners are who the chain says');
    const owner = parseAccount(/by_account\/([^?]+)/.exec(path)?.[1] ?? '', 'init');
    const held = truth.tokens.filter((token) => parseAccount(token.owner, 'init') === owner);
    return nft === undefined
      ? held.some(({ addr }) => addr === object_addr)
      : held.some((token) => `${token.addr}/${token.token_id}` === identityOf(item));
  }
  if (/\/0x[1-9a-f]\w{59,61}(\?|$)/.test(path) && found === 0) {
    explain('an address with leading zeros is found');
    return true;
  }
  explain('another order gives other pages');
  return (
    (query.has('pagination.limit') || query.has('token_id')) &&
    truth.tokens.some((token) => `${token.addr}/${token.token_id}` === identityOf(item))
  );
}

function compareItems(asked: NftAsked, theirs: unknown, ours: unknown, explain: Explain): string[] {
  if ('txhash' in (ours as object)) return []; // bodies are compared with the tx routes
  const isToken = 'nft' in (ours as object);
  const { truth, times } = asked;
  const open: string[] = [];
  const identity = identityOf(ours);
  const token = truth.tokens.find(({ addr, token_id }) => `${addr}/${token_id}` === identity);
  const collection = truth.collections.find(
    ({ addr }) => addr === (isToken ? (ours as ShownToken).collection_addr : identity),
  );
  for (const [at, left, right] of members(theirs, ours)) {
    if (left === right) continue;
    const reason = reasonFor(at, left, right, { token, collection, times, ours: ours as ShownToken });
    if (reason === undefined)
      open.push(`${identity} ${at}: ${JSON.stringify(left)} and ${JSON.stringify(right)}`);
    else explain(reason);
  }
  return open;
}

interface Known {
  readonly token: TokenTruth | undefined;
  readonly collection: CollectionTruth | undefined;
  readonly times: ReadonlyMap<number, string>;
  readonly ours: { readonly height: number };
}

function reasonFor(at: string, theirs: unknown, ours: unknown, known: Known): string | undefined {
  const { token, collection, times, ours: item } = known;
  switch (at) {
    case 'object_addr':
    case 'collection_addr':
      return ours === padded(String(theirs)) ? 'addresses keep their leading zeros' : undefined;
    case 'collection.nfts.length':
      return ours === collection?.length ? 'the last burn empties a collection' : undefined;
    case 'collection.name':
    case 'collection_name':
      return ours === collection?.name ? 'a collection has the name that its contract says now' : undefined;
    case 'timestamp':
      return ours === times.get(item.height) ? 'times keep their nanoseconds' : undefined;
    case 'owner':
      return ours === token?.owner ? 'owners are who the chain says' : undefined;
    case 'height':
      return ours === (token ?? collection)?.height ? 'a new uri is a change' : undefined;
    case 'nft.uri':
      return ours === token?.uri ? 'uris are what the contract says' : undefined;
    default:
      return undefined;
  }
}

/** The members of two objects side by side, those of inner objects by their path. */
function* members(theirs: unknown, ours: unknown, at = ''): Generator<[string, unknown, unknown]> {
  const [left, right] = [theirs as Record<string, unknown>, ours as Record<string, unknown>];
  for (const name of new Set([...Object.keys(left), ...Object.keys(right)])) {
    const path = at === '' ? name : `${at}.${name}`;
    const [a, b] = [left[name], right[name]];
    if (typeof a === 'object' && a !== null && typeof b === 'object' && b !== null)
      yield* members(a, b, path);
    else yield [path, a, b];
  }
}
