import { type AccountKey, parseAccount } from '../../common/chain/address.js';
import { type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';
import { heightHeader, stateProblem } from '../../common/chain/rest.js';
import { TryAgainError } from '../../common/runtime/errors.js';

/** A coin as the bank module lists it. */
export interface BankCoin {
  readonly denom: string;
  readonly amount: bigint;
}

/** Items a page holds. */
const pageSize = 1_000;

/**
 * Where a list ends at the latest: a node that always has another page would fill the memory. Somebody with more accounts
 * than this would wait for days until each of them had been asked for.
 */
const [mostItems, mostPages] = [10_000_000, 100_000];

/** Denoms of a chain that are gathered at the most. */
export const mostDenoms = 1_000_000;

/** gRPC's code for a question that a server does not have. */
const unimplemented = 12;

/** The node no longer has the state of the height that was asked for. */
export class StateGone extends TryAgainError {
  override name = 'StateGone';
}

/** A list has more items or pages than any chain's: asking again gives the same. */
export class EndlessList extends NodeError {
  override name = 'EndlessList';
}

/** The node does not have this question at all. */
export class Refused extends TryAgainError {
  override name = 'Refused';
}

/** Asks for the state after a block. @throws StateGone, Refused, NodeError */
async function askState<T>(
  rest: Endpoints,
  path: string,
  height: number,
  signal: AbortSignal,
  read: (answer: unknown) => T,
): Promise<T> {
  const headers = { [heightHeader]: String(height) };
  const answer = await rest.ask({ path, headers, signal }, (status, body) => {
    const parsed = parseNodeJson(status, body, path);
    if (status === 200) return { value: read(parsed) };
    const said = String((parsed as { message?: unknown } | null)?.message ?? '');
    if (status === 501 || (parsed as { code?: unknown } | null)?.code === unimplemented)
      return { refused: said };
    // Not a failure of the URL: another attempt would give the same answer.
    const problem = stateProblem(said);
    if (problem === 'gone') return { gone: said };
    const reason = problem === 'not yet' ? 'behind' : 'error_answer';
    throw new NodeError(reason, `${path}: HTTP ${status} ${said}`);
  });
  if ('refused' in answer) throw new Refused(`${path}: ${answer.refused}`);
  if ('gone' in answer) throw new StateGone(`${path} at height ${height}: ${answer.gone}`);
  return answer.value;
}

/** A key of a page: base64 of what a store is ordered by. */
const pageKey = /^[A-Za-z0-9+/_=-]{0,2000}$/;

/** One page of a list: its items, and the key of the next page, empty on the last. */
type Page<T> = { readonly items: readonly T[]; readonly next: string };

function readPage<T>(
  answer: unknown,
  member: string,
  path: string,
  readItem: ((item: unknown) => T) | undefined,
): Page<T> {
  const items = (answer as Record<string, unknown> | null)?.[member];
  if (!Array.isArray(items)) throw new NodeError('not_json', `${path}: there are no ${member} in the answer`);
  const next = (answer as { pagination?: { next_key?: unknown } | null }).pagination?.next_key ?? '';
  if (typeof next !== 'string' || !pageKey.test(next))
    throw new NodeError('malformed', `${path}: the key of the next page is none`);
  const read = readItem === undefined ? items : items.map((item) => readItem(item));
  return { items: read, next };
}

/**
 * Every page of a list after a block. A list without end is an error: one whose keys come again, after however many pages,
 * or one that has more items or pages than any chain.
 *
 * @param query what the list takes besides its pages.
 * @param most items that it may have.
 * @param readItem reads an item; what it throws counts against the URL. Default: items are given as they are.
 * @throws StateGone, Refused, EndlessList, NodeError
 */
export async function* pagesOf<T>(
  rest: Endpoints,
  path: string,
  member: string,
  height: number,
  signal: AbortSignal,
  query = '',
  most = mostItems,
  readItem?: (item: unknown) => T,
): AsyncGenerator<readonly T[], void, undefined> {
  let key = '';
  let [items, pages] = [0, 0];
  const whose = `the pages of ${path} at ${rest.urls.map((url) => new URL(url).host).join(' or ')}`;
  // One key is kept, of a page that lies further and further back: a circle of any length is found with it.
  let [kept, since, until] = ['', 0, 1];
  const readNew = (answer: unknown): Page<T> => {
    const page = readPage(answer, member, path, readItem);
    if (page.items.length > 0 && page.next !== '' && (page.next === key || page.next === kept))
      throw new NodeError('error_answer', `${whose} come round again and have no end`);
    if (items + page.items.length > most || pages >= mostPages)
      throw new EndlessList(
        'error_answer',
        `${whose} have no end: ${items} items on ${pages} of them so far`,
      );
    return page;
  };
  for (;;) {
    const which = `pagination.limit=${pageSize}${key === '' ? '' : `&pagination.key=${encodeURIComponent(key)}`}`;
    const asked = `${path}?${query === '' ? '' : `${query}&`}${which}`;
    const page: Page<T> = await askState(rest, asked, height, signal, readNew);
    items += page.items.length;
    pages += 1;
    yield page.items;
    if (page.next === '' || page.items.length === 0) return;
    key = page.next;
    since += 1;
    if (since === until) [kept, since, until] = [key, 0, until * 2];
  }
}

/** An account of the auth module: some kinds wrap the base account. */
interface AuthAccount {
  readonly address?: unknown;
  readonly base_account?: AuthAccount | null;
  readonly base_vesting_account?: AuthAccount | null;
}

/** The address of an account of any kind; undefined when it has none. */
export function addressOf(account: AuthAccount | null | undefined): string | undefined {
  let inner = account;
  while (inner && typeof inner.address !== 'string') inner = inner.base_account ?? inner.base_vesting_account;
  return inner?.address as string | undefined;
}

/**
 * Every account of the state after a block, module accounts included, page by page; the same
 * one may come twice. Accounts whose address cannot be read are left out.
 *
 * @throws StateGone, NodeError
 */
export async function* fetchAccounts(
  rest: Endpoints,
  height: number,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<{ readonly account: AccountKey; readonly address: string }[], void, undefined> {
  for (const list of ['module_accounts', 'accounts']) {
    const path = `/cosmos/auth/v1beta1/${list}`;
    for await (const page of pagesOf<AuthAccount | null>(rest, path, 'accounts', height, signal)) {
      yield page.flatMap((item) => {
        const address = addressOf(item);
        const account = address === undefined ? undefined : parseAccount(address, prefix);
        return address === undefined || account?.length !== 40 ? [] : [{ account, address }];
      });
    }
  }
}

/** Everything that an account holds in the bank module after a block, page by page. @throws StateGone, NodeError */
export async function* fetchBankCoins(
  rest: Endpoints,
  address: string,
  height: number,
  signal: AbortSignal,
): AsyncGenerator<readonly BankCoin[], void, undefined> {
  const path = `/cosmos/bank/v1beta1/balances/${address}`;
  const readCoin = (item: unknown): BankCoin => {
    const coin = item as { readonly denom?: unknown; readonly amount?: unknown } | null;
    if (typeof coin?.denom !== 'string' || !/^\d{1,78}$/.test(String(coin.amount)))
      throw new NodeError('not_json', `${path}: a balance cannot be read`);
    return { denom: coin.denom, amount: BigInt(String(coin.amount)) };
  };
  yield* pagesOf(rest, path, 'balances', height, signal, '', mostItems, readCoin);
}
