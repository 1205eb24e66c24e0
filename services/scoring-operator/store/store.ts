import { randomInt } from 'node:crypto';
import type { StatementOptions } from '../../common/clickhouse/database.js';
import { createLines } from '../../common/clickhouse/formats.js';
import { createMutex } from '../../common/util/concurrency.js';
import type { FencedDatabase } from '../../common/writer/fence.js';
import type { Facts } from '../policy/policy.js';
import { hashOfScores, ranked, type Score, type ScoreList } from '../policy/result.js';
import { measuredRows, measureRows } from './facts.js';
import {
  readAddressScore,
  readDecisions,
  readFinalizations,
  readLeastHeight,
  readList,
  readRuns,
  readSeenStages,
  readTxs,
  readVersion,
} from './read.js';
import type { Check, Finalization, LoggedDecision, Run, SeenStage, StageTx } from './rows.js';

/** Where the machine keeps what it knows and what it has done, for one program. */
export interface ScoringStore {
  seenStages(): Promise<SeenStage[]>;
  noteStage(stage: SeenStage): Promise<void>;
  /** As if a stage had never been seen. */
  forgetStage(stage: bigint): Promise<void>;
  /** Every run, ascending by stage. */
  runs(): Promise<Run[]>;
  run(stage: bigint): Promise<Run | undefined>;
  saveRun(run: Run): Promise<void>;
  savePolicy(policy_hash: string, text: string): Promise<void>;
  /** Writes what a list was computed from; the run that names the list is written after it. */
  saveFacts(stage: bigint, list_hash: string, facts: Facts): Promise<void>;
  /** Writes a list whole; the run that names it is written after it. */
  saveList(stage: bigint, list: ScoreList): Promise<void>;
  /** A list, or undefined when it is not there whole. */
  list(stage: bigint, list_hash: string): Promise<ScoreList | undefined>;
  /** The score of an address in a list, or undefined. */
  addressScore(stage: bigint, list_hash: string, address: string): Promise<Score | undefined>;
  txs(stage: bigint): Promise<StageTx[]>;
  /** Stages that are finalized, by a run or by the receipt of a tx, ascending. */
  finalizations(): Promise<Finalization[]>;
  /** Highest block of any receipt; 0 for none. */
  leastHeight(): Promise<number>;
  saveTx(tx: StageTx): Promise<void>;
  saveChecks(checks: readonly Check[]): Promise<void>;
  logDecision(decision: LoggedDecision): Promise<void>;
  lastDecision(): Promise<LoggedDecision | undefined>;
}

/** Versions up to here follow the clock, until the year 2112: beyond 2^53 a version more would be the same number. */
const latestClock = 2 ** 52;

/** Rows of a list in one insert: bounds the memory of it. */
const rowsAtOnce = 20_000;

/**
 * The tables of a program, as its one writer has them.
 *
 * @param database_name of the service, e.g. `weft_scoring`.
 * @param program chain id and contract.
 */
export async function openScoringStore(
  database: FencedDatabase,
  database_name: string,
  program: string,
): Promise<ScoringStore> {
  const source = { database, database_name, program };
  let version = await readVersion(source);
  /**
   * By the clock, so that what is written last counts whichever process has written it; but never less than what was
   * there before, since the clock may go back.
   */
  const nextVersion = (): number => {
    const byClock = Date.now() * 1_000 + randomInt(1_000);
    version = Math.max(version + 1, byClock < latestClock ? byClock : 0);
    return version;
  };
  const mutex = createMutex();
  const insert = async (table: string, rows: readonly object[]): Promise<void> => {
    const options: StatementOptions = { name: `scoring.write_${table}`, priority: 'write' };
    const lines = createLines();
    for (const row of rows) lines.add(JSON.stringify(row, asText));
    await database.insert(`${database_name}.${table}`, lines.texts().join('\n'), options);
    // What is sent next relies on it.
    await database.confirm();
  };
  /** Rows of which a later one stands for an earlier one, in the order of writing. */
  const write = (table: string, rows: readonly object[]): Promise<void> =>
    mutex(() =>
      insert(
        table,
        rows.map((row) => ({ ...row, program, version: nextVersion() })),
      ),
    );

  return {
    seenStages: () => readSeenStages(source),
    noteStage: (stage) => write('l1_stages', [stage]),
    // Rows are only ever written: one without times stands for none.
    forgetStage: (stage) => write('l1_stages', [{ stage, start_time: 0, end_time: 0 }]),
    runs: () => readRuns(source),
    run: async (stage) => (await readRuns(source, stage))[0],
    saveRun({ window, counts, ...run }) {
      const { stage: _, ...heights } = window;
      return write('runs', [{ ...run, ...heights, counts: JSON.stringify(counts) }]);
    },
    savePolicy: (policy_hash, text) => insert('policies', [{ policy_hash, text }]),
    async saveFacts(stage, list_hash, facts) {
      const of = { program, stage, list_hash, version: nextVersion() };
      for (const rows of parts(measuredRows(of, facts))) await insert('measured', rows);
      await insert('measures', measureRows(of, facts));
    },
    async saveList(stage, list) {
      const rows = ranked(list.scores).map((score, index) => ({
        program,
        stage,
        list_hash: list.hash,
        rank: index + 1,
        ...score,
      }));
      for (const some of parts(rows)) {
        await insert('scores', some);
        await insert('address_scores', some);
      }
    },
    async list(stage, list_hash) {
      const scores = await readList(source, stage, list_hash);
      if (hashOfScores(scores) !== list_hash) return undefined;
      return { scores, hash: list_hash, total: scores.reduce((sum, { amount }) => sum + amount, 0n) };
    },
    addressScore: (stage, list_hash, address) => readAddressScore(source, stage, list_hash, address),
    txs: (stage) => readTxs(source, stage),
    finalizations: () => readFinalizations(source),
    leastHeight: () => readLeastHeight(source),
    saveTx: (tx) => write('txs', [tx]),
    saveChecks: (checks) => write('checks', checks),
    logDecision: (decision) => write('decisions', [decision]),
    lastDecision: async () => (await readDecisions(source, 1))[0],
  };
}

/** Rows in portions of one insert each. */
function* parts(rows: Iterable<object>): Generator<object[]> {
  let some: object[] = [];
  for (const row of rows) {
    some.push(row);
    if (some.length < rowsAtOnce) continue;
    yield some;
    some = [];
  }
  if (some.length > 0) yield some;
}

/** 64-bit integers travel as text: JSON numbers would lose digits. */
const asText = (_: string, value: unknown): unknown => (typeof value === 'bigint' ? String(value) : value);
