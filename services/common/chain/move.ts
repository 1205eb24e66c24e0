import { parseInnerJson } from '../util/bounded-input.js';
import { type AccountKey, parseAccount } from './address.js';
import { type Endpoints, NodeError, parseNodeJson } from './endpoints.js';

/** The resource that every object has; it names the owner. */
const objectCore = '0x1::object::ObjectCore';

/**
 * The owner of a Move object, such as a primary fungible store, from
 * `GET {rest}/initia/move/v1/accounts/{address}/resources/by_struct_tag`.
 *
 * @returns undefined when there is no such object: the node answers HTTP 500 then.
 * @throws NodeError when the node does not answer.
 */
export async function fetchObjectOwner(
  rest: Endpoints,
  object: AccountKey,
  signal: AbortSignal,
): Promise<AccountKey | undefined> {
  const path = `/initia/move/v1/accounts/0x${object}/resources/by_struct_tag?struct_tag=${encodeURIComponent(objectCore)}`;
  try {
    return await rest.ask({ path, signal }, (status, body) => readObjectOwner(status, body));
  } catch (error) {
    if (error instanceof NodeError && error.reason === 'error_answer') return undefined;
    throw error;
  }
}

/** Reads the answer. @throws NodeError */
export function readObjectOwner(status: number, body: string): AccountKey | undefined {
  const answer = parseNodeJson(status, body, objectCore) as {
    resource?: { move_resource?: string };
    message?: string;
  };
  const text = answer?.resource?.move_resource;
  if (status !== 200 || typeof text !== 'string') {
    throw new NodeError(
      'error_answer',
      `${objectCore}: HTTP ${status} ${String(answer?.message ?? '').slice(0, 200)}`,
    );
  }
  const { data } = parseNodeJson(status, text, objectCore, parseInnerJson) as { data?: { owner?: unknown } };
  return typeof data?.owner === 'string' ? parseAccount(data.owner, '') : undefined;
}
