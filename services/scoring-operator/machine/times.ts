import type { SeenStage } from '../store/rows.js';
import type { L1Stage } from './types.js';

/** When a stage was: its first instant and the first one after it, unix seconds. */
export interface StageTimes {
  readonly start_time: number;
  readonly end_time: number;
}

/** What is known of the times of stages. */
export interface KnownTimes {
  /** The stage that the L1 names now. */
  readonly current: Pick<L1Stage, 'stage' | 'stage_start_time' | 'stage_end_time' | 'stage_interval'>;
  /** Stages seen while they were the running ones. */
  readonly seen: readonly SeenStage[];
  /** Stages whose times a person has told. */
  readonly told: readonly SeenStage[];
  /** What the L1 says by now of this stage, which is over; undefined when it says nothing. */
  readonly said?: StageTimes | undefined;
  /** Whether a person has allowed to count in intervals where nothing says when a stage was. */
  readonly may_count: boolean;
}

/**
 * When a stage was. A stage starts where the one before has ended, so what was not seen is known from its neighbours,
 * then from what the L1 still says of it. Only where that is allowed it is counted in intervals from the nearest stages;
 * the interval is trusted only while it fits everything that is known.
 *
 * @returns the times, or a text that says why they cannot be known and what a person has to tell.
 */
export function timesOf(stage: bigint, known: KnownTimes): StageTimes | string {
  const { current, said, may_count } = known;
  if (stage > current.stage) return `stage ${stage} has not begun`;
  const [start, end] = [startOf(stage, known), endOf(stage, known)];
  if (start !== undefined && end !== undefined) return { start_time: start, end_time: end };

  const ask = `tell it in the program (windows: stage ${stage} with its start and its end)`;
  if (said !== undefined) {
    const isFitting =
      (start ?? said.start_time) === said.start_time && (end ?? said.end_time) === said.end_time;
    if (isFitting && said.start_time < said.end_time) return said;
    return `the L1 says that stage ${stage} was from ${said.start_time} to ${said.end_time}, which does not fit the stages beside it: ${ask}`;
  }
  if (!may_count)
    return `when stage ${stage} was is not known: nobody was looking then, and the L1 does not say it: ${ask}, or allow to count back (count_intervals)`;
  return count(stage, known, ask);
}

function count(stage: bigint, known: KnownTimes, ask: string): StageTimes | string {
  const { current } = known;
  const interval = current.stage_interval;
  if (interval <= 0 || current.stage_end_time - current.stage_start_time !== interval)
    return `when stage ${stage} was is not known, and stages have not always been ${interval} s long: ${ask}`;
  let upper = stage;
  while (endOf(upper, known) === undefined) upper += 1n; // the stage before the current one has a known end
  const end = endOf(upper, known)!;
  const counted = end - (Number(upper - stage) + 1) * interval;
  const lower = lowerAnchor(stage, known);
  const isFitting = lower === undefined || lower.start + Number(stage - lower.stage) * interval === counted;
  if (!isFitting)
    return `when stage ${stage} was cannot be counted in intervals of ${interval} s from the stages that were seen: ${ask}`;
  return { start_time: counted, end_time: counted + interval };
}

function find(stages: readonly SeenStage[], stage: bigint): SeenStage | undefined {
  return stages.find((one) => one.stage === stage);
}

/** A start that was seen or told, or that is the seen end of the stage before. */
function startOf(stage: bigint, { current, seen, told }: KnownTimes): number | undefined {
  const own = find(told, stage)?.start_time;
  if (own !== undefined) return own;
  if (stage === current.stage) return current.stage_start_time;
  return (
    find(seen, stage)?.start_time ?? find(told, stage - 1n)?.end_time ?? find(seen, stage - 1n)?.end_time
  );
}

/** An end that was told, or that is the seen start of the next stage, or that was seen while the stage ran. */
function endOf(stage: bigint, { current, seen, told }: KnownTimes): number | undefined {
  const own = find(told, stage)?.end_time;
  if (own !== undefined) return own;
  if (stage === current.stage) return current.stage_end_time;
  if (stage + 1n === current.stage) return current.stage_start_time;
  return (find(told, stage + 1n) ?? find(seen, stage + 1n))?.start_time ?? find(seen, stage)?.end_time;
}

/** The nearest stage at or below one whose start is known. */
function lowerAnchor(
  stage: bigint,
  known: KnownTimes,
): { readonly stage: bigint; readonly start: number } | undefined {
  const candidates = [...known.seen, ...known.told].flatMap((one) => [one.stage, one.stage + 1n]);
  const nearest = candidates
    .filter((one) => one <= stage)
    .reduce<bigint | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined);
  const start = nearest === undefined ? undefined : startOf(nearest, known);
  return nearest === undefined || start === undefined ? undefined : { stage: nearest, start };
}
