import { NodeError } from '../../../services/common/chain/endpoints.js';
import { createLog } from '../../../services/common/runtime/log.js';
import { createMetrics } from '../../../services/common/runtime/metrics.js';
import { askReceipt, type RawReceipt } from '../../../services/scoring-operator/contract/receipts.js';
import type { EvmRpc } from '../../../services/scoring-operator/contract/rpc.js';
import { type Clock, createL1Client } from '../../../services/scoring-operator/l1/client.js';
import type { L1Node } from '../../../services/scoring-operator/l1/node.js';
import type {
  Computed,
  MinedTx,
  ScoreSender,
  SendHooks,
} from '../../../services/scoring-operator/machine/ports.js';
import type { Machine } from '../../../services/scoring-operator/machine/run.js';
import type { Score, ScoreList, ScoreWindow } from '../../../services/scoring-operator/policy/result.js';
import type { SeenStage } from '../../../services/scoring-operator/store/rows.js';
import type { Random } from '../random.js';
import { type MemoryTables, memoryStore } from './store.js';
import type { World, WorldState, WorldTx } from './world.js';

/** What the process that was killed sees: nothing any more. */
export class Killed extends Error {}

/** How hard life is made for a process: once in so many steps; 0 for never. */
export interface Hardship {
  readonly killOneIn: number;
  readonly failOneIn: number;
  readonly lostReplyOneIn: number;
  /** Once in so many steps the world moves on meanwhile. */
  readonly moveOneIn: number;
}

export const easy: Hardship = { killOneIn: 0, failOneIn: 0, lostReplyOneIn: 0, moveOneIn: 15 };

let hashes = 0;

const log = createLog('silent');

/** A list as a policy gives it that measures nothing. */
const computed = (list: ScoreList, window: ScoreWindow, to_hash: string): Computed => ({
  list,
  facts: { window, to_hash, measures: new Map() },
  summary: {
    policy_hash: 'hash',
    scored: list.scores.length,
    total: list.total,
    without: { excluded: 0, zero_address: 0, below_one: 0, below_minimum: 0 },
    capped: 0,
    fitted: 0,
    rules: [],
  },
});

/** A machine in a process of its own over a world: everything it does may fail, and it may be killed at any step. */
export function processOver(
  world: World,
  tables: MemoryTables,
  hardship: Hardship,
  random: Random,
  windows: readonly SeenStage[] = [],
  count_intervals = false,
): Machine {
  let isDead = false;
  const once = (n: number): boolean => n > 0 && random.oneIn(n);

  /** Between any two things that a process does. */
  const step = async (): Promise<void> => {
    for (let i = random.integer(3); i > 0; i--) await null;
    if (once(hardship.killOneIn)) isDead = true;
    if (isDead) throw new Killed('killed');
    if (once(hardship.moveOneIn)) {
      world.pass(random.integer(30));
      if (random.oneIn(2)) world.mine();
    }
  };
  /** Something outside, which may fail. */
  const ask = async <T>(answer: () => T): Promise<T> => {
    await step();
    if (once(hardship.failOneIn)) throw new Error('connection reset');
    const result = answer();
    await step();
    return result;
  };
  const readable = <T>(answer: () => T): Promise<T> =>
    ask(() => {
      if (world.contractDown) throw new Error('connection refused');
      return answer();
    });

  /** The newest block of a replica that has reached a block: load balancers pick one for each request. */
  const head = (at_least: number): Promise<number> =>
    asking(() => {
      const height = world.replica();
      return height >= at_least ? height : undefined;
    });
  /** The contract at a block, of a replica that has it. */
  const stateAt = <T>(height: number, answer: (state: WorldState) => T): Promise<T> =>
    asking(() => (world.replica() >= height ? { value: answer(world.at(height)) } : undefined)).then(
      ({ value }) => value,
    );
  const asking = async <T>(answer: () => T | undefined): Promise<T> => {
    for (let tries = 0; tries < 6; tries++) {
      const found = await readable(answer);
      if (found !== undefined) return found;
    }
    throw new NodeError('behind', 'the node does not have the block');
  };

  /** The rollup's JSON-RPC as far as receipts need it: each call may reach another replica. */
  const rpc: EvmRpc = {
    call: (method, [what], { check } = {}) =>
      readable(() => {
        const isReceipt = method === 'eth_getTransactionReceipt';
        const result = isReceipt ? world.receiptOf(String(what)) : world.blockOf(Number(what));
        check?.({ result });
        return result;
      }),
  };
  const toMined = ({ tx_hash, height, is_success }: RawReceipt): MinedTx => ({
    ...{ tx_hash, height, is_success, gas_used: 1n },
    error: world.txs.get(tx_hash)?.error ?? '',
  });

  const awaitReceipt = async (tx: WorldTx, hooks: SendHooks): Promise<MinedTx> => {
    for (let looks = 0; looks <= 40; looks++) {
      const receipt = await askReceipt(rpc, tx.hash).catch((error: unknown) => {
        if (error instanceof Killed) throw error;
      });
      if (receipt !== undefined) {
        const mined = toMined(receipt);
        await hooks.onMined(mined);
        if (!mined.is_success) throw new Error(mined.error);
        return mined;
      }
      if (tx.state === 'dropped') throw new Error('the tx is gone');
      if (random.oneIn(2)) world.mine();
      await step();
    }
    throw new Error('no receipt came');
  };
  const send = async (
    stage: bigint,
    nonce: number,
    scores: readonly Score[] | undefined,
    hooks: SendHooks,
  ): Promise<MinedTx> => {
    const hash = `0x${++hashes}`;
    const tx: WorldTx = { hash, nonce, stage, scores, state: 'pooled', error: '', height: 0 };
    const purpose = scores === undefined ? 'finalize' : 'update';
    await hooks.onSigned({
      tx_hash: tx.hash,
      nonce,
      account: '0xme',
      purpose,
      stage,
      score_count: scores?.length ?? 0,
    });
    await step();
    world.broadcast(tx);
    if (once(hardship.lostReplyOneIn)) throw new Error('the reply is lost');
    await step();
    return awaitReceipt(tx, hooks);
  };
  const sender: ScoreSender = {
    async sendScores(stage, scores, hooks) {
      for (let at = 0; at < scores.length; at += 2) {
        const height = await head(await hooks.leastHeight());
        const nonce = await stateAt(height, ({ mined }) => mined + world.pool.length);
        await send(stage, nonce, scores.slice(at, at + 2), hooks);
      }
    },
    async finalize(stage, guard, hooks) {
      const height = await head(await hooks.leastHeight());
      const nonce = await stateAt(height, ({ mined }) => mined);
      await guard(height);
      return send(stage, nonce, undefined, hooks);
    },
    async settle({ tx_hash, nonce }, at_least = 0) {
      const receipt = await askReceipt(rpc, tx_hash);
      if (receipt !== undefined) return { kind: 'mined', tx: toMined(receipt) };
      const height = await head(at_least);
      const tx = world.txs.get(tx_hash);
      // Found by its nonce: its receipt comes with another look.
      if (tx !== undefined && tx.height > 0 && tx.height <= height) return { kind: 'pending' };
      const mined = await stateAt(height, (state) => state.mined);
      if (tx?.state === 'pooled') {
        if (random.oneIn(2)) world.mine();
        return { kind: 'pending' };
      }
      return { kind: nonce < mined ? 'replaced' : 'unknown' };
    },
  };

  const clock: Clock = {
    now: () => world.time_s * 1000,
    async sleep(ms) {
      world.pass(Math.ceil(ms / 1000));
      await step();
    },
  };
  /** One node of the L1; any may fail, and the first one may lie. */
  const l1Node = (node: number): L1Node => {
    const answer = <T>(said: () => T): Promise<T> =>
      ask(() => {
        if (world.l1Faults.isDown) throw new Error('connection refused');
        return said();
      });
    return {
      host: `l1-${node}`,
      look: () =>
        answer(() => {
          const seen = world.l1Says(node);
          return {
            stage: seen.stage,
            stage_start_time: seen.start,
            stage_end_time: seen.end,
            stage_interval: seen.interval,
            challenge_period: 100,
            l1_time: seen.time,
          };
        }),
      registration: () =>
        answer(() => {
          const own = world.registration;
          return (
            own && {
              bridge_id: 1n,
              version: 1n,
              init_stage: own.init_stage,
              operator_addr: '',
              vip_l2_score_contract: own.isOurs ? `0x${'1'.repeat(40)}` : `0x${'2'.repeat(40)}`,
            }
          );
        }),
      stageTimes: (stage) => answer(() => world.l1TimesOf(node, stage)),
      submitted: async () => ({ last_submitted_stage: 0n, total_l2_scores: undefined }),
      close: async () => {},
    };
  };

  return {
    rules: () => world.rules,
    phases: { score: true, finalize: true },
    sender,
    store: memoryStore(tables, step),
    policy: {
      text: 'policy',
      hash: 'hash',
      compute: (window) =>
        ask(() => computed(world.scoresOf(window), window, world.hashOf(window.to_height))),
    },
    clock,
    l1: createL1Client(
      {
        urls: [],
        module: { address: '0x1', name: 'vip', prefix: 'initia' },
        chain_id: '',
        log,
        metrics: createMetrics(),
        timeout_ms: 1_000,
        connections: 1,
        agreeing: 2,
        max_ahead_ms: 120_000,
        standstill_ms: 60_000,
        again_ms: 1_000,
        clock,
      },
      [0, 1, 2].map(l1Node),
    ),
    contract: {
      address: `0x${'1'.repeat(40)}`,
      head,
      at: (block) => {
        const height = typeof block === 'number' ? block : block.height;
        return {
          height,
          initStage: () => stateAt(height, () => (world.kind === 'oldest' ? undefined : world.initStage)),
          stage: (stage) =>
            stateAt(height, ({ stages }) => {
              const own = stages.get(stage);
              return own && { stage, total_score: own.total, is_finalized: own.is_finalized };
            }),
          isAllowed: () => stateAt(height, () => world.isAllowed),
          scores: (stage) =>
            stateAt(height, ({ stages }) =>
              [...(stages.get(stage)?.scores ?? [])].map(([address, amount]) => ({ address, amount })),
            ),
        };
      },
    },
    chain: {
      wanted: { chain_id: '', evm_chain_id: 7n },
      async look() {
        await step();
        const isSilent = world.contractDown || once(hardship.failOneIn);
        const id = world.isOtherChain ? 8n : 7n;
        return { evm: isSilent ? [] : [{ from: 'node', id }], indexed: 'rollup-1' };
      },
    },
    account: '0xme',
    index: {
      head: () => ask(() => world.indexHead()),
      window: (stage, start, end) =>
        ask(() => {
          if (world.indexHead().time < end) return { kind: 'behind' as const, message: 'not indexed' };
          const window = world.windowOf(stage, start, end);
          return { kind: 'complete' as const, window, to_hash: world.hashOf(window.to_height) };
        }),
    },
    bridge_id: world.registration === undefined ? undefined : 1n,
    // The oldest contracts cannot say where they begin.
    start_stage: world.kind === 'oldest' ? world.initStage : undefined,
    windows,
    count_intervals,
    account_prefix: 'init',
    log,
    fault: step,
  };
}
