import { UserError } from '../../services/common/runtime/errors.js';
import type { Program } from '../../services/scoring-operator/program/program.js';
import { openScoringStore, type ScoringStore } from '../../services/scoring-operator/store/store.js';
import { createProgramFence, type ProgramFenceOptions } from '../../services/scoring-operator/tables.js';
import { findProgram } from './find-program.js';
import { time } from './print.js';

/** Where the rows of programs are. */
export type ForgetOptions = Omit<ProgramFenceOptions, 'program'>;

/** Changes the rows of a program as their one writer. @throws UserError while another process writes them. */
async function changing(
  program: Program,
  options: ForgetOptions,
  change: (store: ScoringStore, name: string) => Promise<string>,
): Promise<string> {
  const { database, database_name, lease_ms } = options;
  const name = await findProgram(program, database, database_name);
  const fence = createProgramFence({ ...options, program: name });
  if (!(await fence.acquire(AbortSignal.timeout(2 * lease_ms))))
    throw new UserError(`another process scores ${name}: stop it, then try again`);
  try {
    return await change(await openScoringStore(fence.over(database), database_name, name), name);
  } finally {
    await fence.release();
  }
}

/** @throws UserError for anything but a number. */
function numberOf(text: string, option: string, of: 'stage' | 'block'): bigint {
  if (!/^\d{1,20}$/.test(text)) throw new UserError(`${option} needs the number of a ${of}`);
  return BigInt(text);
}

/**
 * Forgets that a stage was finalized, after the rollup itself was rolled back past it: our own tables veto a second
 * finalization otherwise. The txs of it count as replaced.
 *
 * @returns what was forgotten, in words.
 * @throws UserError for a stage that the tables do not say is finalized, or that is not the last one.
 */
export async function forgetFinalized(
  program: Program,
  text: string,
  options: ForgetOptions,
  now = Date.now(),
): Promise<string> {
  const stage = numberOf(text, '--forget-finalized', 'stage');
  return changing(program, options, async (store, name) => {
    const known = await store.finalizations();
    if (!known.some((one) => one.stage === stage))
      throw new UserError(`the tables do not say that stage ${stage} is finalized`);
    const last = known.at(-1)!;
    if (last.stage !== stage)
      throw new UserError(`stage ${last.stage} is finalized too: the last one has to be forgotten first`);
    const txs = (await store.txs(stage)).filter(({ state }) => state === 'mined');
    for (const tx of txs) await store.saveTx({ ...tx, state: 'replaced', height: 0, updated_at: now });
    const run = await store.run(stage);
    if (run !== undefined)
      await store.saveRun({ ...run, is_verified: false, is_finalized: false, updated_at: now });
    return `forgotten: that stage ${stage} of ${name} is finalized\n`;
  });
}

/**
 * Forgets when the L1 was seen in a stage, after it was believed wrongly: an L1 that says a lower stage than one that was
 * seen is not believed any more. Nothing that was sent is forgotten.
 *
 * @returns what was forgotten, in words.
 * @throws UserError for a stage that was not seen, or for which a tx was signed that may be on the chain.
 */
export async function forgetStage(program: Program, text: string, options: ForgetOptions): Promise<string> {
  const stage = numberOf(text, '--forget-stage', 'stage');
  return changing(program, options, async (store, name) => {
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
  });
}

/**
 * Forgets the blocks that receipts have named from one on, after they were believed wrongly, or after the rollup was rolled
 * back: no node is believed before it has reached the highest of them. What became of the txs is not forgotten.
 *
 * @returns what was forgotten, in words.
 * @throws UserError where no receipt has named such a block.
 */
export async function forgetHeight(
  program: Program,
  text: string,
  options: ForgetOptions,
  now = Date.now(),
): Promise<string> {
  const height = numberOf(text, '--forget-height', 'block');
  if (height === 0n) throw new UserError('--forget-height needs the number of a block, from 1');
  return changing(program, options, async (store, name) => {
    const runs = await store.runs();
    const txs = (await Promise.all(runs.map(({ stage }) => store.txs(stage)))).flat();
    const named = txs.filter((tx) => BigInt(tx.height) >= height);
    if (named.length === 0)
      throw new UserError(
        `no receipt has named block ${height} or a later one; the highest is ${await store.leastHeight()}`,
      );
    for (const tx of named) await store.saveTx({ ...tx, height: 0, updated_at: now });
    return `forgotten: the blocks from ${height} on of ${named.length} receipts of ${name}\n`;
  });
}
