import { UserError } from '../../services/common/errors.js';
import type { Program } from '../../services/scoring-operator/program/program.js';
import { openScoringStore, type ScoringStore } from '../../services/scoring-operator/store/store.js';
import { createProgramFence, type ProgramFenceOptions } from '../../services/scoring-operator/tables.js';
import { findProgram } from './find-program.js';
import { time } from './print.js';

/**
 * Forgets when the L1 was seen in a stage, after it was believed wrongly: an L1 that says a lower stage than one that was
 * seen is not believed any more. Nothing that was sent is forgotten.
 *
 * @returns what was forgotten, in words.
 * @throws UserError for a stage that was not seen, or for which a tx was signed that may be on the chain.
 */
export async function forgetStage(
  program: Program,
  text: string,
  options: Omit<ProgramFenceOptions, 'program'>,
): Promise<string> {
  if (!/^\d{1,20}$/.test(text)) throw new UserError('--forget-stage needs the number of a stage');
  const stage = BigInt(text);
  const { database, database_name, lease_ms } = options;
  const name = await findProgram(program, database, database_name);
  const fence = createProgramFence({ ...options, program: name });
  if (!(await fence.acquire(AbortSignal.timeout(2 * lease_ms))))
    throw new UserError(`another process scores ${name}: stop it, then try again`);
  try {
    return await forget(await openScoringStore(fence.over(database), database_name, name), stage, name);
  } finally {
    await fence.release();
  }
}

async function forget(store: ScoringStore, stage: bigint, name: string): Promise<string> {
  const seen = (await store.seenStages()).find((one) => one.stage === stage);
  if (seen === undefined) throw new UserError(`the L1 was never seen in stage ${stage}`);
  const sent = (await store.txs(stage)).filter(({ state }) => state !== 'replaced');
  const [first] = sent;
  if (first !== undefined)
    throw new UserError(
      `for stage ${stage} ${sent.length} txs were sent, the first ${first.tx_hash || `with nonce ${first.nonce}`}: it is not forgotten. Say in the program when it was (windows)`,
    );
  await store.forgetStage(stage);
  return `forgotten: stage ${stage} from ${time(seen.start_time)} to ${time(seen.end_time)} of ${name}\n`;
}
