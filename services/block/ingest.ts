import { createBatching, sendAlone } from '../common/chain/batch.js';
import { fetchStatus } from '../common/chain/comet.js';
import { answerBound, createEndpoints, retryDelay } from '../common/chain/endpoints.js';
import { watchTip } from '../common/chain/tip.js';
import { messageOf, UserError } from '../common/runtime/errors.js';
import { type OnFatal, sleep } from '../common/runtime/lifecycle.js';
import type { Log } from '../common/runtime/log.js';
import type { Metrics } from '../common/runtime/metrics.js';
import { createMutex } from '../common/util/concurrency.js';
import { createBell } from '../common/util/signal.js';
import { type Fence, Superseded } from '../common/writer/fence.js';
import type { WriterHealth } from '../common/writer/health.js';
import type { BlockConfig } from './config.js';
import type { Node } from './fetch.js';
import { follow } from './follow.js';
import type { Head } from './head.js';
import type { BlockStore } from './store.js';
import { followTraces } from './traces.js';
import type { Validators } from './validators.js';

/** The interfaces of the node that the configuration names. */
export function connectNode(config: BlockConfig, log: Log, metrics: Metrics): Node {
  const options = {
    ...{ log, metrics, service: 'block', bound: answerBound(config) },
    ...{ timeout_ms: config.NODE_TIMEOUT_MS, connections: config.FETCH_CONCURRENCY },
  };
  const rpc = createEndpoints('rpc', config.RPC_URL, options);
  const jsonrpc =
    config.VM_TYPE === 'evm' ? createEndpoints('jsonrpc', config.JSON_RPC_URL, options) : undefined;
  return {
    rpc,
    rest: createEndpoints('rest', config.REST_URL, options),
    jsonrpc,
    batches: {
      comet: createBatching(rpc, config.NODE_BATCH),
      receipts: jsonrpc === undefined ? sendAlone : createBatching(jsonrpc, config.NODE_BATCH),
      // Tracing takes the node long: what is asked for at once must be done within one timeout.
      traces: jsonrpc === undefined ? sendAlone : createBatching(jsonrpc, Math.min(5, config.NODE_BATCH)),
    },
  };
}

/** Closes its connections. */
export async function closeNode(node: Node | undefined): Promise<void> {
  await Promise.all([node?.rpc.close(), node?.rest.close(), node?.jsonrpc?.close()]);
}

/** What following the chain needs. */
export interface IngestOptions {
  readonly config: BlockConfig;
  readonly node: Node;
  readonly store: BlockStore;
  readonly head: Head;
  readonly validators: Validators;
  /** Nothing is written before it is acquired. */
  readonly fence: Fence;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly signal: AbortSignal;
  /** Told the chain's id once it is known. */
  readonly onChain: (chain_id: string) => void;
  /** Told what keeps the indexer from its work; '' once nothing does. */
  readonly onHindrance: (reason: string) => void;
  readonly health: WriterHealth;
  /** Takes an error after which nothing can be written any more. */
  readonly onFatal: OnFatal;
}

/**
 * Follows the chain until the signal: tip, blocks, traces and proposers. Ends early only for
 * what will not heal. A person has to mend tables of another chain: it says so, and goes on
 * serving them. Any other error is fatal.
 */
export async function ingest(options: IngestOptions): Promise<void> {
  const { fence, signal } = options;
  try {
    if (!(await fence.acquire(signal))) return;
    await recover(options);
    await followChain(options);
    await fence.release();
  } catch (error) {
    if (signal.aborted) return fence.release();
    if (!(error instanceof UserError)) return options.onFatal(error);
    options.log.fatal({ err: error }, `nothing is indexed: ${messageOf(error)}`);
    options.onHindrance(`nothing is indexed: ${messageOf(error)}`);
  }
}

/** Removes what a crash left above the last whole block, and shows what is there by now; again until that works. */
async function recover(options: IngestOptions): Promise<void> {
  const { store, head, validators, log, metrics, signal, onHindrance } = options;
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      await store.unwind(Number.MAX_SAFE_INTEGER);
      const twice = await store.mend();
      if (twice > 0) {
        metrics.problems.inc({ service: 'block', kind: 'blocks_twice' }, twice);
        log.error(
          { rows: twice },
          'blocks were there twice, as two writers of an older version leave them: each is there once now. Rebuild the other services with `weft reindex`',
        );
      }
      head.reset(await store.range(), await store.traceHeight());
      await validators.load();
      return;
    } catch (error) {
      if (error instanceof Superseded) throw error;
      onHindrance(`the tables could not be looked at: ${messageOf(error)}`);
      log.warn({ err: error }, `the tables could not be looked at, will be tried again: ${messageOf(error)}`);
      await sleep(retryDelay(attempt), signal);
    }
  }
}

async function followChain(options: IngestOptions): Promise<void> {
  const { config, node, store, head, log, metrics, health, signal } = options;
  const chain_id = await joinChain(options);
  if (signal.aborted) return;
  options.onChain(chain_id);

  const [tipMoved, mutex] = [createBell(), createMutex()];
  let nodeRange = { first: 1, last: 0 };
  const blockBound = { bytes: config.NODE_BLOCK_MB * 1024 * 1024, setting: 'NODE_BLOCK_MB' };
  const common = { node, store, head, log, metrics, health, signal, mutex, blockBound };
  await Promise.all([
    watchTip({
      rpc: node.rpc,
      log,
      signal,
      poll_ms: config.POLL_INTERVAL_MS,
      chain_id,
      onStatus: ({ latest_height: last, earliest_height: first }) => {
        const next = (head.last?.height ?? 0) + 1;
        if (first > next && head.last !== undefined && nodeRange.first !== first) {
          metrics.problems.inc({ service: 'block', kind: 'pruned' });
          log.error(
            { next, first },
            'the node no longer has the next block: give a URL of a node that has it',
          );
        }
        nodeRange = { first, last };
        head.setNodeHeight(last);
        metrics.height.set({ service: 'block', track: 'node' }, last);
        metrics.lag.set({ service: 'block' }, Math.max(0, last - (head.last?.height ?? 0)));
        tipMoved.ring();
      },
    }),
    follow({
      ...common,
      chain_id,
      concurrency: config.FETCH_CONCURRENCY,
      start_height: config.START_HEIGHT,
      decodedAttempts: config.DECODED_ATTEMPTS,
      onHindrance: options.onHindrance,
      tipMoved,
      nodeRange: () => nodeRange,
    }),
    learnProposers(options),
    node.jsonrpc !== undefined && config.INTERNAL_TX
      ? followTraces({
          ...common,
          jsonrpc: node.jsonrpc,
          batch: node.batches.traces,
          concurrency: config.TRACE_CONCURRENCY,
          attempts: config.TRACE_ATTEMPTS,
        })
      : undefined,
  ]);
}

/** Looks up proposers that are not known yet. */
async function learnProposers({ head, validators, node, signal }: IngestOptions): Promise<void> {
  while (!signal.aborted) {
    const rung = head.bell.count;
    const proposer = head.last?.proposer_address ?? '';
    if (await validators.learn(proposer, node.rest, signal)) head.revise();
    await head.bell.heard(rung, signal);
  }
}

export interface JoinOptions {
  readonly config: Pick<BlockConfig, 'CHAIN_ID' | 'VM_TYPE'>;
  readonly node: Pick<Node, 'rpc'>;
  readonly store: Pick<BlockStore, 'chain' | 'claim'>;
  readonly log: Log;
  readonly health: WriterHealth;
  readonly signal: AbortSignal;
  /** Told what keeps the indexer from its work; '' once nothing does. */
  readonly onHindrance: (reason: string) => void;
}

/**
 * Ties the tables to the chain that is followed. Empty tables are tied to a chain only once
 * a node says that it is of it, so that a mistake in CHAIN_ID or in a URL leaves no trace.
 * A node that does not answer, or is of another chain than CHAIN_ID, is asked again and again.
 *
 * @returns the chain id; '' when the signal came first.
 * @throws UserError when the tables are of another chain.
 */
export async function joinChain(options: JoinOptions): Promise<string> {
  const { config, node, store, log, signal, onHindrance } = options;
  for (let attempt = 0; !signal.aborted; attempt++) {
    try {
      const known = await store.chain();
      const chain_id =
        known === undefined
          ? (await fetchStatus(node.rpc, signal, config.CHAIN_ID)).network
          : config.CHAIN_ID || known.chain_id;
      await store.claim(chain_id, config.VM_TYPE);
      onHindrance('');
      return chain_id;
    } catch (error) {
      if (error instanceof UserError) throw error;
      if (signal.aborted) break;
      options.health.failed('tying the tables to the chain', error);
      onHindrance(`the chain is not known yet: ${messageOf(error)}`);
      if (attempt % 40 === 3)
        log.warn({ err: error }, `the chain is not known yet, the node is asked again: ${messageOf(error)}`);
      await sleep(retryDelay(attempt), signal);
    }
  }
  return '';
}
