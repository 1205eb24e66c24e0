import type { L1Client, L1Look } from '../l1/client.js';
import type { SeenStage } from '../store/rows.js';
import type { L1Stage } from './types.js';

/** Stages whose times are known: those that were seen while they ran, and those that a person has told. */
export interface KnownStages {
  readonly seen: readonly SeenStage[];
  readonly told: readonly SeenStage[];
}

/**
 * How what the L1 says does not fit what it said before, in words; undefined when it fits. Stages only go up, a stage
 * begins where the one before it ends, and the times of a stage do not change while it runs. What a person has told of a
 * stage counts more than what was seen. A pure function.
 */
export function contradictionOf(
  l1: Pick<L1Stage, 'stage' | 'stage_start_time' | 'stage_end_time'>,
  { seen, told }: KnownStages,
): string | undefined {
  const { stage, stage_start_time: start, stage_end_time: end } = l1;
  const last = seen.at(-1);
  if (last !== undefined && stage < last.stage)
    return `the L1 says stage ${stage} after it had said stage ${last.stage}`;
  const ask = `If that is right, tell it in the program (windows) or forget what was seen (weft score --forget-stage)`;
  const find = (stages: readonly SeenStage[], wanted: bigint): SeenStage | undefined =>
    stages.find((one) => one.stage === wanted);
  const known = (wanted: bigint): SeenStage | undefined => find(told, wanted) ?? find(seen, wanted);
  const own = find(told, stage) === undefined ? find(seen, stage) : undefined;
  if (own !== undefined && (own.start_time !== start || own.end_time !== end))
    return `the L1 says that stage ${stage} is from ${start} to ${end}, and it was seen from ${own.start_time} to ${own.end_time}. ${ask}`;
  if (stage === last?.stage) return undefined;
  const before = known(stage - 1n);
  if (before !== undefined && before.end_time !== start)
    return `the L1 says that stage ${stage} begins at ${start}, and stage ${stage - 1n} was seen or told to end at ${before.end_time}. ${ask}`;
  const lastEnd = last && known(last.stage)!.end_time;
  if (lastEnd !== undefined && start < lastEnd)
    return `the L1 says that stage ${stage} begins at ${start}, and stage ${last?.stage} was seen or told to end at ${lastEnd}. ${ask}`;
  return undefined;
}

/** Looks at the L1, and believes it when it does not contradict what is known. */
export async function believedL1(
  { l1, windows }: { readonly l1: L1Client; readonly windows: readonly SeenStage[] },
  seen: readonly SeenStage[],
  signal?: AbortSignal,
): Promise<L1Look> {
  const look = await l1.look(signal);
  if ('error' in look) return look;
  const contradiction = contradictionOf(look, { seen, told: windows });
  return contradiction === undefined ? look : { error: contradiction, reason: 'L1Contradicts' };
}
