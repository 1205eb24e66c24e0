import { createHash } from 'node:crypto';
import { id } from 'ethers';
import type { AccountKey } from '../../common/chain/address.js';
import { messageOf } from '../../common/runtime/errors.js';
import { readWrittenAccount } from './csv.js';
import { parseDecimal, type Rational } from './points.js';
import { largestTotal, type Policy, PolicyError, type Rule, type RuleBase } from './policy.js';
import { readPolicyText, schemaMistakes, shown } from './schema.js';

/** What reading a policy depends on beside its text. */
export interface ParseOptions {
  /** What the policy is called in errors, such as its path. */
  readonly from: string;
  /** Prefix of bech32 accounts of the rollup. */
  readonly account_prefix: string;
  /** Where relative paths start from; default: where the process runs. */
  readonly folder?: string | undefined;
}

/** Words of the explanation that no rule may take. */
const reservedNames = ['total', 'excluded', 'minimum', 'cap', 'fit_total', 'no_score'];

/**
 * Reads a policy from YAML or JSON.
 *
 * @throws PolicyError with every mistake at once.
 */
export function parsePolicy(text: string, options: ParseOptions): Policy {
  let value: unknown;
  try {
    value = readPolicyText(text);
  } catch (error) {
    throw new PolicyError(options.from, [messageOf(error)]);
  }
  return policyOf(value, options);
}

/**
 * The policy of a parsed value, such as the one within a custom resource.
 *
 * @throws PolicyError with every mistake at once.
 */
export function policyOf(value: unknown, options: ParseOptions): Policy {
  const { from, account_prefix, folder = '.' } = options;
  const misfits = schemaMistakes(value);
  // What does not fit the schema cannot be looked at closer.
  if (misfits.length > 0) throw new PolicyError(from, misfits);
  const mistakes: string[] = [];
  const policy = readPolicy(value as PolicyJson, checksOf(account_prefix, folder, mistakes));
  if (mistakes.length > 0) throw new PolicyError(from, mistakes);
  return { ...policy, hash: hashOf(policy) };
}

type Decimal = number | string;

/** What the schema lets through. */
interface PolicyJson {
  readonly name: string;
  readonly description?: string;
  readonly rules: readonly RuleJson[];
  readonly exclude?: readonly string[];
  readonly minimum?: Decimal;
  readonly cap?: Decimal;
  readonly fit_total?: Decimal;
}

interface RuleJson {
  readonly kind: Rule['kind'];
  readonly name: string;
  readonly weight?: Decimal;
  readonly divisor?: Decimal;
  readonly minimum?: Decimal;
  readonly cap?: Decimal;
  readonly only_successful?: boolean;
  readonly msg_types?: readonly string[];
  readonly signers?: 'first' | 'all';
  readonly contracts?: readonly string[];
  readonly selectors?: readonly string[];
  readonly denom?: string;
  readonly direction?: 'sent' | 'received' | 'both';
  readonly at?: 'end' | 'average';
  readonly collection?: string;
  readonly file?: string;
  readonly url?: string;
  readonly sha256?: string;
  readonly duplicates?: 'refuse' | 'sum';
  readonly max_bytes?: number;
  readonly timeout_ms?: number;
}

/** Reads values and collects what is wrong with them. */
interface Checks {
  readonly folder: string;
  account(text: string, path: string): AccountKey;
  decimal(value: Decimal | undefined, path: string): Rational | undefined;
  mistake(text: string): void;
}

function checksOf(account_prefix: string, folder: string, mistakes: string[]): Checks {
  return {
    folder,
    account(text, path) {
      const { account, mistake } = readWrittenAccount(text, account_prefix);
      if (mistake !== undefined) mistakes.push(`${path} is ${shown(text)}: ${mistake}`);
      else if (account.length !== 40)
        mistakes.push(`${path} is ${shown(text)}: accounts of 32 bytes have no score and no code`);
      return account ?? '';
    },
    decimal(value, path) {
      if (value === undefined) return undefined;
      const number = parseDecimal(String(value));
      if (number.numerator === 0n) mistakes.push(`${path} is ${shown(value)}: must be above 0`);
      return number;
    },
    mistake: (text) => {
      mistakes.push(text);
    },
  };
}

function readPolicy(json: PolicyJson, checks: Checks): Omit<Policy, 'hash'> {
  const whole = (name: 'minimum' | 'cap' | 'fit_total'): bigint | undefined => {
    const value = checks.decimal(json[name], name)?.numerator;
    if (value !== undefined && value > largestTotal)
      checks.mistake(`${name} is ${value}: a contract holds at most 2^64-1`);
    return value;
  };
  const [minimum, cap, fit_total] = [whole('minimum'), whole('cap'), whole('fit_total')];
  if (minimum !== undefined && cap !== undefined && minimum > cap)
    checks.mistake(`minimum is ${minimum}: above cap, which is ${cap}`);
  checkNames(json.rules, checks);
  return {
    name: json.name,
    description: json.description ?? '',
    rules: json.rules.map((rule, index) => readRule(rule, `rules[${index}]`, checks)),
    exclude: new Set((json.exclude ?? []).map((text, index) => checks.account(text, `exclude[${index}]`))),
    minimum,
    cap,
    fit_total,
  };
}

function checkNames(rules: readonly RuleJson[], { mistake }: Checks): void {
  for (const [index, { name }] of rules.entries()) {
    const first = rules.findIndex((rule) => rule.name === name);
    if (first < index) mistake(`rules[${index}].name is ${shown(name)}: rules[${first}] is called so`);
    if (reservedNames.includes(name))
      mistake(`rules[${index}].name is ${shown(name)}: that stands for something else in explanations`);
  }
}

function readRule(json: RuleJson, path: string, checks: Checks): Rule {
  const one = { numerator: 1n, denominator: 1n };
  const base: RuleBase = {
    name: json.name,
    weight: checks.decimal(json.weight, `${path}.weight`) ?? one,
    divisor: checks.decimal(json.divisor, `${path}.divisor`) ?? one,
    minimum: checks.decimal(json.minimum, `${path}.minimum`),
    cap: checks.decimal(json.cap, `${path}.cap`),
  };
  const [denom, at, only_successful] = [json.denom ?? '', json.at ?? 'end', json.only_successful ?? true];
  switch (json.kind) {
    case 'transactions':
    case 'gas_used': {
      const msg_types = sorted((json.msg_types ?? []).map((type) => type.replace(/^\//, '')));
      return { ...base, kind: json.kind, only_successful, msg_types, signers: json.signers ?? 'first' };
    }
    case 'calls': {
      if (json.contracts === undefined && json.selectors === undefined)
        checks.mistake(`${path} needs contracts, selectors or both`);
      const contracts = (json.contracts ?? []).map((text, index) =>
        checks.account(text, `${path}.contracts[${index}]`),
      );
      const selectors = (json.selectors ?? []).map(selectorOf);
      return {
        ...base,
        kind: json.kind,
        only_successful,
        contracts: sorted(contracts),
        selectors: sorted(selectors),
      };
    }
    case 'volume':
      return { ...base, kind: json.kind, denom, direction: json.direction ?? 'both' };
    case 'holdings':
      return { ...base, kind: json.kind, denom, at };
    case 'nfts': {
      const collection = checks.account(json.collection ?? '', `${path}.collection`);
      return { ...base, kind: json.kind, collection, at };
    }
    case 'source':
      return { ...base, kind: json.kind, ...readSource(json, path, checks) };
  }
}

function readSource(json: RuleJson, path: string, { mistake, folder }: Checks) {
  const location = json.url ?? json.file ?? '';
  if ((json.url === undefined) === (json.file === undefined)) mistake(`${path} needs either file or url`);
  if (json.url !== undefined) {
    const url = URL.canParse(json.url) ? new URL(json.url) : undefined;
    // Not shown: it may hold a password.
    if (url === undefined) mistake(`${path}.url is no URL`);
    else if (url.username !== '' || url.password !== '')
      mistake(`${path}.url has a user or a password in it, which would be recorded`);
  }
  return {
    location,
    folder,
    is_url: json.url !== undefined,
    sha256: json.sha256?.toLowerCase(),
    duplicates: json.duplicates ?? 'refuse',
    max_bytes: json.max_bytes ?? 10 * 1024 * 1024,
    timeout_ms: json.timeout_ms ?? 30_000,
  } as const;
}

const sorted = (texts: readonly string[]): string[] => [...new Set(texts)].sort();

/** Four bytes of a function: as they are, or of its signature. */
const selectorOf = (text: string): string =>
  text.startsWith('0x') ? text.toLowerCase() : id(text).slice(0, 10);

/** SHA-256 of what a policy means; names and descriptions are part of it. */
function hashOf(policy: Omit<Policy, 'hash'>): string {
  const spelling = JSON.stringify(policy, (name, value: unknown) => {
    if (name === 'folder') return undefined; // the same policy on another machine
    if (typeof value === 'bigint') return value.toString();
    return value instanceof Set ? [...value].sort() : value;
  });
  return createHash('sha256').update(spelling).digest('hex');
}
