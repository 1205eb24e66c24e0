import { readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { messageOf, UserError } from '../../common/runtime/errors.js';
import { packageRoot } from '../../common/runtime/paths.js';
import type { L1Module } from '../l1/stage.js';
import type { Rules } from '../machine/types.js';
import { PolicyTextError, readPolicyText } from '../policy/schema.js';
import type { SeenStage } from '../store/rows.js';

/** A program, checked, with every default filled in. */
export interface Program {
  readonly name: string;
  readonly l1: {
    readonly urls: readonly string[];
    readonly module: L1Module;
    /** '' for any. */
    readonly chain_id: string;
    readonly standstill_seconds: number;
    /** How many URLs have to say the same. */
    readonly agreeing_urls: number;
    readonly max_ahead_seconds: number;
  };
  readonly rollup: {
    readonly json_rpc_urls: readonly string[];
    readonly rest_urls: readonly string[];
    /** '' for any. */
    readonly chain_id: string;
    /** undefined: the one that follows from the rollup's chain id. */
    readonly evm_chain_id: number | undefined;
    readonly account_prefix: string;
    /** Wei; undefined: TX_MAX_GAS_PRICE and TX_MAX_FEE. */
    readonly max_gas_price: bigint | undefined;
    readonly max_tx_fee: bigint | undefined;
  };
  /** gRPC addresses. */
  readonly indexers: Readonly<Record<'block' | 'tx' | 'nft' | 'richlist', string>>;
  readonly bridge_id: bigint | 'auto' | 'none';
  /** 0x hex as written. */
  readonly contract: string;
  /** A path, or the policy as a parsed value. */
  readonly policy: string | Readonly<Record<string, unknown>>;
  readonly rules: Rules;
  readonly start_stage: bigint | undefined;
  readonly poll_seconds: number;
  readonly windows: readonly SeenStage[];
  /** Whether stages of which nothing is known are counted back in intervals. */
  readonly count_intervals: boolean;
  /** Where relative paths start from. */
  readonly folder: string;
}

/** The JSON schema of programs. */
export const programSchemaFile = join(packageRoot, 'services/scoring-operator/program/schema.json');

/** Reads a program from a YAML or JSON file. @throws UserError with every mistake at once. */
export function loadProgram(path: string): Program {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UserError(`the program ${path} cannot be read: ${messageOf(error)}`);
  }
  return parseProgram(text, path, dirname(resolve(path)));
}

/**
 * The rules of a program's file as it is whenever they are asked for, so that a stage can be approved while the program
 * runs. A mistake in the file is told, and the rules before it hold on; nothing else of the file is read again.
 */
export function rereadRules(path: string, first: Rules, onMistake: (message: string) => void): () => Rules {
  let last = first;
  return () => {
    try {
      last = loadProgram(path).rules;
    } catch (error) {
      onMistake(messageOf(error));
    }
    return last;
  };
}

/**
 * Reads a program from YAML or JSON.
 *
 * @param from what the text is called in errors.
 * @param folder where relative paths start from.
 * @throws UserError with every mistake at once. Values are not shown: somebody may have put a key where it does not belong.
 */
export function parseProgram(text: string, from: string, folder: string): Program {
  let value: unknown;
  try {
    // As a policy is read, which may stand in it: no number becomes another one on its way.
    value = readPolicyText(text);
  } catch (error) {
    const where = error instanceof PolicyTextError ? error.place : '';
    throw new UserError(`the program ${from} is no YAML${where}`);
  }
  return programOf(value, from, folder);
}

/** Compiled once: the operator in a cluster reads programs at every look. */
let validator: ValidateFunction | undefined;

/** The program of a parsed value, such as the one within a custom resource. @throws UserError */
export function programOf(value: unknown, from: string, folder: string): Program {
  validator ??= new Ajv2020({ allErrors: true, useDefaults: true, allowUnionTypes: true }).compile(
    JSON.parse(readFileSync(programSchemaFile, 'utf8')),
  );
  const validate = validator;
  const copy: unknown = structuredClone(value ?? {});
  const misfits = validate(copy) ? [] : (validate.errors ?? []).map(inWords);
  if (misfits.length > 0) throw mistakesIn(from, [...new Set(misfits)]);
  const program = copy as ProgramJson;
  const mistakes = [...windowMistakes(program.windows ?? []), ...agreementMistakes(program.l1)];
  if (mistakes.length > 0) throw mistakesIn(from, mistakes);
  return withTypes(program, folder);
}

/** Stages follow one another without a gap, so windows that do not would have blocks count twice or never. */
function windowMistakes(windows: NonNullable<ProgramJson['windows']>): string[] {
  const sorted = [...windows].sort((a, b) => a.stage - b.stage);
  return sorted.flatMap(({ stage, start_time, end_time }, index) => {
    const before = sorted[index - 1];
    const mistakes = end_time <= start_time ? [`windows: stage ${stage} does not end after it starts`] : [];
    if (before?.stage === stage) return [...mistakes, `windows: stage ${stage} is there twice`];
    const isNext = before?.stage === stage - 1;
    if (before !== undefined && (isNext ? before.end_time !== start_time : before.end_time > start_time))
      return [
        ...mistakes,
        `windows: stage ${stage} does not start ${isNext ? 'when' : 'after'} stage ${before.stage} ends`,
      ];
    return mistakes;
  });
}

function agreementMistakes({ urls, agreeing_urls = 1 }: ProgramJson['l1']): string[] {
  const count = distinct(urls).length;
  return agreeing_urls <= count
    ? []
    : [`l1.agreeing_urls: must not be more than the number of different l1.urls, which is ${count}`];
}

/** URLs, each once: one that is there twice would agree with itself. */
const distinct = (urls: readonly string[]): string[] => [...new Set(urls.map(withoutSlash))];

const mistakesIn = (from: string, mistakes: readonly string[]): UserError =>
  new UserError(
    `the program ${from} has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`,
  );

function inWords({
  instancePath,
  keyword,
  params,
  message,
}: {
  readonly instancePath: string;
  readonly keyword: string;
  readonly params: Record<string, unknown>;
  readonly message?: string;
}): string {
  const at = instancePath === '' ? '' : `${instancePath.slice(1).replaceAll('/', '.')}: `;
  if (keyword === 'additionalProperties')
    return `${at}${String(params['additionalProperty'])} is not known here`;
  if (keyword === 'required') return `${at}${String(params['missingProperty'])} is missing`;
  if (keyword === 'enum') return `${at}must be one of ${(params['allowedValues'] as unknown[]).join(', ')}`;
  return `${at}${message ?? 'is wrong'}`;
}

/** What the schema lets through, defaults filled in at the top level and in objects that are there. */
interface ProgramJson {
  readonly name?: string;
  readonly l1: {
    readonly urls: string[];
    readonly module: string;
    readonly module_name: string;
    readonly prefix: string;
    readonly chain_id?: string;
    readonly standstill_seconds: number;
    readonly agreeing_urls?: number;
    readonly max_ahead_seconds: number;
  };
  readonly rollup: {
    readonly json_rpc_urls: string[];
    readonly rest_urls?: string[];
    readonly chain_id?: string;
    readonly evm_chain_id?: number;
    readonly account_prefix: string;
    readonly max_gas_price?: string;
    readonly max_tx_fee?: string;
  };
  readonly indexers?: Partial<Record<'block' | 'tx' | 'nft' | 'richlist', string>>;
  readonly bridge_id: number | 'auto' | 'none';
  readonly vip_version?: number;
  readonly contract: string;
  readonly policy: string | Record<string, unknown>;
  readonly approval: 'Automatic' | 'Manual';
  readonly approved_stage?: number;
  readonly approved_list?: string;
  readonly allow_empty: number[];
  readonly start_stage?: number;
  readonly stop_at_stage?: number;
  readonly margin_seconds: number;
  readonly poll_seconds: number;
  readonly count_intervals: boolean;
  readonly windows?: { readonly stage: number; readonly start_time: number; readonly end_time: number }[];
}

function withTypes(json: ProgramJson, folder: string): Program {
  const { l1, rollup, indexers = {} } = json;
  const wei = (value: string | undefined): bigint | undefined =>
    value === undefined ? undefined : BigInt(value);
  const stage = (value: number | undefined): bigint | undefined =>
    value === undefined ? undefined : BigInt(value);
  return {
    name: json.name ?? json.contract,
    l1: {
      urls: distinct(l1.urls),
      module: { address: l1.module, name: l1.module_name, prefix: l1.prefix },
      chain_id: l1.chain_id ?? '',
      standstill_seconds: l1.standstill_seconds,
      agreeing_urls: l1.agreeing_urls ?? Math.min(2, distinct(l1.urls).length),
      max_ahead_seconds: l1.max_ahead_seconds,
    },
    rollup: {
      json_rpc_urls: rollup.json_rpc_urls.map(withoutSlash),
      rest_urls: (rollup.rest_urls ?? []).map(withoutSlash),
      chain_id: rollup.chain_id ?? '',
      evm_chain_id: rollup.evm_chain_id,
      account_prefix: rollup.account_prefix,
      max_gas_price: wei(rollup.max_gas_price),
      max_tx_fee: wei(rollup.max_tx_fee),
    },
    indexers: {
      block: indexers.block ?? '127.0.0.1:7001',
      tx: indexers.tx ?? '127.0.0.1:7002',
      nft: indexers.nft ?? '127.0.0.1:7003',
      richlist: indexers.richlist ?? '127.0.0.1:7004',
    },
    bridge_id: typeof json.bridge_id === 'number' ? BigInt(json.bridge_id) : json.bridge_id,
    contract: json.contract,
    policy: json.policy,
    rules: {
      margin_s: json.margin_seconds,
      approval: json.approval,
      approved_stage: stage(json.approved_stage),
      approved_list: json.approved_list,
      allow_empty: json.allow_empty.map(BigInt),
      stop_at_stage: stage(json.stop_at_stage),
      vip_version: stage(json.vip_version),
    },
    start_stage: stage(json.start_stage),
    poll_seconds: json.poll_seconds,
    count_intervals: json.count_intervals,
    windows: (json.windows ?? []).map((window) => ({ ...window, stage: BigInt(window.stage) })),
    folder,
  };
}

const withoutSlash = (url: string): string => url.replace(/\/+$/, '');
