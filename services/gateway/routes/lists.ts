import type { PageRequest, PageResponse } from '../../common/gen/indexer/common/v1/common.js';
import type { LargeBody } from '../../common/gen/indexer/tx/v1/tx.js';
import { callRpc, type UnaryMethod } from '../../common/rpc/client.js';
import type { Clients } from '../clients.js';
import { pageContent } from '../json.js';
import {
  type AskedPage,
  checkWhole,
  type PageArguments,
  pageJson,
  pageParameters,
  pageRequest,
} from '../pagination.js';
import {
  type ArgumentsOf,
  accountParameter,
  booleanParameter,
  txHeightParameter,
  wireHeight,
} from '../parameters.js';
import type { About, Content, RouteContext } from '../route.js';

/** A method that gives a page of ready-made bodies, which its answer calls by a name. */
type ListMethod<Name extends string, Request extends object> = UnaryMethod<
  Request & { pagination: PageRequest },
  Record<Name, Buffer[]> & { pagination: PageResponse | undefined; large: LargeBody | undefined }
>;

/** Where a list is asked for, of the clients that a call has. */
type MethodOf<Name extends string, Request extends object> = (clients: Clients) => ListMethod<Name, Request>;

/**
 * Parameters of a list of an account.
 *
 * @param sent what `is_signer` leaves.
 */
export const accountListParameters = (sent: string) => ({
  account: accountParameter,
  is_signer: booleanParameter(false, sent),
  ...pageParameters,
});

/** Parameters of a list of a block. */
export const heightListParameters = { height: txHeightParameter, ...pageParameters };

/**
 * Asks for a page of ready-made bodies.
 *
 * @param name what the list is called, in the service's answer and in ours.
 * @param request what is asked for, without the page.
 */
export async function listBodies<Name extends string, Request extends object>(
  name: Name,
  method: ListMethod<Name, Request>,
  request: Request,
  page: PageArguments,
  context: RouteContext,
): Promise<Content> {
  const pagination = pageRequest(page);
  const answer = await callRpc(method, { ...request, pagination }, context.call);
  const { large, [name]: bodies } = answer;
  return pageContent(name, { bodies, large }, pagination, answer.pagination, context);
}

/** Parameters and handler of a list of everything there is. */
export const wholeList = <Name extends string>(name: Name, methodOf: MethodOf<Name, object>) => ({
  parameters: pageParameters,
  handler: (page: PageArguments, context: RouteContext) =>
    listBodies(name, methodOf(context.clients), {}, page, context),
});

/**
 * Parameters and handler of a list of an account.
 *
 * @param sent what `is_signer` leaves.
 */
export const accountList = <Name extends string>(
  name: Name,
  sent: string,
  methodOf: MethodOf<Name, { account: string; is_signer: boolean }>,
) => {
  const parameters = accountListParameters(sent);
  return {
    parameters,
    handler: ({ account, is_signer, ...page }: ArgumentsOf<typeof parameters>, context: RouteContext) =>
      listBodies(name, methodOf(context.clients), { account, is_signer }, page, context),
  };
};

/** Parameters and handler of a list of a block. */
export const heightList = <Name extends string>(
  name: Name,
  methodOf: MethodOf<Name, { height: number }>,
) => ({
  parameters: heightListParameters,
  handler: ({ height, ...page }: ArgumentsOf<typeof heightListParameters>, context: RouteContext) =>
    listBodies(name, methodOf(context.clients), { height: wireHeight(height) }, page, context),
});

/**
 * A page of a list whose items come, go and change: it is never settled, since what it shows
 * may change with any block.
 *
 * @param items as they are shown.
 * @param request what was asked for.
 */
export function movingContent(
  name: string,
  items: readonly object[],
  request: AskedPage,
  page: PageResponse | undefined,
  about: About,
): Content {
  checkWhole(request, items.length, page);
  const body = `{"${name}":${JSON.stringify(items)},"pagination":${pageJson(page, about.absent_key)}}`;
  return { body: Buffer.from(body), settled: false };
}
