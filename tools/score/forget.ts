import type { Database } from '../../services/common/clickhouse/database.js';
import { UserError } from '../../services/common/errors.js';
import type { Program } from '../../services/scoring-operator/program/program.js';
import { openScoringStore } from '../../services/scoring-operator/store/store.js';
import { findProgram } from './find-program.js';
import { time } from './print.js';

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
  database: Database,
  database_name: string,
  now = Date.now(),
): Promise<string> {
  if (!/^\d{1,20}$/.test(text)) throw new UserError('--forget-finalized needs the number of a stage');
  const stage = BigInt(text);
  const name = await findProgram(program, database, database_name);
  const store = await openScoringStore(database, database_name, name);
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
}

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
  database: Database,
  database_name: string,
): Promise<string> {
  if (!/^\d{1,20}$/.test(text)) throw new UserError('--forget-stage needs the number of a stage');
  const stage = BigInt(text);
  const name = await findProgram(program, database, database_name);
  const store = await openScoringStore(database, database_name, name);
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
