import { type AccountKey, parseAccount } from '../../common/chain/address.js';
import { type Endpoints, NodeError } from '../../common/chain/endpoints.js';
import { pagesOf } from './state.js';

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
 * The denoms that have a supply after a block.
 *
 * @throws StateGone, NodeError; Refused where the node does not have the question.
 */
export async function fetchDenoms(rest: Endpoints, height: number, signal: AbortSignal): Promise<string[]> {
  const denoms: string[] = [];
  for await (const page of pagesOf<{ denom?: unknown } | null>(
    rest,
    `${bank}/supply`,
    'supply',
    height,
    signal,
  ))
    for (const coin of page) if (typeof coin?.denom === 'string') denoms.push(coin.denom);
  return denoms;
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
  interface Row {
    readonly address?: unknown;
    readonly balance?: { readonly amount?: unknown } | null;
  }
  for await (const page of pagesOf<Row | null>(rest, path, 'denom_owners', height, signal, query)) {
    const owners: DenomOwner[] = [];
    for (const row of page) {
      const amount = String(row?.balance?.amount);
      if (typeof row?.address !== 'string' || !/^\d+$/.test(amount))
        throw new NodeError('not_json', `${path}: an owner cannot be read`);
      const account = parseAccount(row.address, prefix);
      if (account?.length === 40) owners.push({ account, amount: BigInt(amount) });
    }
    yield owners;
  }
}
