import type { AccountKey } from '../../common/chain/address.js';
import type { Call } from '../../common/clickhouse/database.js';
import type { Facts, Measure, SourceProof } from '../policy/policy.js';
import { readRows, type Source } from './read.js';
import type { Run } from './rows.js';

/** The list that facts belong to. */
interface ListKey {
  readonly program: string;
  readonly stage: bigint;
  readonly list_hash: string;
  /** Of this writing: rows of an earlier one of the same list do not count. */
  readonly version: number;
}

/** A row for every rule: what was measured, and where it is from. */
export function measureRows(of: ListKey, facts: Facts): object[] {
  return [...facts.measures].map(([rule, { values, denominator, left_out, source = noSource }]) => ({
    ...of,
    rule,
    denominator: String(denominator),
    account_count: values.size,
    left_out,
    ...source,
  }));
}

/** A row for every account that a rule has measured. Values can be of any size: they are texts. */
export function* measuredRows(of: ListKey, facts: Facts): Generator<object> {
  for (const [rule, { values }] of facts.measures)
    for (const [account, value] of values) yield { ...of, rule, account, value: String(value) };
}

const noSource: SourceProof = { location: '', sha256: '', bytes: 0, etag: '' };

/** What one rule found in a run. */
export interface KeptMeasure extends SourceProof {
  readonly rule: string;
  readonly denominator: string;
  /** Accounts of 20 bytes with a value. */
  readonly account_count: number;
  /** Accounts of 32 bytes with a value, which count for nothing. */
  readonly left_out: number;
}

/** What the rules found, by the name of the rule. `location` is empty where a rule has no source. */
export function readMeasures(source: Source, { stage, list_hash }: Run, call: Call): Promise<KeptMeasure[]> {
  return readRows<KeptMeasure>(
    source,
    'measures',
    `SELECT rule, denominator, account_count, left_out, location, sha256, bytes, etag
     FROM ${source.database_name}.measures FINAL
     WHERE program = {program:String} AND stage = {stage:UInt64} AND list_hash = {list_hash:String}
       AND version = (${newest(source)}) ORDER BY rule`,
    { stage: String(stage), list_hash },
    call,
  );
}

/** The version of what was written last of a list. */
const newest = ({ database_name }: Source): string =>
  `SELECT max(version) FROM ${database_name}.measures WHERE program = {program:String}
     AND stage = {stage:UInt64} AND list_hash = {list_hash:String}`;

/**
 * What a run was computed from, of accounts that begin with some digits.
 *
 * @param digits all of them for one account.
 */
export async function readFacts(source: Source, run: Run, digits: string, call: Call): Promise<Facts> {
  const measures = new Map<string, Measure & { readonly values: Map<AccountKey, bigint> }>();
  for (const { rule, denominator, left_out, location, sha256, bytes, etag } of await readMeasures(
    source,
    run,
    call,
  ))
    measures.set(rule, {
      values: new Map(),
      denominator: BigInt(denominator),
      left_out,
      ...(location === '' ? {} : { source: { location, sha256, bytes, etag } }),
    });
  const rows = await readRows<{ rule: string; account: AccountKey; value: string }>(
    source,
    'measured',
    `SELECT rule, account, value FROM ${source.database_name}.measured FINAL
     WHERE program = {program:String} AND stage = {stage:UInt64} AND list_hash = {list_hash:String}
       AND version = (${newest(source)})
       AND startsWith(account, {digits:String})`,
    { stage: String(run.stage), list_hash: run.list_hash, digits },
    call,
  );
  for (const row of rows) measures.get(row.rule)?.values.set(row.account, BigInt(row.value));
  return { window: run.window, to_hash: run.to_hash, measures };
}

/** The facts of a run, a part of the accounts at a time: there may be very many. */
export async function* readFactsInParts(source: Source, run: Run): AsyncGenerator<Facts, void, undefined> {
  for (let part = 0; part < 256; part++)
    yield await readFacts(source, run, part.toString(16).padStart(2, '0'), {});
}
