import type { UntypedServiceImplementation } from '@grpc/grpc-js';
import { parseAccount, toHex } from '../common/chain/address.js';
import {
  type Decision,
  type ScoringServiceServer,
  ScoringServiceService,
  type Stage,
  type StageTx as TxMessage,
} from '../common/gen/indexer/scoring/v1/scoring.js';
import { densePage } from '../common/page/dense.js';
import { checkPage } from '../common/page/fit.js';
import { type CallContext, forward } from '../common/rpc/context.js';
import { type HandlerEnvironment, type ServedService, unary } from '../common/rpc/server.js';
import { invalidArgument, notFound } from '../common/runtime/errors.js';
import { createMutex } from '../common/util/concurrency.js';
import { createLru } from '../common/util/lru.js';
import { describe } from './machine/run.js';
import { sumOf } from './policy/compute.js';
import { explain } from './policy/explain.js';
import { parsePolicy } from './policy/parse.js';
import type { Policy } from './policy/policy.js';
import type { Status } from './status.js';
import { readFacts, readFactsInParts, readMeasures } from './store/facts.js';
import {
  readAddressScore,
  readAddressScores,
  readChecks,
  readDecisions,
  readPolicy,
  readRanks,
  readRuns,
  readTxs,
  type Source,
} from './store/read.js';
import type { LoggedDecision, Run, StageTx } from './store/rows.js';

export interface ScoringRpcOptions extends HandlerEnvironment {
  readonly source: Source;
  /** Account that signs; '' where this process does not. */
  readonly account: string;
  readonly account_prefix: string;
  readonly status: () => Status;
}

/** Sums of runs that are remembered. */
const sumsRemembered = 100;

/** Most decisions that are given at once. */
const mostDecisions = 1_000;

/** The handlers of indexer.scoring.v1.ScoringService. */
export function scoringService(options: ScoringRpcOptions): ServedService {
  const { source } = options;
  const oneSum = createMutex();

  const runOf = async (stage: string, call: CallContext): Promise<Run> => {
    if (!/^\d{1,20}$/.test(stage) || BigInt(stage) >= 2n ** 64n)
      throw invalidArgument(`stage ${JSON.stringify(stage.slice(0, 40))} is not a whole number below 2^64`);
    const [run] = await readRuns(source, BigInt(stage), forward(call));
    if (run === undefined) throw notFound(`stage ${stage} was never scored here`);
    return run;
  };
  const sums = createLru<string, Promise<bigint>>(sumsRemembered);
  /** The sum of a run's scores before fit_total: what it was computed from does not change. */
  const sumOfRun = (run: Run, policy: Policy): Promise<bigint> => {
    const key = `${run.stage}/${run.list_hash}/${run.updated_at}`;
    const known = sums.get(key);
    if (known !== undefined) return known;
    const sum = oneSum(async () => {
      let total = 0n;
      for await (const facts of readFactsInParts(source, run)) total += sumOf(policy, facts);
      return total;
    });
    sums.set(key, sum);
    sum.catch(() => sums.delete(key));
    return sum;
  };
  const addressOf = (text: string): string => {
    const key = parseAccount(text, options.account_prefix);
    if (key === undefined)
      throw invalidArgument(`address ${JSON.stringify(text.slice(0, 100))} is neither bech32 nor 0x hex`);
    return toHex(key);
  };

  const implementation: ScoringServiceServer = {
    getStatus: unary(options, async (_, call) =>
      statusOf(options, await readRuns(source, undefined, forward(call))),
    ),

    listStages: unary(options, async (_, call) => ({
      stages: (await readRuns(source, undefined, forward(call))).map(toStage),
    })),

    getStage: unary(options, async ({ stage }, call) => {
      const run = await runOf(stage, call);
      const [policy, measures, txs, checks] = await Promise.all([
        readPolicy(source, run.policy_hash, forward(call)),
        readMeasures(source, run, forward(call)),
        readTxs(source, run.stage, forward(call)),
        readChecks(source, run.stage, forward(call)),
      ]);
      return {
        stage: toStage(run),
        policy,
        measures: measures.map(({ denominator: _, ...measure }) => measure),
        txs: txs.map(toTx),
        checks: checks.map(({ at, name, is_ok, expected, found }) => ({ at, name, is_ok, expected, found })),
      };
    }),

    listScores: unary(options, async ({ stage, pagination }, call) => {
      const run = await runOf(stage, call);
      const request = checkPage(pagination);
      const { score_count, list_hash } = run;
      // Positions rise with the score, ranks fall with it.
      const list = { name: `scores/${stage}/${list_hash}`, first: 1, last: score_count };
      const page = densePage(request, list);
      const rankOf = (position: number): number => score_count + 1 - position;
      const [from, to] = [rankOf(page.to), rankOf(page.from)];
      const scores = from > to ? [] : await readRanks(source, run.stage, list_hash, from, to, forward(call));
      if (!request.reverse) scores.reverse();
      return {
        scores: scores.map((score) => ({ ...score, amount: String(score.amount) })),
        pagination: page.pagination,
      };
    }),

    listScoresByAddress: unary(options, async ({ address }, call) => {
      const key = addressOf(address);
      const runs = new Map((await readRuns(source, undefined, forward(call))).map((run) => [run.stage, run]));
      const scores = await readAddressScores(source, key, forward(call));
      return {
        scores: scores
          .filter(({ stage, list_hash }) => runs.get(stage)?.list_hash === list_hash)
          .map(({ stage, amount, rank }) => ({
            stage: String(stage),
            amount: String(amount),
            rank,
            is_finalized: runs.get(stage)?.is_finalized === true,
          })),
      };
    }),

    listDecisions: unary(options, async ({ limit }, call) => {
      if (limit < 1 || limit > mostDecisions)
        throw invalidArgument(`limit ${limit} is not from 1 to ${mostDecisions}`);
      return { decisions: (await readDecisions(source, limit, forward(call))).map(toDecision) };
    }),

    explainScore: unary(options, async ({ stage, address }, call) => {
      const run = await runOf(stage, call);
      const key = addressOf(address);
      const { account_prefix } = options;
      const text = await readPolicy(source, run.policy_hash, forward(call));
      const policy = parsePolicy(text, { from: `of stage ${stage}`, account_prefix });
      const sum = policy.fit_total === undefined ? undefined : await sumOfRun(run, policy);
      const facts = await readFacts(source, run, key.slice(2), forward(call));
      const score = await readAddressScore(source, run.stage, run.list_hash, key, forward(call));
      const reasons = explain(policy, facts, key, account_prefix, sum);
      return {
        amount: String(score?.amount ?? 0n),
        reasons: reasons.map((reason) => ({ ...reason, amount: String(reason.amount) })),
      };
    }),
  };
  return {
    definition: ScoringServiceService,
    implementation: implementation as UntypedServiceImplementation,
  };
}

function statusOf({ source, account, status }: ScoringRpcOptions, runs: readonly Run[]) {
  const { step, at, failures, trouble } = status();
  const l1 = step === undefined || 'error' in step.observation.l1 ? undefined : step.observation.l1;
  const last = (isIt: (run: Run) => boolean): string => String(runs.filter(isIt).at(-1)?.stage ?? '');
  return {
    program: source.program,
    account,
    l1_stage: String(l1?.stage ?? ''),
    stage_end_time: l1?.stage_end_time ?? 0,
    l1_time: l1?.l1_time ?? 0,
    last_scored_stage: last((run) => run.is_verified || run.is_finalized),
    last_finalized_stage: last((run) => run.is_finalized),
    decision: step === undefined ? undefined : toDecision({ at, ...describe(step.decision) }),
    error: trouble || (step?.error ?? ''),
    failures,
  };
}

function toDecision({ at, kind, reason, message, stage }: LoggedDecision): Decision {
  return { at, kind, reason, message, stage: stage === 0n ? '' : String(stage) };
}

/** A run as the API gives it. */
export function toStage(run: Run): Stage {
  const { window, stage, total, counts, created_at: _, ...rest } = run;
  const { start_time, end_time, from_height, to_height } = window;
  return {
    ...rest,
    stage: String(stage),
    total: String(total),
    start_time,
    end_time,
    from_height,
    to_height,
    counts: { ...counts.without, capped: counts.capped, fitted: counts.fitted },
  };
}

/** A tx as the API gives it. */
export function toTx(tx: StageTx): TxMessage {
  const { tx_hash, purpose, account, nonce, score_count, state, height, error } = tx;
  return {
    tx_hash,
    purpose,
    account,
    nonce,
    score_count,
    state,
    height,
    gas_used: String(tx.gas_used),
    error,
  };
}
