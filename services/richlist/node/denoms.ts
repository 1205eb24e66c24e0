import { type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';

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
