import { messageOf } from '../../common/runtime/errors.js';
import type { Log } from '../../common/runtime/log.js';
import type { BlockPin } from '../contract/at-block.js';
import { ContractError } from '../contract/errors.js';
import type { Clock, L1Client } from '../l1/client.js';
import type { Score, ScoreList, ScoreWindow } from '../policy/result.js';
import type { Run, SeenStage } from '../store/rows.js';
import type { ScoringStore } from '../store/store.js';
import { newestState } from './contract-stages.js';
import { isClosable, utc } from './decide.js';
import { noteFinalized } from './finalized.js';
import { believedL1 } from './l1-belief.js';
import type { ContractReads, Index, ScorePolicy, ScoreSender, TxPurpose } from './ports.js';
import { futileUntil, keepingTxs, longestWait_ms, settleTxs } from './txs.js';
import type { StageBlocks } from './types.js';
import { compare, differences, isSame, toChecks } from './verify.js';

/** What work is done with. */
export interface Hands {
  readonly contract: ContractReads;
  /** The account that writes, 0x hex. */
  readonly account: string;
  readonly sender: ScoreSender;
  readonly store: ScoringStore;
  readonly policy: ScorePolicy;
  readonly l1: L1Client;
  readonly index: Index;
  /** Stages whose times a person has told. */
  readonly windows: readonly SeenStage[];
  /** Seconds after the end of a stage, by the L1's time. */
  readonly margin_s: number;
  readonly clock: Clock;
  readonly log: Log;
  /** Told how many scores of a stage the contract has, of those that it shall have. */
  readonly onProgress?: ((stage: bigint, done: number, total: number) => void) | undefined;
  /** For tests: called between any two steps. */
  readonly fault?: ((point: string) => void | Promise<void>) | undefined;
}

/** Something went wrong that another attempt may heal. */
export class ActError extends Error {
  override name = 'ActError';

  constructor(
    readonly reason:
      | 'ReadBackDiffers'
      | 'TotalDiffers'
      | 'NotFinalized'
      | 'WrongList'
      | 'SendFailed'
      /** Our own tables say that the stage is finalized. */
      | 'FinalizedBefore'
      /** Somebody else was faster: there is nothing wrong, and something else to do. */
      | 'Overtaken',
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** How often scores are sent and read back before it counts as a failure. */
const rounds = 3;

const zeroAddress = `0x${'0'.repeat(40)}`;

/**
 * Brings the contract's scores of a stage to what the policy says, and reads them back. Begins where an earlier
 * attempt was interrupted: only what differs is sent.
 *
 * @throws ActError, and what the policy, the contract or the tables throw.
 */
export async function scoreStage(hands: Hands, blocks: StageBlocks, signal?: AbortSignal): Promise<void> {
  const { stage } = blocks;
  const { store, sender, fault } = hands;
  await checkOpen(hands, stage);
  const { run, list } = await listFor(hands, blocks, signal);
  await fault?.('list_saved');
  await settleTxs(hands, stage, signal);
  for (let round = 1; ; round++) {
    const found = await (await newestState(hands, signal)).scores(stage);
    const wanted = differences(list.scores, found);
    const missing = wanted.filter(({ amount }) => amount > 0n).length;
    hands.onProgress?.(stage, list.scores.length - missing, list.scores.length);
    if (wanted.length === 0) break;
    if (round > rounds)
      throw new ActError(
        'ReadBackDiffers',
        `stage ${stage}: ${wanted.length} scores still differ after ${rounds} rounds of sending`,
      );
    await checkFutile(hands, run, 'update', Math.max(list.scores.length, found.length));
    hands.log.info({ stage: String(stage), scores: wanted.length, round }, 'sending scores');
    await sending(stage, () =>
      sender.sendScores(stage, wanted, keepingTxs(hands, run, list.scores.length - missing), signal),
    );
    await fault?.('scores_sent');
  }
  // The oldest contracts open a stage when something is written to it, also when that is nothing.
  const isThere = (await (await newestState(hands, signal)).stage(stage)) !== undefined;
  const nothing = [{ address: hands.account.toLowerCase(), amount: 0n }];
  if (!isThere) await sending(stage, () => sender.sendScores(stage, nothing, keepingTxs(hands, run), signal));
  const state = await newestState(hands, signal);
  const checks = compare(list, await state.scores(stage), await state.stage(stage));
  await store.saveChecks(toChecks(checks, stage, list.hash, hands.clock.now()));
  await fault?.('checks_saved');
  const wrong = checks.find((check) => !check.is_ok);
  if (wrong !== undefined)
    throw new ActError(
      wrong.name === 'total' ? 'TotalDiffers' : 'ReadBackDiffers',
      `stage ${stage}: ${wrong.name} read back from the contract is ${wrong.found}, not ${wrong.expected}`,
    );
  await store.saveRun({ ...run, is_verified: true, error: '', updated_at: hands.clock.now() });
}

/** Stops where our own tables say that a stage, or a later one, is finalized. @throws ActError FinalizedBefore */
async function checkOpen({ store }: Hands, stage: bigint): Promise<void> {
  const known = (await store.finalizations()).find((one) => one.stage >= stage);
  if (known !== undefined)
    throw new ActError(
      'FinalizedBefore',
      `stage ${stage}: the tables say that stage ${known.stage} is finalized`,
    );
}

/** Stops while txs of this kind have come to nothing too often. @throws ActError SendFailed */
async function checkFutile(
  { store, clock }: Hands,
  { stage, list_hash }: Run,
  purpose: TxPurpose,
  size: number,
): Promise<void> {
  const until = futileUntil(await store.txs(stage), { purpose, list_hash }, size);
  // A wait that the clock cannot explain is none: it was set back.
  if (until <= clock.now() || until > clock.now() + 2 * longestWait_ms) return;
  const what = purpose === 'update' ? 'its scores were sent' : 'finalizing it has failed';
  throw new ActError(
    'SendFailed',
    `stage ${stage}: ${what} again and again without effect, so nothing is sent before ${utc(until / 1_000)}: who else writes to the contract, and does the node tell the truth?`,
  );
}

/** The list that is being sent already, or a new one, written down before anything is sent. */
async function listFor(
  hands: Hands,
  { stage, window, to_hash }: StageBlocks,
  signal?: AbortSignal,
): Promise<{ readonly run: Run; readonly list: ScoreList }> {
  const { store, policy, clock } = hands;
  const now = clock.now();
  const known = await store.run(stage);
  // A list of blocks that a rollback has replaced is as good as none.
  const isOfThese =
    known !== undefined &&
    known.policy_hash === policy.hash &&
    known.to_hash === to_hash &&
    isSame(known.window, window);
  if (isOfThese) {
    const list = await store.list(stage, known.list_hash);
    if (list !== undefined) {
      const attempts = known.attempts + 1;
      const run = { ...known, attempts, is_verified: false, updated_at: now };
      await store.saveRun(run);
      return { run, list };
    }
  }
  const { list, facts, summary } = await policy.compute(window, signal);
  if (list.scores.some((score) => score.address === zeroAddress || score.amount <= 0n))
    throw new ActError(
      'WrongList',
      `stage ${stage}: the policy gives a score to the zero address, or one of 0`,
    );
  await hands.fault?.('computed');
  await store.savePolicy(policy.hash, policy.text);
  await store.saveFacts(stage, list.hash, facts);
  await store.saveList(stage, list);
  await hands.fault?.('list_written');
  const run: Run = {
    stage,
    window,
    to_hash: facts.to_hash,
    policy_hash: policy.hash,
    list_hash: list.hash,
    score_count: list.scores.length,
    total: list.total,
    counts: { without: summary.without, capped: summary.capped, fitted: summary.fitted },
    is_verified: false,
    is_finalized: false,
    error: '',
    attempts: (known?.attempts ?? 0) + 1,
    created_at: known?.created_at ?? now,
    updated_at: now,
  };
  await store.saveRun(run);
  return { run, list };
}

/** What finalizing came to. */
export type Finalized = 'finalized' | 'found_finalized' | 'not_verified' | 'not_closable';

/**
 * Finalizes a stage whose list was read back: reads it back once more, looks at the L1 once more, and only then sends.
 *
 * @throws ActError, and what the contract or the tables throw.
 */
export async function finalizeStage(
  hands: Hands,
  stage: bigint,
  list_hash: string,
  signal?: AbortSignal,
): Promise<Finalized> {
  const { store, contract, sender, fault } = hands;
  const run = await store.run(stage);
  if (run === undefined) return 'not_verified';
  const list = run.list_hash === list_hash ? await store.list(stage, list_hash) : undefined;
  if (list === undefined) {
    const error = `stage ${stage}: rows of the list ${run.list_hash} are lost: it is computed again`;
    hands.log.error({ stage: String(stage) }, error);
    await store.saveRun({ ...run, is_verified: false, error, updated_at: hands.clock.now() });
    return 'not_verified';
  }
  await settleTxs(hands, stage, signal);
  await checkOpen(hands, stage);
  const state = await newestState(hands, signal);
  const stageThen = await state.stage(stage);
  if (stageThen?.is_finalized) {
    await noteFinalized(hands, run, signal);
    return 'found_finalized';
  }
  const checks = compare(list, await state.scores(stage), stageThen);
  await store.saveChecks(toChecks(checks, stage, list.hash, hands.clock.now()));
  if (checks.some((check) => !check.is_ok)) {
    await store.saveRun({ ...run, is_verified: false, updated_at: hands.clock.now() });
    return 'not_verified';
  }
  const l1 = await believedL1(hands, await store.seenStages(), signal);
  if ('error' in l1 || !l1.is_moving || !isClosable(l1, stage, hands.margin_s)) return 'not_closable';
  await checkFutile(hands, run, 'finalize', 0);
  await fault?.('before_finalize');

  const guard = async (block: BlockPin): Promise<void> => {
    await checkOpen(hands, stage);
    const { start_time, end_time } = run.window;
    const blocks = await hands.index.window(stage, start_time, end_time, signal);
    const isThere = blocks.kind === 'complete' && isSame(blocks.window, run.window);
    if (!isThere || blocks.to_hash !== run.to_hash)
      throw new ActError('NotFinalized', `stage ${stage} has other blocks than when it was scored`);
    // At the block of the nonce: whatever was done later has taken it.
    const state = contract.at(block);
    const found = await state.scores(stage);
    const now = await state.stage(stage);
    if (now?.is_finalized) throw new ActError('Overtaken', `stage ${stage} was finalized by somebody else`);
    // Everything once more: while the nonce was waited for, a tx that was stuck may have written other scores.
    if (compare(list, found, now).some((check) => !check.is_ok))
      throw new ActError('NotFinalized', `stage ${stage} is not what it was when it was read back`);
  };
  const sent = await sending(stage, () => sender.finalize(stage, guard, keepingTxs(hands, run), signal));
  await fault?.('finalize_sent');
  const after = await contract.at(sent.height).stage(stage);
  const name = 'finalized';
  const check = {
    name,
    is_ok: after?.is_finalized === true,
    expected: 'true',
    found: String(after?.is_finalized),
  };
  await store.saveChecks(toChecks([check], stage, list.hash, hands.clock.now()));
  if (!check.is_ok)
    throw new ActError('NotFinalized', `stage ${stage} is not finalized although the receipt says success`);
  await store.saveRun({ ...run, is_finalized: true, error: '', updated_at: hands.clock.now() });
  return 'finalized';
}

async function sending<T>(stage: bigint, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (cause) {
    if (cause instanceof ActError) throw cause;
    const isOvertaken = cause instanceof ContractError && cause.revert?.name === 'StageFinalized';
    if (isOvertaken)
      throw new ActError('Overtaken', `stage ${stage} was finalized by somebody else`, { cause });
    throw new ActError('SendFailed', `stage ${stage}: ${messageOf(cause)}`, { cause });
  }
}

/** The scores of a list that differ from those found, for what would be sent. */
export async function plan(
  hands: Pick<Hands, 'contract' | 'policy' | 'store' | 'index'>,
  stage: bigint,
  window: ScoreWindow,
  signal?: AbortSignal,
): Promise<{ readonly list: ScoreList; readonly wanted: readonly Score[] }> {
  const { list } = await hands.policy.compute(window, signal);
  return { list, wanted: differences(list.scores, await (await newestState(hands, signal)).scores(stage)) };
}
