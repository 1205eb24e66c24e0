import { messageOf } from '../../common/runtime/errors.js';
import { sleep } from '../../common/runtime/lifecycle.js';
import type { StageTimes } from '../machine/times.js';
import type { L1Stage, Unread } from '../machine/types.js';
import { agreedLook, askAll, groupsOf, L1Doubt } from './agreement.js';
import { createL1Node, type L1Node, type L1NodeOptions, type NodeLook, type Submitted } from './node.js';
import type { BridgeInfo } from './views.js';

/** Waits and looks at the time; tests have their own. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of this machine. */
export const systemClock: Clock = { now: Date.now, sleep };

/** What the L1 says now, or why that could not be read. */
export type L1Look = L1Stage | Unread;

/** The L1 as the operator sees it. */
export interface L1Client {
  /**
   * Looks at stage and time, as so many nodes as have to agree say them.
   * Never throws: that the L1 cannot be read, or not be believed, is part of what is observed.
   */
  look(signal?: AbortSignal): Promise<L1Look>;
  /** The registration of a rollup that is in force; undefined when there is none. @throws NodeError */
  registration(bridge_id: bigint, signal?: AbortSignal): Promise<BridgeInfo | undefined>;
  /**
   * When a stage was, of which the L1 still knows; undefined when every node says that it does not know it.
   *
   * @throws NodeError while no node has said when it was, and not every node has answered.
   */
  stageTimes(stage: bigint, signal?: AbortSignal): Promise<StageTimes | undefined>;
  /** What the L1 has of a stage that is over: for the checks that are kept. @throws NodeError */
  submitted(info: BridgeInfo, stage: bigint, signal?: AbortSignal): Promise<Submitted>;
  close(): Promise<void>;
}

export interface L1Options extends L1NodeOptions {
  readonly urls: readonly string[];
  /** How many nodes have to say the same before it is believed. */
  readonly agreeing: number;
  /** How far the L1's time may be ahead of this machine's clock. Milliseconds. */
  readonly max_ahead_ms: number;
  /** After so long without a newer block the L1's time counts as standing still. Milliseconds. */
  readonly standstill_ms: number;
  /** How often the first look asks again until it has seen the time move. Milliseconds. */
  readonly again_ms: number;
  readonly clock?: Clock;
}

/** Makes a client; nothing is sent yet. @param nodes tests have their own. */
export function createL1Client(
  options: L1Options,
  nodes: readonly L1Node[] = options.urls.map((url) => createL1Node(url, options)),
): L1Client {
  const { agreeing, clock = systemClock } = options;
  let isSeen = false;
  /** The latest time that was believed, and when (by this machine's clock) it was first heard. */
  let latest: { readonly time: number; readonly heard_at: number } | undefined;
  let isMoving = false;
  /** The stage that was believed last, with its times. */
  let believed: string | undefined;

  const lookAt = async (node: L1Node, signal?: AbortSignal): Promise<NodeLook> => {
    const seen = await node.look(signal);
    const ahead_s = seen.l1_time - Math.floor(clock.now() / 1_000);
    if (ahead_s * 1_000 > options.max_ahead_ms)
      throw new L1Doubt(
        `the time of ${node.host} is ${ahead_s} s ahead of the clock of this machine (l1.max_ahead_seconds): one of the two is wrong`,
      );
    return seen;
  };

  const lookOnce = async (signal?: AbortSignal): Promise<NodeLook> => {
    const best = agreedLook(await askAll(nodes, (node) => lookAt(node, signal)), agreeing);
    if (latest !== undefined && best.l1_time < latest.time)
      throw new Error(`the L1 answers for an older block: its time is ${best.l1_time} after ${latest.time}`);
    return best;
  };

  const note = (time: number): void => {
    const now = clock.now();
    if (latest === undefined) latest = { time, heard_at: now };
    else if (time > latest.time) {
      latest = { time, heard_at: now };
      isMoving = true;
    } else if (now - latest.heard_at > options.standstill_ms) isMoving = false;
  };

  /** A stage that was not believed before, or has other times, has to be said twice. @throws L1Doubt */
  const confirmed = async (seen: NodeLook, signal?: AbortSignal): Promise<NodeLook> => {
    if (stageText(seen) === believed) return seen;
    await clock.sleep(options.again_ms, signal);
    const again = await lookOnce(signal);
    note(again.l1_time);
    if (stageText(again) !== stageText(seen))
      throw new L1Doubt(`the L1 says ${stageText(seen)}, and a moment later ${stageText(again)}`);
    believed = stageText(again);
    return again;
  };

  return {
    async look(signal) {
      try {
        let seen = await lookOnce(signal);
        note(seen.l1_time);
        // One look cannot tell whether time moves: a job that runs once looks until it has seen it.
        const end = clock.now() + options.standstill_ms;
        while (!isSeen && !isMoving && clock.now() < end && !signal?.aborted) {
          await clock.sleep(options.again_ms, signal);
          seen = await lookOnce(signal);
          note(seen.l1_time);
        }
        isSeen = true;
        return { ...(await confirmed(seen, signal)), is_moving: isMoving };
      } catch (error) {
        return { error: messageOf(error), ...(error instanceof L1Doubt ? { reason: 'L1Contradicts' } : {}) };
      }
    },
    registration: (bridge_id, signal) =>
      agreed(nodes, agreeing, (node) => node.registration(bridge_id, signal)),
    stageTimes: (stage, signal) => agreedTimes(nodes, agreeing, (node) => node.stageTimes(stage, signal)),
    submitted: (info, stage, signal) => agreed(nodes, 1, (node) => node.submitted(info, stage, signal)),
    async close() {
      await Promise.all(nodes.map((node) => node.close()));
    },
  };
}

const stageText = ({ stage, stage_start_time, stage_end_time }: NodeLook): string =>
  `stage ${stage} from ${stage_start_time} to ${stage_end_time}`;

/** What so many nodes say; the first that answers, where one suffices. */
async function agreed<T>(
  nodes: readonly L1Node[],
  agreeing: number,
  ask: (node: L1Node) => Promise<T>,
): Promise<T> {
  if (agreeing === 1) {
    let last: unknown = new Error('no L1 URL is configured');
    for (const node of nodes) {
      try {
        return await ask(node);
      } catch (error) {
        last = error;
      }
    }
    throw last;
  }
  const { values, errors } = await askAll(nodes, ask);
  const group = groupsOf(values, (value) => value ?? null).find(({ length }) => length >= agreeing);
  if (group !== undefined) return group[0] as T;
  throw errors[0] ?? new L1Doubt(`the L1 URLs do not agree (l1.agreeing_urls is ${agreeing})`);
}

/** When a stage was, as so many nodes say that know it; undefined only when every node has answered that it does not. */
async function agreedTimes(
  nodes: readonly L1Node[],
  agreeing: number,
  ask: (node: L1Node) => Promise<StageTimes | undefined>,
): Promise<StageTimes | undefined> {
  const { values, errors } = await askAll(nodes, ask);
  const known = values.filter(({ value }) => value !== undefined);
  const groups = groupsOf(known, (value) => value);
  const group = groups.find(({ length }) => length >= agreeing);
  if (group !== undefined) return group[0];
  if (errors.length > 0) throw errors[0];
  if (groups.length > 0)
    throw new L1Doubt(
      `fewer L1 URLs than have to agree (l1.agreeing_urls is ${agreeing}) say when the stage was, or they differ`,
    );
  return undefined;
}
