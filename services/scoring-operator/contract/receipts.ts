import type { Receipt } from './contract.js';
import { ContractError } from './errors.js';
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
 * Why a tx failed: it is called again on the state before its block, and the node's answer is read.
 *
 * @throws NodeError while the node gives no usable answer.
 */
export async function explainReceipt(
  rpc: EvmRpc,
  what: string,
  receipt: RawReceipt,
  { from, to, data, gas }: FailedCall,
): Promise<ContractError> {
  const call = { from, ...(to === undefined ? {} : { to }), data };
  const ran_out = gas !== undefined && receipt.gas_used * 100n >= gas * 98n;
  for (const tag of [toQuantity(Math.max(0, receipt.height - 1)), 'latest']) {
    try {
      await rpc.call('eth_call', [call, tag]);
    } catch (error) {
      if (!(error instanceof RpcAnswerError)) throw error;
      const { kind, message, revert } = error.explain(what);
      // A node without that old state refuses for a reason of its own.
      if (kind === 'reverted' || kind === 'out_of_gas') {
        // A call that has its own, lower limit runs out where the tx did not.
        if (kind === 'out_of_gas' && gas !== undefined && !ran_out) continue;
        return new ContractError(kind, message, revert, [receipt.tx_hash]);
      }
    }
  }
  if (ran_out) {
    const message = `${what}: out of gas: it used ${receipt.gas_used} of ${gas}`;
    return new ContractError('out_of_gas', message, undefined, [receipt.tx_hash]);
  }
  const message = `${what}: its receipt says that it failed, and not why`;
  return new ContractError('reverted', message, { name: '', args: [] }, [receipt.tx_hash]);
}

/** A receipt as it is told on. */
export const toReceipt = ({ tx_hash, height, is_success, gas_used }: RawReceipt, error: string): Receipt => ({
  tx_hash,
  height,
  is_success,
  gas_used,
  error,
});
