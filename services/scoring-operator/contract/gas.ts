import { type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';

/** How much gas a tx of one sender may have; 0n: no limit known. */
export interface GasLimits {
  /** The rollup's own: more is cut to it without a word, and the tx then fails half way. */
  readonly rollup: bigint;
  /** Of a block. */
  readonly block: bigint;
}

/**
 * The rollup's own limit, from `GET {rest}/minievm/evm/v1/params` `gas_enforcement`; 0n when there
 * is none, when this sender is exempt, or where the rollup has no such parameters.
 *
 * @throws NodeError when the node gives no usable answer.
 */
export function fetchRollupGasLimit(rest: Endpoints, sender: string, signal?: AbortSignal): Promise<bigint> {
  return rest.ask({ path: '/minievm/evm/v1/params', signal }, (status, body) =>
    readRollupGasLimit(status, body, sender),
  );
}

/** Reads the answer. @throws NodeError */
export function readRollupGasLimit(status: number, body: string, sender: string): bigint {
  // An EVM rollup of another make has no such route.
  if (status === 404 || status === 501) return 0n;
  const answer = parseNodeJson(status, body, 'params of the EVM') as {
    params?: {
      gas_enforcement?: { max_gas_limit?: unknown; unlimited_gas_senders?: unknown } | null;
    };
  } | null;
  if (status !== 200 || typeof answer?.params !== 'object') {
    throw new NodeError('error_answer', `params of the EVM: HTTP ${status}`);
  }
  const { max_gas_limit, unlimited_gas_senders } = answer.params.gas_enforcement ?? {};
  const exempt = Array.isArray(unlimited_gas_senders)
    ? unlimited_gas_senders.some((one) => String(one).toLowerCase() === sender.toLowerCase())
    : false;
  return exempt || !/^\d{1,20}$/.test(String(max_gas_limit ?? '')) ? 0n : BigInt(String(max_gas_limit));
}

/** The least of those that are known; undefined when none is. */
export function leastLimit({ rollup, block }: GasLimits): bigint | undefined {
  const known = [rollup, block].filter((limit) => limit > 0n);
  return known.reduce<bigint | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined);
}

/**
 * Gas for a tx: the estimate and a margin, but never more than may be asked for.
 *
 * @returns undefined when not even the estimate may be.
 */
export function gasFor(estimate: bigint, margin_percent: number, limits: GasLimits): bigint | undefined {
  const wanted = estimate + (estimate * BigInt(margin_percent)) / 100n;
  const limit = leastLimit(limits);
  if (limit === undefined || wanted <= limit) return wanted;
  return estimate <= limit ? limit : undefined;
}
