import { messageOf } from '../../common/runtime/errors.js';
import type { Run } from '../store/rows.js';
import type { Hands } from './act.js';
import { newestState } from './contract-stages.js';
import { openStage } from './decide.js';
import { settleTxs } from './txs.js';
import type { Observation } from './types.js';
import { compare, toChecks } from './verify.js';

/**
 * Writes down that stages are finalized of which our tables do not know it: a process was killed after it had sent,
 * or somebody else was faster. What cannot be read now is left to the next look.
 *
 * @throws what the tables throw.
 */
export async function catchUpWithFinalized(
  hands: Hands,
  { contract, runs }: Observation,
  signal?: AbortSignal,
): Promise<void> {
  const open = 'error' in contract ? undefined : openStage(contract.stages);
  if (open === undefined) return;
  for (const known of runs.filter((run) => !run.is_finalized && run.stage < open.stage)) {
    const run = await hands.store.run(known.stage);
    if (run !== undefined) await noteFinalized(hands, run, signal);
  }
}

/** Writes down a stage that was found finalized, with what its txs came to and whether it has the scores of our list. */
export async function noteFinalized(hands: Hands, run: Run, signal?: AbortSignal): Promise<void> {
  const { contract, store, clock, log } = hands;
  const { stage, list_hash } = run;
  const found = await look(hands, stage, signal).catch((error: unknown) => {
    log.warn({ stage: String(stage) }, `what was finalized cannot be read now: ${messageOf(error)}`);
  });
  if (found?.stage?.is_finalized !== true) return;
  const list = await store.list(stage, list_hash);
  const checks = list === undefined ? [] : compare(list, found.scores, found.stage);
  const wrong = checks.filter((check) => !check.is_ok).map(({ name }) => name);
  const error =
    wrong.length === 0
      ? ''
      : `stage ${stage} was finalized with other scores than those of the list: ${wrong.join(', ')}`;
  if (error !== '') log.error({ stage: String(stage), contract: contract.address }, error);
  const known = { name: 'finalized', is_ok: true, expected: 'true', found: 'true' };
  await store.saveChecks(toChecks([...checks, known], stage, list_hash, clock.now()));
  const is_verified = run.is_verified && error === '';
  await store.saveRun({ ...run, is_verified, is_finalized: true, error, updated_at: clock.now() });
}

async function look(hands: Hands, stage: bigint, signal?: AbortSignal) {
  await settleTxs(hands, stage, signal);
  const state = await newestState(hands, signal);
  return { scores: await state.scores(stage), stage: await state.stage(stage) };
}
