import { type AccountKey, parseAccount } from '../../common/chain/address.js';
import { type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';
import { heightHeader, stateProblem } from '../../common/chain/state-height.js';
import { TryAgainError } from '../../common/errors.js';

/** A coin as the bank module lists it. */
export interface BankCoin {
  readonly denom: string;
  readonly amount: bigint;
}

/** Items a page holds. */
const pageSize = 1_000;

/** gRPC's code for a question that a server does not have. */
const unimplemented = 12;

/** The node no longer has the state of the height that was asked for. */
export class StateGone extends TryAgainError {
  override name = 'StateGone';
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

/** One page of a list: its items, and the key of the next page, empty on the last. */
type Page<T> = { readonly items: readonly T[]; readonly next: string };

function readPage<T>(answer: unknown, member: string, path: string): Page<T> {
  const items = (answer as Record<string, unknown> | null)?.[member];
  if (!Array.isArray(items)) throw new NodeError('not_json', `${path}: there are no ${member} in the answer`);
  const pagination = (answer as { pagination?: { next_key?: unknown } | null }).pagination;
  return { items, next: String(pagination?.next_key ?? '') };
}

/**
 * Every page of a list after a block. Keys that come again, after however many pages, are an error: such a list has no end.
 *
 * @param query what the list takes besides its pages.
 * @throws StateGone, Refused, NodeError
 */
export async function* pagesOf<T>(
  rest: Endpoints,
  path: string,
  member: string,
  height: number,
  signal: AbortSignal,
  query = '',
): AsyncGenerator<readonly T[], void, undefined> {
  let key = '';
  // One key is kept, of a page that lies further and further back: a circle of any length is found with it.
  let [kept, since, until] = ['', 0, 1];
  const readNew = (answer: unknown): Page<T> => {
    const page = readPage<T>(answer, member, path);
    if (page.items.length > 0 && page.next !== '' && (page.next === key || page.next === kept))
      throw new NodeError('error_answer', `${path}: its pages come round again and have no end`);
    return page;
  };
  for (;;) {
    const pages = `pagination.limit=${pageSize}${key === '' ? '' : `&pagination.key=${encodeURIComponent(key)}`}`;
    const asked = `${path}?${query === '' ? '' : `${query}&`}${pages}`;
    const page: Page<T> = await askState(rest, asked, height, signal, readNew);
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
  if (typeof account?.address === 'string') return account.address;
  const inner = account?.base_account ?? account?.base_vesting_account;
  return inner ? addressOf(inner) : undefined;
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

/** Everything that an account holds in the bank module after a block. @throws StateGone, NodeError */
export async function fetchBankCoins(
  rest: Endpoints,
  address: string,
  height: number,
  signal: AbortSignal,
): Promise<BankCoin[]> {
  const path = `/cosmos/bank/v1beta1/balances/${address}`;
  const coins: BankCoin[] = [];
  for await (const page of pagesOf<{ denom?: unknown; amount?: unknown } | null>(
    rest,
    path,
    'balances',
    height,
    signal,
  )) {
    for (const coin of page) {
      if (typeof coin?.denom !== 'string' || !/^\d+$/.test(String(coin.amount)))
        throw new NodeError('not_json', `${path}: a balance cannot be read`);
      coins.push({ denom: coin.denom, amount: BigInt(String(coin.amount)) });
    }
  }
  return coins;
}
