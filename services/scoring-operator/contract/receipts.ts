import { NodeError } from '../../common/chain/endpoints.js';
import { checkThere, untilThere } from './at-block.js';
import type { Receipt } from './contract.js';
import { ContractError, decodeRevert, describeRevert, type Revert } from './errors.js';
import { type EvmRpc, fromHeight, fromQuantity, type RpcAnswer, RpcAnswerError, toQuantity } from './rpc.js';

/** A receipt as the node has it, before anybody asked why. */
export interface RawReceipt {
  readonly tx_hash: string;
  readonly height: number;
  readonly is_success: boolean;
  readonly gas_used: bigint;
  /** Where a deployment put the contract. */
  readonly contract_address: string | undefined;
}

/**
 * The receipt of a tx; undefined while it is in no block that the node has indexed. It is believed when the block that it
 * names has the tx. A node that does not have that block, or has another one there, is asked again.
 *
 * @throws NodeError `behind` or `contradicts` when no node that was asked confirms it; RpcAnswerError.
 */
export const fetchReceipt = (rpc: EvmRpc, tx_hash: string): Promise<RawReceipt | undefined> =>
  untilThere(() => askReceipt(rpc, tx_hash));

/** As `fetchReceipt`, asking once: for those who ask again by themselves. */
export async function askReceipt(rpc: EvmRpc, tx_hash: string): Promise<RawReceipt | undefined> {
  const said = await rpc.call('eth_getTransactionReceipt', [tx_hash], {
    check: (answer) => void ('result' in answer && readReceipt(answer.result, tx_hash)),
  });
  const found = readReceipt(said, tx_hash);
  if (found === undefined) return undefined;
  const { receipt, block_hash } = found;
  await rpc.call('eth_getBlockByNumber', [toQuantity(receipt.height), false], {
    check: (answer) => checkBlock(answer, receipt, block_hash),
  });
  return receipt;
}

function readReceipt(
  said: unknown,
  tx_hash: string,
): { readonly receipt: RawReceipt; readonly block_hash: string } | undefined {
  const fields = said as Record<string, unknown> | null;
  if (fields === null || typeof fields['blockNumber'] !== 'string') return undefined;
  const contract = fields['contractAddress'];
  const receipt = {
    tx_hash,
    height: fromHeight(fields['blockNumber'], `the receipt of ${tx_hash}`),
    is_success: fromQuantity(fields['status'], 'status') === 1n,
    gas_used: fromQuantity(fields['gasUsed'], 'gasUsed'),
    contract_address: typeof contract === 'string' ? contract : undefined,
  };
  return { receipt, block_hash: String(fields['blockHash']).toLowerCase() };
}

/** @throws NodeError unless the answer is the block of a receipt. */
function checkBlock(answer: RpcAnswer, { tx_hash, height }: RawReceipt, block_hash: string): void {
  const what = `block ${height}, which the receipt of ${tx_hash} names`;
  checkThere(answer, what);
  if ('failure' in answer) return;
  const block = answer.result as { readonly hash?: unknown; readonly transactions?: unknown } | null;
  if (block === null) throw new NodeError('behind', `the node does not have ${what}`);
  const { hash, transactions } = block;
  const hashes = Array.isArray(transactions) ? transactions.map((one) => String(one).toLowerCase()) : [];
  if (String(hash).toLowerCase() !== block_hash || !hashes.includes(tx_hash.toLowerCase()))
    throw new NodeError('contradicts', `the node has another ${what}, or the tx is not in it`);
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

/**
 * The first error of ours in a call or in those within it: some nodes wrap the tx in a call of their own. Any depth: it
 * does not recurse.
 */
function revertIn(top: unknown): Revert | undefined {
  const waiting = [top];
  while (waiting.length > 0) {
    const call = (waiting.pop() ?? {}) as { output?: unknown; error?: unknown; calls?: unknown };
    const { output, error, calls } = call;
    const own = typeof output === 'string' && error !== undefined ? decodeRevert(output) : undefined;
    if (own !== undefined) return own;
    if (Array.isArray(calls)) for (const inner of calls.toReversed()) waiting.push(inner);
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
