import { parseAccount } from '../../common/chain/address.js';
import { NodeError } from '../../common/chain/endpoints.js';
import { messageOf } from '../../common/runtime/errors.js';
import type { ContractStage } from '../contract/contract.js';
import type { Clock, L1Client } from '../l1/client.js';
import type { SeenStage } from '../store/rows.js';
import type { ScoringStore } from '../store/store.js';
import type { ChainLook } from './chain.js';
import { findFirstStage, readStages } from './contract-stages.js';
import { isOver, openStage } from './decide.js';
import { believedL1 } from './l1-belief.js';
import type { ContractReads, Index, ScorePolicy } from './ports.js';
import { timesOf } from './times.js';
import type { KnownRun, L1Stage, Observation, OpenWindow, Registration, Unread } from './types.js';

/** What is looked at. */
export interface Eyes {
  readonly l1: L1Client;
  readonly contract: ContractReads;
  readonly chain: ChainLook;
  /** The account that writes, 0x hex. */
  readonly account: string;
  readonly index: Index;
  readonly store: ScoringStore;
  readonly policy: Pick<ScorePolicy, 'hash'>;
  /** The rollup's bridge on the L1; undefined when registration is not to be compared. */
  readonly bridge_id: bigint | undefined;
  /** First stage to care for; undefined: what the contract says. */
  readonly start_stage: bigint | undefined;
  /** Stages whose times a person has told. */
  readonly windows: readonly SeenStage[];
  /** Whether stages of which nothing is known are counted back in intervals. */
  readonly count_intervals: boolean;
  readonly clock: Clock;
  /** Prefix of bech32 accounts. */
  readonly account_prefix: string;
}

/** Looks at everything. Never throws, except when our own tables cannot be read or written. */
export async function observe(eyes: Eyes, signal?: AbortSignal): Promise<Observation> {
  const seen = await eyes.store.seenStages();
  const l1 = await lookAtL1(eyes, seen, signal);
  const runs = await knownRuns(eyes);
  const finalized = await eyes.store.finalizations();
  const receipts = await eyes.store.leastHeight();
  const current = 'error' in l1 ? undefined : l1;
  const indexer = await eyes.index.head(signal).catch((error) => ({ error: messageOf(error) }));
  const indexed = 'error' in indexer ? 0 : indexer.height;
  const at_least = Math.max(receipts, indexed);
  // A stage above it is not looked at: whatever the contract says, the L1 has not come to it.
  const newest = (current?.stage ?? seen.at(-1)?.stage ?? 0n) + 1n;
  const contract = await lookAtContract(eyes, { current, newest, runs, at_least }, signal).catch(
    (error: unknown) => unreadContract(error, receipts > indexed ? receipts : undefined),
  );
  const open = 'error' in contract ? undefined : openStage(contract.stages);
  const wantsWindow = open !== undefined && current !== undefined && isOver(current, open.stage);
  return {
    now: Math.floor(eyes.clock.now() / 1000),
    l1,
    contract,
    indexer,
    runs,
    finalized,
    chain: { wanted: eyes.chain.wanted, facts: await eyes.chain.look(signal) },
    registration: current === undefined ? undefined : await lookAtRegistration(eyes, signal),
    window: wantsWindow ? await windowOf(eyes, open.stage, current, seen, signal) : undefined,
  };
}

/** The L1, and a note of when its stage is. What is not believed is not noted. */
async function lookAtL1(
  eyes: Eyes,
  seen: readonly SeenStage[],
  signal?: AbortSignal,
): Promise<Observation['l1']> {
  const look = await believedL1(eyes, seen, signal);
  if ('error' in look) return look;
  const now = { stage: look.stage, start_time: look.stage_start_time, end_time: look.stage_end_time };
  const last = seen.at(-1);
  const isKnown =
    last?.stage === now.stage && last.start_time === now.start_time && last.end_time === now.end_time;
  // What a standing or old node says is not kept.
  if (!isKnown && look.is_moving) await eyes.store.noteStage(now);
  return look;
}

/** Runs; one that was made with another policy is as good as none. */
async function knownRuns({ store, policy, windows }: Eyes): Promise<KnownRun[]> {
  return (await store.runs()).map((run) => {
    const told = windows.find((window) => window.stage === run.stage);
    const isSameWindow =
      told === undefined ||
      (told.start_time === run.window.start_time && told.end_time === run.window.end_time);
    return {
      stage: run.stage,
      window: run.window,
      to_hash: run.to_hash,
      list_hash: run.list_hash,
      score_count: run.score_count,
      is_finalized: run.is_finalized,
      is_verified: run.is_verified && run.policy_hash === policy.hash && isSameWindow,
    };
  });
}

/** @param receipts block that is waited for because a receipt has named it; undefined for any other. */
function unreadContract(error: unknown, receipts: number | undefined): Unread {
  if (!(error instanceof NodeError) || error.reason !== 'behind') return { error: messageOf(error) };
  const wayOut =
    receipts === undefined
      ? ''
      : `. A receipt has named block ${receipts}: if the rollup is not there yet, let it be forgotten (weft score --forget-height ${receipts})`;
  return { error: `${error.message}${wayOut}`, reason: 'NodeBehind' };
}

/** What a look at the contract goes by. */
interface ContractLook {
  readonly current: L1Stage | undefined;
  /** Newest stage that is looked at. */
  readonly newest: bigint;
  readonly runs: readonly KnownRun[];
  /** A node that has not reached this block is not believed. */
  readonly at_least: number;
}

/** The contract at one block. */
async function lookAtContract(
  { contract: all, account, start_stage }: Eyes,
  { current, newest, runs, at_least }: ContractLook,
  signal?: AbortSignal,
): Promise<Observation['contract']> {
  const contract = all.at(await all.head(at_least, signal), signal);
  const { height } = contract;
  const init_stage = await contract.initStage();
  const first =
    init_stage ?? start_stage ?? (current === undefined ? undefined : await findFirstStage(contract, newest));
  const is_allowed = await contract.isAllowed(account);
  if (first === undefined) return { init_stage, first_stage: first, stages: [], is_allowed, height };
  // What we finalized ourselves need not be looked at again, as long as the contract still says so.
  const done = runs.filter((run) => run.is_finalized && run.stage > first).at(-1)?.stage ?? first;
  const last = await readStages(contract, done, newest);
  const isSame = done === first || last[0]?.is_finalized === true;
  const stages = isSame ? last : await readStages(contract, first, newest);
  return {
    init_stage,
    first_stage: first,
    stages: init_stage === undefined ? withNext(stages, first) : stages,
    is_allowed,
    height,
  };
}

/** The oldest contracts open a stage when scores are written to it: the next one is as good as open. */
function withNext(stages: readonly ContractStage[], first: bigint): ContractStage[] {
  if (openStage(stages) !== undefined) return [...stages];
  const stage = (stages.at(-1)?.stage ?? first - 1n) + 1n;
  return [...stages, { stage, total_score: 0n, is_finalized: false }];
}

async function lookAtRegistration(
  { l1, bridge_id, contract, account_prefix }: Eyes,
  signal?: AbortSignal,
): Promise<Registration> {
  if (bridge_id === undefined) return { kind: 'unchecked' };
  try {
    const info = await l1.registration(bridge_id, signal);
    if (info === undefined) return { kind: 'unregistered' };
    const registered = info.vip_l2_score_contract;
    const key = parseAccount(registered, account_prefix) ?? registered.toLowerCase();
    return {
      kind: 'registered',
      version: info.version,
      init_stage: info.init_stage,
      is_ours: key === parseAccount(contract.address, account_prefix),
      contract: registered,
    };
  } catch (error) {
    return { kind: 'error', error: messageOf(error) };
  }
}

async function windowOf(
  { l1, index, windows, count_intervals }: Eyes,
  stage: bigint,
  current: L1Stage,
  seen: readonly SeenStage[],
  signal?: AbortSignal,
): Promise<OpenWindow> {
  try {
    const known = { current, seen, told: windows, may_count: false };
    let times = timesOf(stage, known);
    if (typeof times === 'string')
      times = timesOf(stage, {
        ...known,
        said: await l1.stageTimes(stage, signal),
        may_count: count_intervals,
      });
    if (typeof times === 'string') return { kind: 'unknown', message: times };
    const found = await index.window(stage, times.start_time, times.end_time, signal);
    return found.kind === 'complete' ? { ...found, kind: 'known' } : found;
  } catch (error) {
    return { kind: 'error', error: messageOf(error) };
  }
}
