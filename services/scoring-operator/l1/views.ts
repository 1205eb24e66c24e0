import { type Endpoints, NodeError, parseNodeJson } from '../../common/chain/endpoints.js';
import { parseInnerJson } from '../../common/util/bounded-input.js';
import { asObject, type L1Call, type L1Module } from './stage.js';

/** What the L1 has registered of a rollup. */
export interface BridgeInfo {
  readonly bridge_id: bigint;
  /** Counts how often the rollup was registered; the highest is the one in force. */
  readonly version: bigint;
  /** First stage that the rollup takes part in. */
  readonly init_stage: bigint;
  readonly operator_addr: string;
  /** The scoring contract as registered: 0x hex for an EVM rollup. */
  readonly vip_l2_score_contract: string;
}

/**
 * Calls a view function of the module.
 *
 * @param args Move arguments, integers as bigint.
 * @returns what it returns, parsed.
 * @throws NodeError
 */
export function callView(
  rest: Endpoints,
  module: L1Module,
  name: string,
  args: readonly bigint[],
  call?: L1Call,
): Promise<unknown> {
  return ask(rest, module, name, args, call, readView);
}

function ask<T>(
  rest: Endpoints,
  module: L1Module,
  name: string,
  args: readonly bigint[],
  { signal }: L1Call = {},
  read: (status: number, text: string, name: string) => T,
): Promise<T> {
  const body = JSON.stringify({
    address: module.address,
    module_name: module.name,
    function_name: name,
    type_args: [],
    args: args.map((value) => JSON.stringify(String(value))),
  });
  return rest.ask({ path: `/${module.prefix}/move/v1/view/json`, body, signal }, (status, text) =>
    read(status, text, name),
  );
}

/** Reads the answer of a view: `data` is JSON in a text, or parsed already. @throws NodeError */
export function readView(status: number, text: string, name: string): unknown {
  const answer = asObject(parseNodeJson(status, text, name));
  const { data } = answer;
  if (status !== 200 || data === undefined) {
    const message = String(answer['message'] ?? '').slice(0, 1_000);
    throw new NodeError('error_answer', `${name}: HTTP ${status} ${message.slice(0, 200)}`, { message });
  }
  return typeof data === 'string' && !/^\d+$/.test(data)
    ? parseNodeJson(status, data, name, parseInnerJson)
    : data;
}

/** Every registered rollup. @throws NodeError */
export async function fetchBridgeInfos(
  rest: Endpoints,
  module: L1Module,
  call?: L1Call,
): Promise<BridgeInfo[]> {
  const infos = await callView(rest, module, 'get_bridge_infos', [], call);
  if (!Array.isArray(infos)) throw new NodeError('error_answer', 'get_bridge_infos: the answer is no list');
  return infos.map((info) => {
    const fields = asObject(info);
    return {
      bridge_id: asInteger(fields['bridge_id'], 'bridge_id'),
      version: asInteger(fields['version'] ?? '0', 'version'),
      init_stage: asInteger(fields['init_stage'], 'init_stage'),
      operator_addr: String(fields['operator_addr'] ?? ''),
      vip_l2_score_contract: String(fields['vip_l2_score_contract'] ?? ''),
    };
  });
}

/** The registration of a rollup that is in force, or undefined. */
export function registrationOf(infos: readonly BridgeInfo[], bridge_id: bigint): BridgeInfo | undefined {
  return infos
    .filter((info) => info.bridge_id === bridge_id)
    .reduce<BridgeInfo | undefined>((a, b) => (a === undefined || b.version > a.version ? b : a), undefined);
}

/** Sum of the scores of all rollups in a stage as the L1 has it. @throws NodeError */
export async function fetchTotalL2Scores(
  rest: Endpoints,
  module: L1Module,
  stage: bigint,
  call?: L1Call,
): Promise<bigint> {
  return asInteger(await callView(rest, module, 'get_total_l2_scores', [stage], call), 'get_total_l2_scores');
}

/** Last stage whose scores of a rollup were submitted to the L1. @throws NodeError */
export async function fetchLastSubmittedStage(
  rest: Endpoints,
  module: L1Module,
  { bridge_id, version }: Pick<BridgeInfo, 'bridge_id' | 'version'>,
  call?: L1Call,
): Promise<bigint> {
  const answer = await callView(rest, module, 'get_last_submitted_stage', [bridge_id, version], call);
  return asInteger(answer, 'get_last_submitted_stage');
}

/**
 * When a stage was, as the module keeps it. Not every version of the module has this view, or these fields in it.
 *
 * @returns undefined when this node says that there is no such view or stage, or answers without these fields.
 * @throws NodeError while there is no usable answer: a gateway's error says nothing of the stage.
 */
export function fetchStageTimes(
  rest: Endpoints,
  module: L1Module,
  stage: bigint,
  call?: L1Call,
): Promise<{ readonly start_time: number; readonly end_time: number } | undefined> {
  // Within the request: that something is not there is an answer, which is not to be asked for again.
  const read = (status: number, text: string, name: string): ReturnType<typeof readStageTimes> => {
    try {
      return readStageTimes(readView(status, text, name));
    } catch (error) {
      if (isMissing(error, module)) return undefined;
      throw error;
    }
  };
  return ask(rest, module, 'get_stage_data', [stage], call, read);
}

function readStageTimes(
  answer: unknown,
): { readonly start_time: number; readonly end_time: number } | undefined {
  if (typeof answer !== 'object' || answer === null)
    throw new NodeError('error_answer', 'get_stage_data: the answer is no object');
  const { stage_start_time, stage_end_time } = asObject(answer);
  if (stage_start_time === undefined && stage_end_time === undefined) return undefined;
  const [start_time, end_time] = [
    asInteger(stage_start_time, 'stage_start_time'),
    asInteger(stage_end_time, 'stage_end_time'),
  ].map(Number) as [number, number];
  if (!Number.isSafeInteger(start_time) || !Number.isSafeInteger(end_time))
    throw new NodeError('error_answer', `get_stage_data: from ${start_time} to ${end_time} is no time`);
  return { start_time, end_time };
}

/** The rollup's bridge id from its own `/opinit/opchild/v1/bridge_info`. @throws NodeError */
export function fetchBridgeId(rollupRest: Endpoints, { signal }: L1Call = {}): Promise<bigint> {
  return rollupRest.ask({ path: '/opinit/opchild/v1/bridge_info', signal }, (status, body) => {
    const answer = asObject(parseNodeJson(status, body, 'bridge_info'));
    const { bridge_id } = asObject(answer['bridge_info']);
    if (status !== 200 || bridge_id === undefined)
      throw new NodeError(
        'error_answer',
        `bridge_info: HTTP ${status} ${String(answer['message'] ?? '').slice(0, 200)}`,
      );
    return asInteger(bridge_id, 'bridge_id');
  });
}

function asInteger(value: unknown, name: string): bigint {
  const text = typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== 'string' || !/^\d{1,78}$/.test(text))
    throw new NodeError('error_answer', `${name} is ${JSON.stringify(value)}, not a whole number`);
  return BigInt(text);
}

/** How the virtual machine says that a function is not there. */
const unresolved = /^VM (error|failure): .*\bFUNCTION_RESOLUTION_FAILURE\b/;

/** How it says that Move code has stopped, where, and with which code. */
const aborted = /^VM aborted: location=(?:0x)?[0-9a-f]+::(\w+), code=(\d{1,20})\b/i;

/**
 * Whether the virtual machine itself has refused a view because there is no such function, or nothing under what it was
 * asked for. Any other error, such as that of a gateway in front of the node, says nothing of the L1.
 */
export function isMissing(error: unknown, module: L1Module): boolean {
  if (!(error instanceof NodeError) || error.reason !== 'error_answer') return false;
  // What wraps an error writes its own words before or behind it, parted by a colon.
  const said = error.answer?.message ?? '';
  const message = said.slice(Math.max(0, said.search(/\bVM (error|failure|aborted): /)));
  if (unresolved.test(message)) return true;
  const [, where, code = '0'] = aborted.exec(message) ?? [];
  return (where === module.name || where === 'table') && isNotFound(BigInt(code));
}

/** Abort codes for what is not there: category 6 of std::error, and 101 of the natives of tables. */
function isNotFound(code: bigint): boolean {
  return code >> 16n === 6n || code >> 8n === 101n;
}
