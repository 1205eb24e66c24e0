import { type AccountKey, parseAccount } from '../../common/chain/address.js';
import { type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';
import { mostDenoms, pagesOf } from './state.js';

/** The contract in `evm/<40 hex digits>`, lower-case; undefined for other denoms. */
export const contractInDenom = (denom: string): string | undefined =>
  /^evm\/([0-9a-f]{40})$/.exec(denom.toLowerCase())?.[1];

/** Reads one text member; undefined when the node says that there is no such thing. */
async function askName(
  rest: Endpoints,
  path: string,
  member: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  return rest.ask({ path, signal }, (status, body) => {
    const answer = parseNodeJson(status, body, path) as Record<string, unknown> | null;
    if (status === 404) return undefined;
    const name = answer?.[member];
    if (status !== 200 || typeof name !== 'string')
      throw new NodeError('error_answer', `${path}: HTTP ${status} ${String(answer?.['message'] ?? '')}`);
    return name;
  });
}

/** What the bank module calls a contract; undefined when it does not know it. @throws NodeError */
export function fetchDenom(rest: Endpoints, token: string, signal: AbortSignal): Promise<string | undefined> {
  return askName(rest, `/minievm/evm/v1/denoms/0x${token}`, 'denom', signal);
}

/** The contract of a denom, lower-case hex without 0x; undefined when it has none. @throws NodeError */
export async function fetchContract(
  rest: Endpoints,
  denom: string,
  signal: AbortSignal,
): Promise<string | undefined> {
  const named = contractInDenom(denom);
  if (named !== undefined) return named;
  const path = `/minievm/evm/v1/contracts/by_denom?denom=${encodeURIComponent(denom)}`;
  const address = await askName(rest, path, 'address', signal);
  return /^0x([0-9a-f]{40})$/.exec(address?.toLowerCase() ?? '')?.[1];
}

/*
 * Who holds a denom, by the bank module rather than by account: it also knows holders that the
 * auth module has no account for (coins were sent to them and they never signed anything).
 */

/** An owner of a denom. */
export interface DenomOwner {
  readonly account: AccountKey;
  readonly amount: bigint;
}

const bank = '/cosmos/bank/v1beta1';

/**
 * The denoms that have a supply after a block, page by page.
 *
 * @throws StateGone, NodeError; Refused where the node does not have the question.
 */
export async function* fetchDenoms(
  rest: Endpoints,
  height: number,
  signal: AbortSignal,
): AsyncGenerator<string[], void, undefined> {
  const path = `${bank}/supply`;
  type Coin = { readonly denom?: unknown } | null;
  for await (const page of pagesOf<Coin>(rest, path, 'supply', height, signal, '', mostDenoms))
    yield page.flatMap((coin) => (typeof coin?.denom === 'string' ? [coin.denom] : []));
}

/**
 * Everybody who holds a denom after a block, page by page. A denom with slashes is asked for as
 * a parameter, since the path of many nodes takes none.
 *
 * @throws StateGone, NodeError; Refused where the node does not have the question.
 */
export async function* fetchOwners(
  rest: Endpoints,
  denom: string,
  height: number,
  prefix: string,
  signal: AbortSignal,
): AsyncGenerator<DenomOwner[], void, undefined> {
  const name = encodeURIComponent(denom);
  const [path, query] = denom.includes('/')
    ? [`${bank}/denom_owners_by_query`, `denom=${name}`]
    : [`${bank}/denom_owners/${name}`, ''];
  const readOwner = (item: unknown): DenomOwner => {
    const row = item as {
      readonly address?: unknown;
      readonly balance?: { readonly amount?: unknown } | null;
    } | null;
    const amount = String(row?.balance?.amount);
    if (typeof row?.address !== 'string' || !/^\d{1,78}$/.test(amount))
      throw new NodeError('not_json', `${path}: an owner cannot be read`);
    return { account: parseAccount(row.address, prefix) ?? '', amount: BigInt(amount) };
  };
  for await (const page of pagesOf(rest, path, 'denom_owners', height, signal, query, undefined, readOwner))
    yield page.filter(({ account }) => account.length === 40);
}
