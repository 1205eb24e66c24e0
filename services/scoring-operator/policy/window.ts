import type { BlockTime } from '../../common/gen/indexer/block/v1/times.js';
import { ask, type FactClients } from './gather/clients.js';
import { hashAt, headsOf } from './gather/heads.js';
import { type Policy, ScoringError } from './policy.js';
import type { ScoreWindow } from './result.js';

/** A stage as the L1 has it. */
export interface StageTimes {
  readonly stage: bigint;
  /** Unix seconds: the first instant of the stage, and the first one after it. */
  readonly start_time: number;
  readonly end_time: number;
}

/** Whether a stage can be scored. */
export type WindowState =
  /** Every service that the policy reads is past it. */
  | {
      readonly kind: 'complete';
      readonly window: ScoreWindow;
      /** Hash of the window's last block as the block service has it now; '' when there is none. */
      readonly to_hash: string;
    }
  /** The index is not yet past it. */
  | { readonly kind: 'behind'; readonly message: string }
  /** The index does not reach back to it, and never will by itself. */
  | { readonly kind: 'missing'; readonly message: string };

/** How far the indexes are that a policy reads. */
export interface IndexProgress {
  /** Lowest height up to which every one of them is; 0 while one has nothing. */
  readonly height: number;
  /** Time of that block, unix seconds, rounded down; 0 with height 0. */
  readonly time: number;
}

/**
 * The blocks of a stage: from the first with a time not before its start to the last with a
 * time before its end. Complete only when a later block is known to every service that the
 * policy reads: before that, another block could still belong to the stage.
 *
 * @throws RpcError when a service does not answer, ScoringError for a stage without length.
 */
export async function findWindow(
  policy: Policy,
  { stage, start_time, end_time }: StageTimes,
  clients: FactClients,
  signal: AbortSignal,
): Promise<WindowState> {
  if (!Number.isSafeInteger(start_time) || start_time < 0 || !(start_time < end_time))
    throw new ScoringError(`stage ${stage} lasts from ${start_time} to ${end_time}: that is no time`);
  const find = (seconds: number) =>
    ask(clients.block.findBlockByTime.bind(clients.block), { seconds, nanos: 0 }, signal);
  const start = await find(start_time);
  if (start.block === undefined) return behind(start.previous, start_time, 'starts');
  if (start.previous === undefined && !start.is_first_of_chain)
    return {
      kind: 'missing',
      message: `the first indexed block, ${start.block.height}, is of ${isoTime(start.block.seconds)}, and stage ${stage} started at ${isoTime(start_time)}: what came before is not known`,
    };
  const end = await find(end_time);
  if (end.block === undefined) return behind(end.previous, end_time, 'ends');
  const window = {
    stage,
    start_time,
    end_time,
    from_height: start.block.height,
    to_height: end.block.height - 1,
  };
  const heads = await headsOf(policy, clients, signal);
  const late = heads.filter(({ height }) => height <= window.to_height);
  if (late.length === 0)
    return { kind: 'complete', window, to_hash: await hashAt(clients, window.to_height, signal) };
  const where = late.map(({ service, height }) => `${service} at ${height}`).join(', ');
  return {
    kind: 'behind',
    message: `block ${window.to_height + 1} is the first after the stage, and not indexed by all: ${where}`,
  };
}

/** How far the block service and those that the policy reads are. @throws RpcError */
export async function readProgress(
  policy: Policy,
  clients: FactClients,
  signal: AbortSignal,
): Promise<IndexProgress> {
  const [status, heads] = await Promise.all([
    ask(clients.block.getStatus.bind(clients.block), {}, signal),
    headsOf(policy, clients, signal),
  ]);
  const height = Math.min(status.height, ...heads.map((head) => head.height));
  if (height < Math.max(1, status.first_height)) return { height: 0, time: 0 };
  const range = { from_height: height, to_height: height };
  const { blocks } = await ask(clients.block.listBlockTimes.bind(clients.block), range, signal);
  return { height, time: blocks[0]?.seconds ?? 0 };
}

function behind(last: BlockTime | undefined, time: number, what: string): WindowState {
  const there =
    last === undefined ? 'no block is indexed' : `block ${last.height} is of ${isoTime(last.seconds)}`;
  return { kind: 'behind', message: `${there}, and the stage ${what} at ${isoTime(time)}` };
}

const isoTime = (seconds: number): string => new Date(seconds * 1000).toISOString();
