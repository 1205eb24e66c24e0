import type { ScoringProgram, Spec } from './resource.js';
import { toSeconds } from './setting-types.js';

/** Where the chains and the index are, as a program's file has it. */
export interface Endpoints {
  readonly l1: unknown;
  readonly rollup: unknown;
  readonly indexers?: unknown;
}

/** Policies that have a name. */
const builtins: Readonly<Record<NonNullable<Spec['policy']['builtin']>, object>> = {
  'tx-count': { version: 1, name: 'tx-count', rules: [{ kind: 'transactions', name: 'sent' }] },
  'gas-used': { version: 1, name: 'gas-used', rules: [{ kind: 'gas_used', name: 'gas' }] },
};

/** The policy that stands in the resource itself; undefined when it is in a ConfigMap. */
export function ownPolicy({ policy }: Pick<Spec, 'policy'>): object | undefined {
  return policy.inline ?? (policy.builtin === undefined ? undefined : builtins[policy.builtin]);
}

/** The endpoints that stand in the resource itself; undefined when they are in a ConfigMap. */
export function ownEndpoints({ endpoints }: Pick<Spec, 'endpoints'>): Endpoints | undefined {
  const { l1, rollup, indexers } = endpoints;
  if (l1 === undefined || rollup === undefined) return undefined;
  return {
    l1: defined({
      urls: l1.urls,
      module: l1.module,
      module_name: l1.moduleName,
      prefix: l1.prefix,
      chain_id: l1.chainId,
      standstill_seconds: l1.standstillSeconds,
      agreeing_urls: l1.agreeingUrls,
      max_ahead_seconds: l1.maxAheadSeconds,
    }),
    rollup: defined({
      json_rpc_urls: rollup.jsonRpcUrls,
      rest_urls: rollup.restUrls,
      evm_chain_id: rollup.evmChainId,
      account_prefix: rollup.accountPrefix,
      max_gas_price: rollup.maxGasPrice,
      max_tx_fee: rollup.maxTxFee,
    }),
    ...(indexers === undefined ? {} : { indexers }),
  };
}

/**
 * The program as its file would have it: what the Jobs run, and what the operator looks at.
 *
 * @param policy the policy itself, or the path of its file.
 */
export function programFile(
  { metadata, spec }: Pick<ScoringProgram, 'metadata' | 'spec'>,
  { l1, rollup, indexers }: Endpoints,
  policy: unknown,
): Readonly<Record<string, unknown>> {
  const unix = (time: string): number => Math.floor(Date.parse(time) / 1000);
  return defined({
    name: `${metadata.namespace}/${metadata.name}`,
    l1,
    rollup: isObject(rollup) ? { ...rollup, chain_id: spec.chainId } : rollup,
    indexers,
    bridge_id: spec.bridgeId,
    vip_version: spec.vipVersion,
    contract: spec.contract.address,
    policy,
    approval: spec.finalize.approval,
    approved_stage: spec.finalize.approvedStage,
    approved_list: spec.finalize.approvedList,
    allow_empty: spec.finalize.allowEmptyStages,
    start_stage: spec.startStage,
    stop_at_stage: spec.stopAtStage,
    margin_seconds: toSeconds(spec.finalize.delayAfterStageEnd),
    poll_seconds: spec.pollSeconds,
    count_intervals: spec.countIntervals,
    windows: spec.windows?.map(({ stage, startTime, endTime }) => ({
      stage,
      start_time: unix(startTime),
      end_time: unix(endTime),
    })),
  });
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Without what is not given: the schema of programs knows no undefined. */
function defined(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined));
}
