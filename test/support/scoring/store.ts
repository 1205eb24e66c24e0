import type { Facts } from '../../../services/scoring-operator/policy/policy.js';
import type { Score, ScoreList } from '../../../services/scoring-operator/policy/result.js';
import type {
  Check,
  LoggedDecision,
  Run,
  SeenStage,
  StageTx,
} from '../../../services/scoring-operator/store/rows.js';
import type { ScoringStore } from '../../../services/scoring-operator/store/store.js';

/** Tables in memory, which outlive the processes that use them. */
export interface MemoryTables {
  readonly seen: Map<bigint, SeenStage>;
  readonly runs: Map<bigint, Run>;
  readonly lists: Map<string, ScoreList>;
  readonly facts: Map<string, Facts>;
  readonly txs: Map<string, StageTx>;
  readonly checks: Check[];
  readonly decisions: LoggedDecision[];
  readonly policies: Map<string, string>;
}

export const emptyTables = (): MemoryTables => ({
  seen: new Map(),
  runs: new Map(),
  lists: new Map(),
  facts: new Map(),
  txs: new Map(),
  checks: [],
  decisions: [],
  policies: new Map(),
});

/**
 * A store over such tables.
 *
 * @param step called before anything is read or written: it may wait, or throw as a process that is gone.
 */
export function memoryStore(tables: MemoryTables, step: () => Promise<void>): ScoringStore {
  const after = async <T>(work: () => T): Promise<T> => {
    await step();
    return work();
  };
  const byStage = <T extends { stage: bigint }>(rows: Iterable<T>): T[] =>
    [...rows].sort((a, b) => (a.stage < b.stage ? -1 : 1));
  return {
    seenStages: () => after(() => byStage(tables.seen.values())),
    noteStage: (stage) => after(() => void tables.seen.set(stage.stage, stage)),
    forgetStage: (stage) => after(() => void tables.seen.delete(stage)),
    runs: () => after(() => byStage(tables.runs.values())),
    run: (stage) => after(() => tables.runs.get(stage)),
    saveRun: (run) => after(() => void tables.runs.set(run.stage, run)),
    savePolicy: (hash, text) => after(() => void tables.policies.set(hash, text)),
    saveFacts: (stage, hash, facts) => after(() => void tables.facts.set(`${stage} ${hash}`, facts)),
    saveList: (stage, list) => after(() => void tables.lists.set(`${stage} ${list.hash}`, list)),
    list: (stage, hash) => after(() => tables.lists.get(`${stage} ${hash}`)),
    addressScore: (stage, hash, address) =>
      after(() =>
        tables.lists.get(`${stage} ${hash}`)?.scores.find((score: Score) => score.address === address),
      ),
    txs: (stage) => after(() => [...tables.txs.values()].filter((tx) => tx.stage === stage)),
    finalizations: () =>
      after(() => {
        const runs = [...tables.runs.values()].filter(({ is_finalized }) => is_finalized);
        const txs = [...tables.txs.values()].filter(
          ({ purpose, state }) => purpose === 'finalize' && state === 'mined',
        );
        return byStage([
          ...txs.map(({ stage, tx_hash, height }) => ({ stage, tx_hash, height })),
          ...runs.map(({ stage }) => ({ stage, tx_hash: '', height: 0 })),
        ]);
      }),
    leastHeight: () => after(() => Math.max(0, ...[...tables.txs.values()].map(({ height }) => height))),
    saveTx: (tx) => after(() => void tables.txs.set(tx.tx_hash, tx)),
    saveChecks: (checks) => after(() => void tables.checks.push(...checks)),
    logDecision: (decision) => after(() => void tables.decisions.push(decision)),
    lastDecision: () => after(() => tables.decisions.at(-1)),
  };
}
