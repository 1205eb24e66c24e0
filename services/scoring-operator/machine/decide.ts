import type { ContractStage } from '../contract/contract.js';
import { chainMistake, chainUnknown } from './chain.js';
import type { Decision, KnownRun, L1Stage, Observation, Rules, StageBlocks } from './types.js';
import { isSame } from './verify.js';

/*
 * What holds for every decision, whatever was observed:
 *
 * 1. Stages come from the L1. A stage is finalized only when the L1 is past it, or when the L1's own
 *    time is past its end by a margin; the time of this machine decides nothing.
 * 2. Whatever cannot be read is waited for. An L1 whose time stands still cannot be read.
 * 3. It is always the contract's oldest open stage that is worked on: none is skipped.
 * 4. A stage is finalized only after its list was read back from the contract, and while its blocks are still those
 *    that the list was computed from.
 * 5. Nothing is sent while the index and the nodes are of different chains, or while that cannot be told.
 * 6. What our own tables say is finalized is never scored or finalized again, whatever the contract says.
 * 7. What a person has to judge is an alarm, and nothing is sent while there is one.
 */

/** One step: a decision that ends the chain, or nothing to say. */
type Step = Decision | undefined;

/** The L1 and the contract, both readable. */
interface Seen {
  readonly l1: L1Stage;
  readonly init_stage: bigint | undefined;
  readonly first_stage?: bigint | undefined;
  readonly stages: readonly ContractStage[];
  readonly is_allowed: boolean;
}

/** What to do next. A pure function: the same observation gives the same decision. */
export function decide(observation: Observation, rules: Rules): Decision {
  const { l1, contract } = observation;
  if ('error' in l1)
    return l1.reason === undefined
      ? wait('L1Unreadable', `the L1 cannot be read: ${l1.error}`)
      : wait(l1.reason, l1.error);
  if (!l1.is_moving) return wait('L1StandsStill', `the time of the L1 stands still at ${utc(l1.l1_time)}`);
  const { chain } = observation;
  const mistake = chain && chainMistake(chain.facts, chain.wanted);
  // Before the contract: on another chain there is none, or another one.
  if (mistake !== undefined) return alarm('OtherChain', mistake);
  if ('error' in contract)
    return wait(contract.reason ?? 'ContractUnreadable', `the contract cannot be read: ${contract.error}`);
  const seen: Seen = { l1, ...contract };
  return (
    checkRegistration(observation, rules, seen) ??
    checkStages(seen) ??
    checkTables(observation, seen) ??
    decideOpen(observation, rules, seen)
  );
}

function checkRegistration(
  { registration }: Observation,
  { vip_version }: Rules,
  { init_stage, first_stage, stages }: Seen,
): Step {
  if (registration === undefined || registration.kind === 'unchecked' || registration.kind === 'unregistered')
    return undefined;
  if (registration.kind === 'error')
    return wait('L1Unreadable', `the registration on the L1 cannot be read: ${registration.error}`);
  if (!registration.is_ours)
    return alarm(
      'OtherContractRegistered',
      `the L1 has registered the contract ${registration.contract}, not this one`,
    );
  if (vip_version !== undefined && registration.version !== vip_version)
    return alarm(
      'OtherVersion',
      `the L1 has version ${registration.version} of the registration in force, and the program is for version ${vip_version}`,
    );
  const first = init_stage ?? first_stage ?? stages[0]?.stage;
  if (first !== undefined && first > registration.init_stage)
    return alarm(
      'InitStageTooLate',
      `the contract begins with stage ${first}, but the rollup takes part since stage ${registration.init_stage}`,
    );
  return undefined;
}

/** Whether the stages of the contract are ones that this program can have come to. */
function checkStages({ l1, stages, is_allowed }: Seen): Step {
  const early = stages.find(
    ({ stage, is_finalized }) => is_finalized && stage >= l1.stage && !isOver(l1, stage),
  );
  if (early !== undefined)
    return alarm(
      'FinalizedTooEarly',
      `stage ${early.stage} is finalized in the contract, but the L1 is in stage ${l1.stage} until ${utc(l1.stage_end_time)}: somebody else finalizes it, or the node gives wrong answers`,
    );
  if (openStage(stages) === undefined)
    return alarm(
      'StageMissing',
      stages.length === 0
        ? 'no stage of the contract is found near that of the L1: it is no scoring contract, or one of the oldest, whose first stage a person has to tell (start_stage)'
        : `stage ${stages.at(-1)!.stage} is finalized, and the contract has opened no further one`,
    );
  if (!is_allowed)
    return alarm('NotAllowed', 'the signer is not on the allow list of the contract, so it may not write');
  return undefined;
}

/** Whether our own tables agree that the oldest open stage is open: what they know is a veto. */
function checkTables({ finalized = [] }: Observation, { stages }: Seen): Step {
  const { stage } = openStage(stages)!;
  const known = finalized.find((one) => one.stage >= stage);
  if (known === undefined) return undefined;
  const block = known.height === 0 ? '' : ` in block ${known.height}`;
  const proof = known.tx_hash === '' ? '' : ` by tx ${known.tx_hash}${block}`;
  return alarm(
    'FinalizedBefore',
    `the tables say that stage ${known.stage} is finalized${proof}, and the contract says that stage ${stage} is open: the node gives wrong answers, or the rollup was rolled back. If it was, let it be forgotten (weft score --forget-finalized ${known.stage})`,
  );
}

/** What the oldest open stage needs. */
function decideOpen(observation: Observation, rules: Rules, { l1, stages }: Seen): Decision {
  const { stage } = openStage(stages)!;
  if (rules.stop_at_stage !== undefined && stage > rules.stop_at_stage)
    return {
      kind: 'nothing',
      reason: 'Stopped',
      message: `stages after ${rules.stop_at_stage} are not wanted`,
    };
  if (stage > l1.stage)
    return { kind: 'nothing', reason: 'StageNotBegun', message: `the L1 is still in stage ${l1.stage}` };
  if (stage < l1.stage && !hasBegun(l1))
    return wait(
      'L1Unreadable',
      `the L1 contradicts itself: stage ${l1.stage} begins at ${utc(l1.stage_start_time)}, and its time is ${utc(l1.l1_time)}`,
    );
  if (!isOver(l1, stage))
    return {
      kind: 'nothing',
      reason: 'StageRunning',
      message: `stage ${stage} runs until ${utc(l1.stage_end_time)}`,
      until: l1.stage_end_time,
    };
  const run = observation.runs.find((known) => known.stage === stage);
  const next = score(observation, stage);
  if (next.kind !== 'score' || run === undefined || !isScored(run, next)) return next;
  if (run.score_count === 0 && !rules.allow_empty.includes(stage))
    return wait(
      'EmptyStage',
      `nobody has a score in stage ${stage}: it is finalized empty only on a person's word (allow_empty)`,
    );
  if (rules.approval === 'Manual' && !isApproved(rules, stage, run.list_hash))
    return wait(
      'ApprovalNeeded',
      `stage ${stage} is scored and read back: its finalization waits for the approval of its list ${run.list_hash} (approved_stage ${stage}, approved_list)`,
    );
  if (!isClosable(l1, stage, rules.margin_s))
    return wait(
      'MarginNotOver',
      `stage ${stage} has ended, it is finalized ${rules.margin_s} s after its end`,
      l1.stage_end_time + rules.margin_s,
    );
  return { kind: 'finalize', stage, list_hash: run.list_hash };
}

/** Whether a person has approved this very list: one that was computed later needs another approval. */
function isApproved({ approved_stage, approved_list }: Rules, stage: bigint, list_hash: string): boolean {
  return approved_stage !== undefined && approved_stage >= stage && approved_list === list_hash;
}

/** Whether a stage was scored from these blocks and read back: not from others, which a rollback has replaced. */
function isScored({ list_hash, is_verified, window, to_hash }: KnownRun, blocks: StageBlocks): boolean {
  if (list_hash === '' || !is_verified || window === undefined) return false;
  return to_hash === blocks.to_hash && isSame(window, blocks.window);
}

/** Scores a stage once everything of it is indexed. */
function score({ indexer, window, chain }: Observation, stage: bigint): Decision {
  if ('error' in indexer) return wait('IndexerUnreadable', `the index cannot be read: ${indexer.error}`);
  const unknown = chain && chainUnknown(chain.facts);
  if (unknown !== undefined) return wait('ChainUnknown', unknown);
  if (window === undefined)
    return wait('IndexerUnreadable', `the blocks of stage ${stage} were not looked up`);
  if (window.kind === 'error')
    return wait('IndexerUnreadable', `the blocks of stage ${stage} cannot be looked up: ${window.error}`);
  if (window.kind === 'unknown') return wait('WindowUnknown', window.message);
  if (window.kind === 'missing') return wait('IndexIncomplete', window.message);
  if (window.kind === 'behind')
    return wait('IndexerBehind', `stage ${stage} is over, but not indexed to its end: ${window.message}`);
  const { end_time, to_height } = window.window;
  if (end_time > indexer.time || to_height >= indexer.height)
    return wait(
      'IndexerBehind',
      `stage ${stage} ended at ${utc(end_time)}, the index has reached block ${indexer.height} of ${utc(indexer.time)}`,
    );
  return { kind: 'score', stage, window: window.window, to_hash: window.to_hash };
}

/** The oldest stage of the contract that is not finalized. */
export function openStage(stages: readonly ContractStage[]): ContractStage | undefined {
  return stages.find((stage) => !stage.is_finalized);
}

/**
 * Whether the L1's time is within or past the stage that it names. A stage begins where the one before ends, so
 * otherwise one of the two is wrong, and the stage before may still be running.
 */
function hasBegun(l1: L1Stage): boolean {
  return l1.l1_time >= l1.stage_start_time;
}

/** Whether a stage has ended by the L1: it names a later one, or its time is past the end. */
export function isOver(l1: L1Stage, stage: bigint): boolean {
  return (stage < l1.stage && hasBegun(l1)) || (stage === l1.stage && l1.l1_time >= l1.stage_end_time);
}

/** Whether a stage may be finalized. */
export function isClosable(l1: L1Stage, stage: bigint, margin_s: number): boolean {
  return (
    (stage < l1.stage && hasBegun(l1)) || (stage === l1.stage && l1.l1_time >= l1.stage_end_time + margin_s)
  );
}

const alarm = (reason: string, message: string): Decision => ({ kind: 'alarm', reason, message });

function wait(reason: string, message: string, until?: number): Decision {
  return { kind: 'wait', reason, message, ...(until === undefined ? {} : { until }) };
}

/** Unix seconds as people read them. */
export function utc(seconds: number): string {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? String(seconds) : `${date.toISOString().slice(0, 19)}Z`;
}
