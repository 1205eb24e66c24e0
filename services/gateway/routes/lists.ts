import type { PageRequest, PageResponse } from '../../common/gen/indexer/common/v1/common.js';
import { callRpc, type UnaryMethod } from '../../common/rpc/client.js';
import { pageContent } from '../json.js';
import { type PageArguments, pageParameters, pageRequest } from '../pagination.js';
import { accountParameter, booleanParameter, txHeightParameter } from '../parameters.js';
import type { Content, RouteContext } from '../route.js';

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
  method: UnaryMethod<
    Request & { pagination: PageRequest },
    Record<Name, Buffer[]> & { pagination: PageResponse | undefined }
  >,
  request: Request,
  page: PageArguments,
  { call, about }: RouteContext,
): Promise<Content> {
  const pagination = pageRequest(page);
  const answer = await callRpc(method, { ...request, pagination }, call);
  return pageContent(name, answer[name], pagination, answer.pagination, about.absent_key);
}
