import { NodeError } from '../../common/chain/endpoints.js';
import type { Receipt } from './contract.js';
import { ContractError, decodeRevert, describeRevert, type Revert } from './errors.js';
import { type EvmRpc, fromQuantity, RpcAnswerError, toQuantity } from './rpc.js';

/** A receipt as the node has it, before anybody asked why. */
export interface RawReceipt {
  readonly tx_hash: string;
  readonly height: number;
  readonly is_success: boolean;
  readonly gas_used: bigint;
  /** Where a deployment put the contract. */
  readonly contract_address: string | undefined;
}

/** The receipt of a tx; undefined while it is in no block that the node has indexed. @throws NodeError, RpcAnswerError */
export async function fetchReceipt(rpc: EvmRpc, tx_hash: string): Promise<RawReceipt | undefined> {
  const receipt = (await rpc.call('eth_getTransactionReceipt', [tx_hash])) as Record<string, unknown> | null;
  if (receipt === null || typeof receipt['blockNumber'] !== 'string') return undefined;
  const contract = receipt['contractAddress'];
  return {
    tx_hash,
    height: Number(fromQuantity(receipt['blockNumber'], 'blockNumber')),
    is_success: fromQuantity(receipt['status'], 'status') === 1n,
    gas_used: fromQuantity(receipt['gasUsed'], 'gasUsed'),
    contract_address: typeof contract === 'string' ? contract : undefined,
  };
}

/** A call as it was in the tx that failed. */
export interface FailedCall {
  readonly from: string;
  readonly to: string | undefined;
  readonly data: string;
  /** Gas that it had; undefined when it is not known any more. */
  readonly gas: bigint | undefined;
}

/**
 * Why a tx failed: by its trace, where the node gives one; else it is called again on the state
 * before its block, and the node's answer is read. Says that it is not known when nothing tells.
 */
export async function explainReceipt(
  rpc: EvmRpc,
  what: string,
  receipt: RawReceipt,
  call: FailedCall,
): Promise<ContractError> {
  const { tx_hash, gas_used } = receipt;
  const revert = await tracedRevert(rpc, tx_hash);
  if (revert !== undefined) {
    return new ContractError('reverted', `${what}: ${describeRevert(revert)}`, revert, [tx_hash]);
  }
  const ran_out = call.gas !== undefined && gas_used * 100n >= call.gas * 98n;
  const again = await callAgain(rpc, what, receipt.height, call);
  // A call that has its own, lower limit runs out where the tx did not.
  if (again !== undefined && (again.kind === 'reverted' || ran_out || call.gas === undefined)) {
    return new ContractError(again.kind, again.message, again.revert, [tx_hash]);
  }
  if (ran_out) {
    const message = `${what}: out of gas: it used ${gas_used} of ${call.gas}`;
    return new ContractError('out_of_gas', message, undefined, [tx_hash]);
  }
  const message = `${what}: its receipt says that it failed, and not why`;
  return new ContractError('reverted', message, { name: '', args: [] }, [tx_hash]);
}

/** The contract's error in the trace of a tx; undefined where there is no trace or no such error in it. */
async function tracedRevert(rpc: EvmRpc, tx_hash: string): Promise<Revert | undefined> {
  try {
    return revertIn(await rpc.call('debug_traceTransaction', [tx_hash, { tracer: 'callTracer' }]));
  } catch (error) {
    if (error instanceof RpcAnswerError || error instanceof NodeError) return undefined;
    throw error;
  }
}

/** The first error of ours in a call or in those within it: some nodes wrap the tx in a call of their own. */
function revertIn(call: unknown): Revert | undefined {
  const { output, error, calls } = (call ?? {}) as { output?: unknown; error?: unknown; calls?: unknown };
  const own = typeof output === 'string' && error !== undefined ? decodeRevert(output) : undefined;
  if (own !== undefined || !Array.isArray(calls)) return own;
  for (const inner of calls) {
    const found = revertIn(inner);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** How calling it again fails, on the state before its block or on the newest; undefined when it does not, or nothing is said. */
async function callAgain(
  rpc: EvmRpc,
  what: string,
  height: number,
  { from, to, data }: FailedCall,
): Promise<ContractError | undefined> {
  const call = { from, ...(to === undefined ? {} : { to }), data };
  for (const tag of [toQuantity(Math.max(0, height - 1)), 'latest']) {
    try {
      await rpc.call('eth_call', [call, tag]);
    } catch (error) {
      if (error instanceof NodeError) return undefined;
      if (!(error instanceof RpcAnswerError)) throw error;
      const explained = error.explain(what);
      // A node without that old state refuses for a reason of its own.
      if (explained.kind === 'reverted' || explained.kind === 'out_of_gas') return explained;
    }
  }
  return undefined;
}

/** A receipt as it is told on. */
export const toReceipt = ({ tx_hash, height, is_success, gas_used }: RawReceipt, error: string): Receipt => ({
  tx_hash,
  height,
  is_success,
  gas_used,
  error,
});
