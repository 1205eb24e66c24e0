import { chainDoubt } from '../machine/chain.js';
import { isOver, openStage } from '../machine/decide.js';
import { describe } from '../machine/run.js';
import { type Gate, type GateInput, isStale } from './gates.js';
import type { JobSummary, Waiting } from './jobs.js';
import { gasTooDear, type Look } from './look.js';
import { asReason, type Reason } from './reasons.js';
import type { Condition, Phase } from './resource.js';

/** What conditions are made from. */
export interface ConditionInput extends GateInput {
  readonly generation: number;
  readonly gates: Readonly<Record<Phase, Gate>>;
  readonly jobs: Readonly<Record<Phase, JobSummary>>;
  /** Why a Job does not start. */
  readonly waiting?: Waiting | undefined;
  /** Names of children that belong to somebody else. */
  readonly conflicts: readonly string[];
  /** Why the API server does not take a child. */
  readonly refusal?: string | undefined;
}

/** What a condition says, without its times. */
export interface Finding {
  readonly status: Condition['status'];
  readonly reason: Reason;
  readonly message: string;
}

/** Failures in a row of the Jobs of a phase before it counts as failing. */
const tooManyFailures = 2;

/** A stage that is over has to be finalized before the running one ends: at risk with less than an hour or a tenth left. */
const [riskBefore_s, riskShare] = [3_600, 0.1];

/** Every condition, Ready first. A pure function. */
export function findings(input: ConditionInput): Readonly<Record<string, Finding>> {
  const parts = {
    ChainReachable: chainReachable(input),
    IndexerCaughtUp: indexerCaughtUp(input),
    SignerAuthorized: signerAuthorized(input),
    SignerFunded: signerFunded(input),
    ScoreUpToDate: scoreUpToDate(input),
    FinalizationPending: finalizationPending(input),
    Degraded: degraded(input),
  };
  return { Ready: ready(input, parts), ...parts };
}

/** The conditions as they are stored: a time moves only when its status does. */
export function toConditions(
  found: Readonly<Record<string, Finding>>,
  generation: number,
  before: readonly Condition[],
  now: number,
): Condition[] {
  return Object.entries(found).map(([type, finding]) => {
    const old = before.find((condition) => condition.type === type);
    const isSame = old?.status === finding.status;
    return {
      type,
      ...finding,
      message: finding.message.slice(0, 1_000),
      observedGeneration: generation,
      lastTransitionTime: isSame ? old.lastTransitionTime : `${new Date(now).toISOString().slice(0, 19)}Z`,
    };
  });
}

/** A condition that can only be told from a look. */
function fromLook(input: ConditionInput, judge: (look: Look) => Finding): Finding {
  const { look, problem, spec, now } = input;
  if (look === undefined)
    return unknown(problem?.reason ?? 'NotObserved', problem?.message ?? 'nothing was looked at yet');
  if (isStale(look, spec, now)) return unknown('Stale', problem?.message ?? 'the last look is too old');
  return judge(look);
}

function chainReachable(input: ConditionInput): Finding {
  if (input.problem?.reason === 'Unreachable') return no('Unreachable', input.problem.message);
  return fromLook(input, ({ observation: { l1, contract, chain } }) => {
    if ('error' in l1) return no(l1.reason ?? 'L1Unreadable', l1.error);
    if (!l1.is_moving) return no('L1StandsStill', 'the time of the L1 stands still');
    if ('error' in contract) return no(contract.reason ?? 'ContractUnreadable', contract.error);
    const doubt = chain && chainDoubt(chain.facts, chain.wanted);
    const answered = 'the L1 and the contract answer';
    return yes('Reachable', doubt === undefined ? answered : `${answered}; ${doubt}`);
  });
}

function indexerCaughtUp(input: ConditionInput): Finding {
  return fromLook(input, ({ observation: { indexer, window } }) => {
    if ('error' in indexer) return no('IndexerUnreadable', indexer.error);
    switch (window?.kind) {
      case 'behind':
        return no('IndexerBehind', window.message);
      case 'missing':
        return no('IndexIncomplete', window.message);
      case 'unknown':
        return no('WindowUnknown', window.message);
      case 'error':
        return no('IndexerUnreadable', window.error);
      default:
        return yes('CaughtUp', 'everything that is to be scored is indexed');
    }
  });
}

function signerAuthorized(input: ConditionInput): Finding {
  return fromLook(input, ({ observation: { contract } }) => {
    if ('error' in contract) return unknown('ContractUnreadable', contract.error);
    return contract.is_allowed
      ? yes('Allowed', 'the signer is on the allow list of the contract')
      : no('NotAllowed', 'the signer is not on the allow list of the contract');
  });
}

function signerFunded(input: ConditionInput): Finding {
  return fromLook(input, ({ signer }) => {
    if ('error' in signer) return unknown('SignerUnreadable', signer.error);
    const dear = gasTooDear(signer);
    if (dear !== undefined) return no('GasPriceTooHigh', dear);
    if (signer.gas_price === 0n) return yes('GasIsFree', 'gas costs nothing on this rollup');
    return signer.balance > 0n
      ? yes('Funded', `the signer has ${signer.balance}`)
      : no('NoBalance', `gas costs ${signer.gas_price}, and the signer has nothing`);
  });
}

function scoreUpToDate(input: ConditionInput): Finding {
  return fromLook(input, ({ observation: { l1, contract, runs }, decision }) => {
    if ('error' in l1 || 'error' in contract) return unknown('NotObserved', 'the chains cannot be read');
    const open = openStage(contract.stages);
    if (open === undefined) return no('StageMissing', 'the contract has no open stage');
    if (!isOver(l1, open.stage)) return yes('StageRunning', `stage ${open.stage} is not over`);
    const run = runs.find(({ stage }) => stage === open.stage);
    // Also a stage that was read back is scored anew when its blocks are other ones by now.
    if (run?.is_verified && decision.kind !== 'score')
      return yes('ReadBack', `the scores of stage ${open.stage} were read back`);
    const { kind, reason, message } = describe(decision);
    return no(kind === 'score' ? 'ScorePending' : asReason(reason), message);
  });
}

function finalizationPending(input: ConditionInput): Finding {
  return fromLook(input, ({ decision }) => {
    const { finalize } = input.gates;
    const waits =
      decision.kind === 'wait' && /^(ApprovalNeeded|MarginNotOver|EmptyStage)$/.test(decision.reason);
    if (decision.kind === 'finalize' || waits) return yes(finalize.reason, finalize.message);
    return no('NothingToFinalize', describe(decision).message || 'no stage waits for being finalized');
  });
}

function degraded(input: ConditionInput): Finding {
  const { look, problem, conflicts, refusal, jobs, waiting } = input;
  if (problem?.isLasting) return yes(problem.reason, problem.message);
  if (conflicts.length > 0)
    return yes('ChildConflict', `${conflicts.join(' and ')} belong to somebody else: rename or remove them`);
  if (refusal !== undefined) return yes('ChildRefused', refusal);
  if (look?.decision.kind === 'alarm') return yes(asReason(look.decision.reason), look.decision.message);
  const dear = look && gasTooDear(look.signer);
  if (dear !== undefined) return yes('GasPriceTooHigh', dear);
  if (waiting !== undefined) return yes(waiting.reason, waiting.message);
  for (const phase of ['score', 'finalize'] as const) {
    const { failures } = jobs[phase];
    if (failures >= tooManyFailures)
      return yes(
        phase === 'score' ? 'ScoreJobFailing' : 'FinalizeJobFailing',
        `${failures} ${phase} Jobs have failed in a row`,
      );
  }
  const risk = look && deadlineRisk(look);
  if (risk !== undefined) return yes('DeadlineAtRisk', risk);
  return no('AsExpected', '');
}

function deadlineRisk({ observation: { l1, contract } }: Look): string | undefined {
  if ('error' in l1 || 'error' in contract) return undefined;
  const open = openStage(contract.stages);
  if (open === undefined || open.stage >= l1.stage) return undefined;
  const left = l1.stage_end_time - l1.l1_time;
  if (left >= Math.max(riskBefore_s, riskShare * l1.stage_interval)) return undefined;
  return `stage ${open.stage} is not finalized, and stage ${l1.stage} ends in ${Math.max(0, left)} s`;
}

function ready(input: ConditionInput, parts: Readonly<Record<string, Finding>>): Finding {
  if (input.isDeleted) return no('Draining', 'the program is deleted: its running Jobs are waited for');
  const { Degraded, ChainReachable, IndexerCaughtUp, SignerAuthorized, SignerFunded } = parts;
  if (Degraded?.status === 'True') return no(Degraded.reason, Degraded.message);
  if (input.spec.suspend) return no('Suspended', 'spec.suspend is true');
  const bad = [ChainReachable, SignerAuthorized, SignerFunded, IndexerCaughtUp].find(
    (part) => part?.status !== 'True',
  );
  // An index that has some blocks to go is no reason for alarm.
  if (bad !== undefined && bad.reason !== 'IndexerBehind')
    return { status: bad.status, reason: bad.reason, message: bad.message };
  const message = input.look === undefined ? '' : describe(input.look.decision).message;
  return yes('AsExpected', message);
}

const yes = (reason: Reason, message: string): Finding => ({ status: 'True', reason, message });
const no = (reason: Reason, message: string): Finding => ({ status: 'False', reason, message });
const unknown = (reason: Reason, message: string): Finding => ({ status: 'Unknown', reason, message });
