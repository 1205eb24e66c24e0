import type { SimulatedState } from '../../../tools/dev/l1.js';

/** An L1 of which nobody has submitted anything, ten seconds into a stage. Times are unix seconds. */
export function l1InStage(
  stage: bigint,
  start: number,
  interval: number,
  more: Partial<SimulatedState> = {},
): SimulatedState {
  return {
    chain_id: 'l1-1',
    stage,
    stage_start_time: start,
    stage_end_time: start + interval,
    stage_interval: interval,
    challenge_period: interval,
    time: start + 10,
    height: 1,
    bridges: [],
    last_submitted_stage: 0n,
    total_l2_scores: 0n,
    ...more,
  };
}
