import { NodeError } from '../../../services/common/chain/endpoints.js';
import { callEvm, hexHeight } from '../../../services/common/chain/evm.js';
import type { Sides } from '../check.js';

/** First four bytes of the hash of `totalSupply()`. */
const totalSupplySelector = '0x18160ddd';

/**
 * What a token's contract says that there is of it at a height, in the smallest unit; undefined
 * where it does not say so.
 */
async function totalSupply(
  { json_rpc, signal }: Sides,
  contract: string,
  height: number,
): Promise<bigint | undefined> {
  try {
    const call = { to: contract, data: totalSupplySelector };
    const { value } = await callEvm(json_rpc, 'eth_call', [call, hexHeight(height)], signal);
    return typeof value === 'string' && /^0x[0-9a-f]{64}$/i.test(value) ? BigInt(value) : undefined;
  } catch (error) {
    // A contract need not have it: nothing is said of its token then.
    if (error instanceof NodeError && !signal.aborted) return undefined;
    throw error;
  }
}

/**
 * A note where the holders of a token do not hold what there is of it. An index that began later
 * than the token does not know a holder that has no account and has not moved it since; and
 * contracts may say of their supply what they like, so it is no difference.
 */
export async function supplyNotes(
  sides: Sides,
  denom: string,
  contract: string,
  height: number,
  amounts: Iterable<string>,
): Promise<string[]> {
  const supply = await totalSupply(sides, contract, height);
  if (supply === undefined) return [];
  let held = 0n;
  for (const amount of amounts) held += BigInt(amount);
  if (held === supply) return [];
  const what = held < supply ? `${supply - held} are with nobody known` : `${held - supply} too many`;
  return [`${denom}: its holders have ${held} of a supply of ${supply} at height ${height}: ${what}`];
}
