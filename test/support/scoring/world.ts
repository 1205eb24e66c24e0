import { toQuantity } from '../../../services/scoring-operator/contract/rpc.js';
import type { Rules } from '../../../services/scoring-operator/machine/types.js';
import {
  hashOfScores,
  type Score,
  type ScoreList,
  type ScoreWindow,
} from '../../../services/scoring-operator/policy/result.js';
import type { Random } from '../random.js';

/** How a contract behaves: ours, or one of those that operators have deployed. */
export type ContractKind = 'ours' | 'lenient' | 'oldest';

/** A tx of the simulated chain. */
export interface WorldTx {
  readonly hash: string;
  readonly nonce: number;
  readonly stage: bigint;
  /** undefined for a finalization. */
  readonly scores: readonly Score[] | undefined;
  state: 'pooled' | 'mined' | 'failed' | 'dropped';
  error: string;
  /** Block that it is in; 0 while it is in none. */
  height: number;
}

/** The contract and the account as they were after a block. */
export interface WorldState {
  readonly height: number;
  readonly stages: ReadonlyMap<bigint, WorldStage>;
  /** Txs of the account that were mined. */
  readonly mined: number;
}

/** How one of the nodes of the L1 lies. */
export type L1Lie = 'next stage' | 'cut stage' | 'far future' | 'drift';

export interface WorldStage {
  readonly scores: Map<string, bigint>;
  total: bigint;
  is_finalized: boolean;
}

/** Stages as the L1 had them at a time. */
export interface L1State {
  stage: bigint;
  start: number;
  end: number;
  interval: number;
  time: number;
}

const blockTime_s = 10;

const blockHash = (height: number): string => `0xb${height}`;

/**
 * An L1, a rollup and a scoring contract without any I/O, with the truth of everything. It watches every tx
 * that takes effect, and throws when one does what must never be done.
 */
export class World {
  readonly l1: L1State;
  readonly l1History: L1State[] = [];
  /** True times of stages that are over. */
  readonly truth = new Map<bigint, { start: number; end: number }>();
  readonly stages = new Map<bigint, WorldStage>();
  readonly pool: WorldTx[] = [];
  readonly txs = new Map<string, WorldTx>();
  mined = 0;
  finalizations: bigint[] = [];
  violations: string[] = [];
  /** Rules that hold now: what was allowed is judged by them. */
  rules: Rules;
  indexLag_s = 0;
  l1Faults = { isDown: false, isStanding: false, lag: 0 };
  /** What one of the L1's three nodes says that is not so. */
  l1Lie: L1Lie | undefined;
  /** Whether the L1's URLs are load balancers before nodes of which some are some blocks late. */
  isL1Balanced = false;
  /** Blocks at which replicas behind the JSON-RPC URL got stuck; beside them one is always up to date. */
  stuck: number[] = [];
  /** Seconds that some replicas of the index are behind the others. */
  indexReplicaLag_s = 0;
  /** Whether receipts name now and then another block than the one that their tx is in. */
  areReceiptsWrong = false;
  /** Stages of which rows were lost. */
  readonly lost = new Set<bigint>();
  contractDown = false;
  isAllowed = true;
  /** Whether the node is one of another chain. */
  isOtherChain = false;
  /** Whether the L1 says of stages that are over when they were. */
  saysTimes = true;
  registration: { init_stage: bigint; isOurs: boolean } | undefined;

  constructor(
    readonly random: Random,
    readonly kind: ContractKind,
    readonly initStage: bigint,
    l1Stage: bigint,
    rules: Rules,
  ) {
    const interval = 1_000;
    const start = 1_000_000;
    this.rules = rules;
    this.l1 = {
      stage: l1Stage,
      start,
      end: start + interval,
      interval,
      time: start + random.integer(interval),
    };
    for (let stage = l1Stage - 1n; stage >= 1n; stage--) {
      const end = start - Number(l1Stage - stage - 1n) * interval;
      this.truth.set(stage, { start: end - interval, end });
    }
    this.time_s = this.l1.time;
    if (kind !== 'oldest') this.open(initStage);
    this.commit();
  }

  private readonly states: WorldState[] = [];

  /** A block with what has changed. */
  private commit(): void {
    const stages = new Map(
      [...this.stages].map(([stage, own]) => [stage, { ...own, scores: new Map(own.scores) }]),
    );
    this.states.push({ height: this.newest() + 1, stages, mined: this.mined });
  }

  /** Number of the rollup's newest block: the index is never past it. */
  newest(): number {
    return Math.max(this.states.at(-1)?.height ?? 0, Math.floor(this.l1.time / blockTime_s));
  }

  /** The contract as it was after a block. */
  at(height: number): WorldState {
    return this.states.findLast((state) => state.height <= height) ?? this.states[0]!;
  }

  /** Newest block of whichever replica answers. */
  replica(): number {
    return this.random.pick([this.newest(), ...this.stuck]);
  }

  /** The receipt of a tx as whichever replica answers has it. */
  receiptOf(tx_hash: string): Readonly<Record<string, string>> | null {
    const tx = this.txs.get(tx_hash);
    if (tx === undefined || tx.height === 0 || tx.height > this.replica()) return null;
    const lie = this.random.pick([0x7f_ff_ff_ff, 2 ** 60, tx.height + 1, tx.height - 1]);
    const height = this.areReceiptsWrong && this.random.oneIn(2) ? lie : tx.height;
    return {
      blockNumber: toQuantity(BigInt(height)),
      blockHash: blockHash(tx.height),
      status: tx.state === 'mined' ? '0x1' : '0x0',
      gasUsed: '0x1',
    };
  }

  /** A block as whichever replica answers has it. */
  blockOf(height: number): { readonly hash: string; readonly transactions: readonly string[] } | null {
    if (height > this.replica()) return null;
    const transactions = [...this.txs.values()].filter((tx) => tx.height === height).map(({ hash }) => hash);
    return { hash: blockHash(height), transactions };
  }

  /** One more replica gets stuck where it is. */
  getStuck(): void {
    this.stuck.push(this.newest());
  }

  private open(stage: bigint): WorldStage {
    const opened = { scores: new Map<string, bigint>(), total: 0n, is_finalized: false };
    this.stages.set(stage, opened);
    return opened;
  }

  /** Time goes on, on the L1 and on the rollup; pooled txs may be mined. */
  pass(seconds: number): void {
    this.l1History.push({ ...this.l1 });
    if (this.l1History.length > 50) this.l1History.shift();
    if (!this.l1Faults.isStanding) this.l1.time += seconds;
    this.time_s += seconds;
  }
  /** The rollup's own time, which is also that of this machine: it does not stop with the L1. */
  time_s: number;

  /** What somebody does on the L1 once a stage has ended. */
  nextStage(interval = this.l1.interval): void {
    if (this.l1.time < this.l1.end) return;
    this.truth.set(this.l1.stage, { start: this.l1.start, end: this.l1.end });
    this.l1.stage += 1n;
    this.l1.start = this.l1.end;
    this.l1.interval = interval;
    this.l1.end += interval;
  }

  /** What a person who knows may tell of stages that are over. */
  told(): { stage: bigint; start_time: number; end_time: number }[] {
    return [...this.truth].map(([stage, { start, end }]) => ({ stage, start_time: start, end_time: end }));
  }

  trueTimes(stage: bigint): { start: number; end: number } | undefined {
    return stage === this.l1.stage ? this.l1 : this.truth.get(stage);
  }

  /** Blocks by time: block h has the time 10 h. */
  windowOf(stage: bigint, start: number, end: number): ScoreWindow {
    const from_height = Math.ceil(start / blockTime_s);
    return {
      stage,
      start_time: start,
      end_time: end,
      from_height,
      to_height: Math.ceil(end / blockTime_s) - 1,
    };
  }

  /** What whichever replica of the index answers has reached. */
  indexHead(lag_s = this.random.pick([0, this.indexReplicaLag_s])): { height: number; time: number } {
    const time = this.l1.time - this.indexLag_s - lag_s;
    const height = Math.floor(time / blockTime_s);
    return { height, time: height * blockTime_s };
  }

  /** Heights from which on the rollup was rolled back, and has other blocks since. */
  private readonly forks: number[] = [];

  /** The rollup is rolled back by so many blocks; those that come instead are there at once. */
  rollback(blocks: number): void {
    this.forks.push(this.indexHead(0).height - blocks);
  }

  private branchOf(height: number): number {
    return this.forks.filter((fork) => fork <= height).length;
  }

  hashOf(height: number): string {
    return `${height}/${this.branchOf(height)}`;
  }

  /** The scores of a window: a function of its blocks only; every ninth window is empty. */
  scoresOf({ from_height, to_height }: ScoreWindow): ScoreList {
    const seed = from_height * 7 + to_height * 13 + this.branchOf(to_height) * 17;
    const count = seed % 9 === 0 ? 0 : (seed % 5) + 1;
    const scores = Array.from({ length: count }, (_, index) => ({
      address: `0x${((seed + index * 977) % 0xffff).toString(16).padStart(40, 'a')}`,
      amount: BigInt((seed * (index + 3)) % 1000) + 1n,
    })).sort((a, b) => (a.address < b.address ? -1 : 1));
    const unique = scores.filter((score, index) => score.address !== scores[index - 1]?.address);
    return {
      scores: unique,
      total: unique.reduce((sum, s) => sum + s.amount, 0n),
      hash: hashOfScores(unique),
    };
  }

  /** What has to be in the contract before a stage is finalized. */
  expected(stage: bigint): ScoreList | undefined {
    const times = this.trueTimes(stage);
    return times && this.scoresOf(this.windowOf(stage, times.start, times.end));
  }

  broadcast(tx: WorldTx): void {
    // Of nodes that are late, time moves until they have caught up, also while the L1 stands still.
    const isLate = this.isL1Balanced || this.l1Faults.lag > 0;
    if (this.l1Faults.isDown || (this.l1Faults.isStanding && !isLate))
      this.violations.push(`stage ${tx.stage}: sent while the L1 could not be read`);
    if (this.isOtherChain) this.violations.push(`stage ${tx.stage}: sent to another chain`);
    if (this.replica() < this.newest()) {
      // A stuck replica takes it, and nobody else ever sees it.
      tx.state = 'dropped';
      this.txs.set(tx.hash, tx);
      return;
    }
    if (tx.nonce < this.mined) throw new Error('nonce too low');
    if (this.pool.some((other) => other.nonce === tx.nonce))
      throw new Error('replacement transaction underpriced');
    this.pool.push(tx);
    this.txs.set(tx.hash, tx);
  }

  /** What one of the L1's nodes says: the truth, or what it knows of it, or a lie. */
  l1Says(node: number): L1State {
    const late = this.isL1Balanced && this.random.oneIn(3) ? this.random.integer(3) : 0;
    const lag = Math.max(this.l1Faults.lag, late);
    const state = lag > 0 ? (this.l1History.at(-1 - lag) ?? this.l1) : this.l1;
    if (node !== 0) return { ...state };
    switch (this.l1Lie) {
      case 'next stage':
        return { ...state, stage: state.stage + 1n, start: state.time - 5, end: state.time + 5_000 };
      case 'cut stage':
        return { ...state, start: Math.min(state.start, state.time - 700), end: state.time - 600 };
      case 'far future':
        return { ...state, time: state.time + 1_000_000_000 };
      case 'drift':
        return { ...state, time: state.time + 100 };
      default:
        return { ...state };
    }
  }

  /** When a stage was, as one of the L1's nodes says it. */
  l1TimesOf(node: number, stage: bigint): { start_time: number; end_time: number } | undefined {
    const times = this.saysTimes ? this.truth.get(stage) : undefined;
    if (times === undefined) return undefined;
    const isLie = node === 0 && (this.l1Lie === 'cut stage' || this.l1Lie === 'next stage');
    return { start_time: times.start, end_time: isLie ? times.end - 300 : times.end };
  }

  /** Mines what can be mined. */
  mine(): void {
    for (;;) {
      const at = this.pool.findIndex((tx) => tx.nonce === this.mined);
      if (at < 0) return;
      const [tx] = this.pool.splice(at, 1);
      this.mined += 1;
      try {
        if (tx!.scores === undefined) this.finalize(tx!.stage);
        else this.update(tx!.stage, tx!.scores);
        tx!.state = 'mined';
      } catch (error) {
        tx!.state = 'failed';
        tx!.error = (error as Error).message;
      }
      this.commit();
      tx!.height = this.newest();
    }
  }

  /** Somebody else with a right to writes a score to the open stage. */
  interfere(): void {
    const open = [...this.stages].find(([, own]) => !own.is_finalized)?.[0];
    if (open === undefined || this.pool.length > 0) return;
    const address = `0x${this.random.integer(9).toString().repeat(40)}`;
    this.update(open, [{ address, amount: BigInt(this.random.integer(100)) }]);
    this.commit();
  }

  /** Somebody else with a right to writes scores at once. */
  writeAsSomebodyElse(stage: bigint, scores: readonly Score[]): void {
    this.update(stage, scores);
    this.commit();
  }

  /** Somebody else finalizes a stage, which nobody judges. */
  finalizeAsSomebodyElse(stage: bigint): void {
    this.stages.get(stage)!.is_finalized = true;
    this.open(stage + 1n);
    this.commit();
  }

  /** The node forgets what waits: a restart without its pool. */
  dropPool(): void {
    for (const tx of this.pool.splice(0)) tx.state = 'dropped';
  }

  private update(stage: bigint, scores: readonly Score[]): void {
    if (!this.isAllowed) throw new Error('PermissionDenied');
    // The oldest contracts open a stage when it is written to.
    const own = this.stages.get(stage) ?? (this.kind === 'oldest' ? this.open(stage) : undefined);
    if (own === undefined) throw new Error('StageNotFound');
    if (own.is_finalized) throw new Error('StageFinalized');
    for (const { address, amount } of scores) {
      own.total += amount - (own.scores.get(address) ?? 0n);
      own.scores.set(address, amount);
    }
  }

  private finalize(stage: bigint): void {
    const own = this.stages.get(stage);
    if (!this.isAllowed) throw new Error('PermissionDenied');
    if (own === undefined) throw new Error('StageNotFound');
    if (own.is_finalized && this.kind === 'ours') throw new Error('StageFinalized');
    this.judge(stage, own);
    own.is_finalized = true;
    this.finalizations.push(stage);
    if (this.kind !== 'oldest') this.open(stage + 1n);
  }

  /** Whether this finalization was right at this moment. */
  private judge(stage: bigint, own: WorldStage): void {
    const wrong = (what: string): void => void this.violations.push(`stage ${stage}: ${what}`);
    const { l1, rules } = this;
    if (own.is_finalized) wrong('finalized twice');
    if (stage > l1.stage || (stage === l1.stage && l1.time < l1.end + rules.margin_s)) wrong('still running');
    const last = this.finalizations.at(-1) ?? this.initStage - 1n;
    if (stage !== last + 1n) wrong(`finalized after ${last}`);
    const expected = this.expected(stage);
    const found = [...own.scores]
      .filter(([, amount]) => amount > 0n)
      .map(([address, amount]) => ({ address, amount }))
      .sort((a, b) => (a.address < b.address ? -1 : 1));
    if (expected?.hash !== hashOfScores(found)) wrong('its scores are not those of the policy');
    if (own.total !== expected?.total) wrong('its total is not that of the policy');
    if (found.length === 0 && !rules.allow_empty.includes(stage)) wrong('empty without anybody saying so');
    if (rules.approval === 'Manual' && (rules.approved_stage ?? 0n) < stage) wrong('not approved');
    if (rules.approval === 'Manual' && rules.approved_list !== expected?.hash)
      wrong('another list is approved');
    if (rules.stop_at_stage !== undefined && stage > rules.stop_at_stage) wrong('beyond the last one wanted');
    if (this.registration && (!this.registration.isOurs || this.initStage > this.registration.init_stage))
      wrong('another contract is registered');
  }
}
