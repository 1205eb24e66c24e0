import { type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';
import { parseInnerJson } from '../../common/util/bounded-input.js';
import { toNanoseconds } from '../../common/util/time.js';

/** Where the rewards program lives on the L1. */
export interface L1Module {
  /** Account of the module: 0x hex or bech32. There is no default: networks differ. */
  readonly address: string;
  /** Name of the module, `vip` everywhere so far. */
  readonly name: string;
  /** First part of the REST path of the Move module, `initia` everywhere so far. */
  readonly prefix: string;
}

/** The program's clock as the module store has it. Times are unix seconds. */
export interface ModuleStore {
  readonly stage: bigint;
  readonly stage_start_time: number;
  readonly stage_end_time: number;
  readonly stage_interval: number;
  readonly challenge_period: number;
}

/** An L1's newest block. */
export interface L1Block {
  readonly chain_id: string;
  readonly height: number;
  /** Unix seconds, cut. */
  readonly time: number;
}

/** How a request to the L1 may be ended early. */
export interface L1Call {
  readonly signal?: AbortSignal | undefined;
}

/** The module store from `/{prefix}/move/v1/accounts/{module}/resources/by_struct_tag`. @throws NodeError */
export function fetchL1Stage(
  rest: Endpoints,
  module: L1Module,
  { signal }: L1Call = {},
): Promise<ModuleStore> {
  const tag = `${module.address}::${module.name}::ModuleStore`;
  const path = `/${module.prefix}/move/v1/accounts/${encodeURIComponent(module.address)}/resources/by_struct_tag?struct_tag=${encodeURIComponent(tag)}`;
  return rest.ask({ path, signal }, (status, body) => readModuleStore(status, body, tag));
}

/**
 * Reads the module store: the resource with its JSON text, or what some gateways make of it, parsed already.
 *
 * @throws NodeError when it is not there or not what a module store is.
 */
export function readModuleStore(status: number, body: string, tag: string): ModuleStore {
  const answer = asObject(parseNodeJson(status, body, tag));
  if (status !== 200)
    throw new NodeError(
      'error_answer',
      `${tag}: HTTP ${status} ${String(answer['message'] ?? '').slice(0, 200)}`,
    );
  const { move_resource } = asObject(answer['resource']);
  const resource =
    typeof move_resource === 'string'
      ? asObject(parseNodeJson(status, move_resource, tag, parseInnerJson))
      : asObject(move_resource ?? answer);
  const data = asObject(resource['data']);
  const number = (name: string): bigint => {
    const value = data[name];
    if (typeof value !== 'string' || !/^\d{1,20}$/.test(value))
      throw new NodeError(
        'error_answer',
        `${tag}: ${name} is ${JSON.stringify(value)}, not a decimal string`,
      );
    return BigInt(value);
  };
  const seconds = (name: string): number => {
    const value = number(name);
    if (value > BigInt(Number.MAX_SAFE_INTEGER))
      throw new NodeError('error_answer', `${tag}: ${name} is ${value}, which is no time`);
    return Number(value);
  };
  const store = {
    stage: number('stage'),
    stage_start_time: seconds('stage_start_time'),
    stage_end_time: seconds('stage_end_time'),
    stage_interval: seconds('stage_interval'),
    challenge_period: seconds('challenge_period'),
  };
  if (store.stage >= 2n ** 64n || store.stage_end_time < store.stage_start_time)
    throw new NodeError(
      'error_answer',
      `${tag}: stage ${store.stage} from ${store.stage_start_time} to ${store.stage_end_time} cannot be`,
    );
  return store;
}

/** The newest block from `/cosmos/base/tendermint/v1beta1/blocks/latest`. @throws NodeError */
export function fetchL1Block(rest: Endpoints, { signal }: L1Call = {}): Promise<L1Block> {
  return rest.ask({ path: '/cosmos/base/tendermint/v1beta1/blocks/latest', signal }, readL1Block);
}

/** Reads the newest block. @throws NodeError */
export function readL1Block(status: number, body: string): L1Block {
  const answer = asObject(parseNodeJson(status, body, 'newest block of the L1'));
  const header = asObject(asObject(answer['block'] ?? answer['sdk_block'])['header']);
  const { chain_id, height, time } = header;
  if (status !== 200 || typeof time !== 'string')
    throw new NodeError('error_answer', `newest block of the L1: HTTP ${status} and no time`);
  try {
    return {
      chain_id: String(chain_id ?? ''),
      height: Number(height ?? 0),
      time: Number(toNanoseconds(time) / 1_000_000_000n),
    };
  } catch (cause) {
    throw new NodeError(
      'error_answer',
      `newest block of the L1: ${JSON.stringify(time)} is no time`,
      undefined,
      {
        cause,
      },
    );
  }
}

/** An object, or an empty one for anything else. */
export function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
