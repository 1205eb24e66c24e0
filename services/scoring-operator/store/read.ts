import type { Call, Database } from '../../common/clickhouse/database.js';
import { UserError } from '../../common/runtime/errors.js';
import type { Score } from '../policy/result.js';
import type { Check, Finalization, LoggedDecision, Run, RunCounts, SeenStage, StageTx } from './rows.js';

/** Tables of one program. */
export interface Source {
  readonly database: Database;
  /** e.g. `weft_scoring`. */
  readonly database_name: string;
  readonly program: string;
}

/** 64-bit integers come as text: a number would lose digits. */
type Texts<T> = { readonly [K in keyof T]: T[K] extends bigint ? string : T[K] };

/**
 * The highest version that any row of the program has.
 *
 * @throws UserError for one that cannot be counted on from: the rows that follow would not replace those before.
 */
export async function readVersion(source: Source): Promise<number> {
  const tables = ['l1_stages', 'runs', 'txs', 'checks', 'decisions', 'measures', 'measured'].map(
    (table) =>
      `SELECT max(version) AS version FROM ${source.database_name}.${table} WHERE program = {program:String}`,
  );
  const [row] = await readRows<{ version: number }>(
    source,
    'version',
    `SELECT max(version) AS version FROM (${tables.join(' UNION ALL ')})`,
  );
  const version = Number(row?.version ?? 0);
  if (!Number.isSafeInteger(version))
    throw new UserError(
      `rows of the program ${source.program} in ${source.database_name} have the version ${version}, above which no row can be written: the clock of the machine that wrote them was far ahead. Restore the tables from before`,
    );
  return version;
}

/** When stages were, as the L1 said; ascending. */
export async function readSeenStages(source: Source, call: Call = {}): Promise<SeenStage[]> {
  const found = await readRows<Texts<SeenStage>>(
    source,
    'seen_stages',
    `SELECT toString(stage) AS stage, start_time, end_time FROM ${source.database_name}.l1_stages FINAL
     WHERE program = {program:String} AND end_time > 0 ORDER BY l1_stages.stage`,
    {},
    call,
  );
  return found.map((row) => ({ ...row, stage: BigInt(row.stage) }));
}

type RunRow = Omit<Texts<Run>, 'window' | 'counts'> & {
  readonly counts: string;
  readonly start_time: number;
  readonly end_time: number;
  readonly from_height: number;
  readonly to_height: number;
};

/** The runs of the program ascending by stage, or that of one stage. */
export async function readRuns(source: Source, stage?: bigint, call: Call = {}): Promise<Run[]> {
  const found = await readRows<RunRow>(
    source,
    'runs',
    `SELECT toString(stage) AS stage, start_time, end_time, from_height, to_height, to_hash, policy_hash,
       list_hash,
       score_count, toString(total) AS total, counts, is_verified, is_finalized, error, attempts, created_at, updated_at
     FROM ${source.database_name}.runs FINAL
     WHERE program = {program:String} ${stage === undefined ? '' : 'AND runs.stage = {stage:UInt64}'}
     ORDER BY runs.stage`,
    { stage: String(stage ?? 0) },
    call,
  );
  return found.map(({ start_time, end_time, from_height, to_height, ...row }) => {
    const own = BigInt(row.stage);
    return {
      ...row,
      stage: own,
      total: BigInt(row.total),
      counts: JSON.parse(row.counts) as RunCounts,
      window: { stage: own, start_time, end_time, from_height, to_height },
    };
  });
}

/** The scores of a list by address; fewer than it has while it is being written. */
export async function readList(source: Source, stage: bigint, list_hash: string): Promise<Score[]> {
  const found = await readRows<Texts<Score>>(
    source,
    'list',
    `SELECT address, toString(amount) AS amount FROM ${source.database_name}.scores FINAL
     WHERE program = {program:String} AND stage = {stage:UInt64} AND list_hash = {list_hash:String} ORDER BY address`,
    { stage: String(stage), list_hash },
  );
  return found.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

/** A score with its place in the ranking, 1 for the largest. */
export interface RankedScore extends Score {
  readonly rank: number;
}

/** The scores of a list between two ranks, inclusive, ascending by rank. */
export async function readRanks(
  source: Source,
  stage: bigint,
  list_hash: string,
  from: number,
  to: number,
  call: Call,
): Promise<RankedScore[]> {
  const found = await readRows<Texts<RankedScore>>(
    source,
    'ranks',
    `SELECT rank, address, toString(amount) AS amount FROM ${source.database_name}.scores FINAL
     WHERE program = {program:String} AND stage = {stage:UInt64} AND list_hash = {list_hash:String}
       AND rank BETWEEN {from:UInt64} AND {to:UInt64} ORDER BY rank`,
    { stage: String(stage), list_hash, from, to },
    call,
  );
  return found.map((row) => ({ ...row, amount: BigInt(row.amount) }));
}

/** The score of an address in a list, or undefined when it has none. */
export async function readAddressScore(
  source: Source,
  stage: bigint,
  list_hash: string,
  address: string,
  call: Call = {},
): Promise<RankedScore | undefined> {
  const [row] = await readRows<Texts<RankedScore>>(
    source,
    'address_score',
    `SELECT rank, address, toString(amount) AS amount FROM ${source.database_name}.address_scores FINAL
     WHERE program = {program:String} AND address = {address:String} AND stage = {stage:UInt64}
       AND list_hash = {list_hash:String}`,
    { stage: String(stage), list_hash, address },
    call,
  );
  return row && { ...row, amount: BigInt(row.amount) };
}

/** A score of an address in some list of a stage. */
export interface AddressScore extends RankedScore {
  readonly stage: bigint;
  readonly list_hash: string;
}

/** Every score that an address has in any list, ascending by stage. */
export async function readAddressScores(
  source: Source,
  address: string,
  call: Call = {},
): Promise<AddressScore[]> {
  const found = await readRows<Texts<AddressScore>>(
    source,
    'address_scores',
    `SELECT toString(stage) AS stage, list_hash, rank, address, toString(amount) AS amount
     FROM ${source.database_name}.address_scores FINAL
     WHERE program = {program:String} AND address = {address:String} ORDER BY address_scores.stage, list_hash`,
    { address },
    call,
  );
  return found.map((row) => ({ ...row, stage: BigInt(row.stage), amount: BigInt(row.amount) }));
}

/** The txs of a stage in the order of their nonces. */
export async function readTxs(source: Source, stage: bigint, call: Call = {}): Promise<StageTx[]> {
  const found = await readRows<Texts<StageTx>>(
    source,
    'txs',
    `SELECT toString(stage) AS stage, tx_hash, purpose, account, nonce, score_count, list_hash, state, height,
       toString(gas_used) AS gas_used, error, created_at, updated_at
     FROM ${source.database_name}.txs FINAL
     WHERE program = {program:String} AND txs.stage = {stage:UInt64} ORDER BY nonce, created_at, tx_hash`,
    { stage: String(stage) },
    call,
  );
  return found.map((row) => ({ ...row, stage: BigInt(row.stage), gas_used: BigInt(row.gas_used) }));
}

/** Stages that a run or the receipt of a tx says are finalized, ascending. */
export async function readFinalizations(source: Source, call: Call = {}): Promise<Finalization[]> {
  const found = await readRows<Texts<Finalization>>(
    source,
    'finalizations',
    `SELECT toString(finalized) AS stage, max(hash) AS tx_hash, max(block) AS height FROM (
       SELECT stage AS finalized, '' AS hash, toUInt64(0) AS block FROM ${source.database_name}.runs FINAL
       WHERE program = {program:String} AND is_finalized
       UNION ALL
       SELECT stage AS finalized, tx_hash AS hash, txs.height AS block FROM ${source.database_name}.txs FINAL
       WHERE program = {program:String} AND purpose = 'finalize' AND state = 'mined')
     GROUP BY finalized ORDER BY finalized`,
    {},
    call,
  );
  return found.map((row) => ({ ...row, stage: BigInt(row.stage) }));
}

/** Highest block of the receipts of any stage; 0 for none. */
export async function readLeastHeight(source: Source, call: Call = {}): Promise<number> {
  const [row] = await readRows<{ least: number }>(
    source,
    'least_height',
    `SELECT max(height) AS least FROM ${source.database_name}.txs FINAL WHERE program = {program:String}`,
    {},
    call,
  );
  return Number(row?.least ?? 0);
}

/** The checks of a stage in the order they were made. */
export async function readChecks(source: Source, stage: bigint, call: Call = {}): Promise<Check[]> {
  const found = await readRows<Texts<Check>>(
    source,
    'checks',
    `SELECT toString(stage) AS stage, at, list_hash, name, is_ok, expected, found
     FROM ${source.database_name}.checks FINAL
     WHERE program = {program:String} AND checks.stage = {stage:UInt64} ORDER BY version`,
    { stage: String(stage) },
    call,
  );
  return found.map((row) => ({ ...row, stage: BigInt(row.stage) }));
}

/** The newest decisions, the latest first. */
export async function readDecisions(
  source: Source,
  limit: number,
  call: Call = {},
): Promise<LoggedDecision[]> {
  const found = await readRows<Texts<LoggedDecision>>(
    source,
    'decisions',
    `SELECT at, kind, reason, message, toString(stage) AS stage FROM ${source.database_name}.decisions FINAL
     WHERE program = {program:String} ORDER BY version DESC LIMIT {limit:UInt32}`,
    { limit },
    call,
  );
  return found.map((row) => ({ ...row, stage: BigInt(row.stage) }));
}

/** The text of a policy; '' when it is not there. */
export async function readPolicy(source: Source, policy_hash: string, call: Call = {}): Promise<string> {
  const [row] = await readRows<{ text: string }>(
    source,
    'policy',
    `SELECT text FROM ${source.database_name}.policies FINAL WHERE policy_hash = {policy_hash:String}`,
    { policy_hash },
    call,
  );
  return row?.text ?? '';
}

/** Rows of a statement about one program, which has its name as a parameter. */
export function readRows<T>(
  { database, program }: Source,
  name: string,
  sql: string,
  params: Readonly<Record<string, unknown>> = {},
  call: Call = {},
): Promise<T[]> {
  return database.rows<T>(sql, { program, ...params }, { name: `scoring.${name}`, ...call });
}

/** Every program that something is known of. */
export async function readPrograms(database: Database, database_name: string): Promise<string[]> {
  const found = await database.rows<{ program: string }>(
    `SELECT DISTINCT program FROM (SELECT program FROM ${database_name}.decisions UNION ALL SELECT program FROM ${database_name}.runs) ORDER BY program`,
    {},
    { name: 'scoring.programs' },
  );
  return found.map(({ program }) => program);
}
