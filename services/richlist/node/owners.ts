import { type AccountKey, parseAccount } from '../../common/chain/address.js';
import { type Endpoints, NodeError } from '../../common/chain/endpoints.js';
import { mostDenoms, pagesOf } from './state.js';

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
