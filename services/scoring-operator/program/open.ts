import { setMaxListeners } from 'node:events';
import { answerBound, createEndpoints, NodeError } from '../../common/chain/endpoints.js';
import type { Database } from '../../common/clickhouse/database.js';
import { BlockServiceClient } from '../../common/gen/indexer/block/v1/block.js';
import { NftServiceClient } from '../../common/gen/indexer/nft/v1/nft.js';
import { RichlistServiceClient } from '../../common/gen/indexer/richlist/v1/richlist.js';
import { TxServiceClient } from '../../common/gen/indexer/tx/v1/tx.js';
import { connectRpc } from '../../common/rpc/client.js';
import type { ClientSecurity } from '../../common/rpc/transport.js';
import { messageOf, UserError } from '../../common/runtime/errors.js';
import { stopAll } from '../../common/runtime/lifecycle.js';
import type { Log } from '../../common/runtime/log.js';
import type { Metrics } from '../../common/runtime/metrics.js';
import type { Superseded } from '../../common/writer/fence.js';
import { createScoreContract } from '../contract/client.js';
import { type Evm, openContract, openEvm } from '../contract/open.js';
import { createL1Client, systemClock } from '../l1/client.js';
import { fetchBridgeId } from '../l1/views.js';
import { type ChainFacts, chainDoubt } from '../machine/chain.js';
import type { ContractReads, ScoreSender } from '../machine/ports.js';
import type { Machine, Phases } from '../machine/run.js';
import type { Rules } from '../machine/types.js';
import { ask, type FactClients } from '../policy/gather/clients.js';
import { sourceDoubt } from '../policy/source.js';
import type { Source } from '../store/read.js';
import { openScoringStore } from '../store/store.js';
import { createProgramFence } from '../tables.js';
import { type SigningConfig, sendingOf } from './config.js';
import { openIndex, openPolicy, type ProgramPolicy } from './policy.js';
import type { Program } from './program.js';

/** What a program is opened with. */
export interface OpenOptions {
  readonly signing: SigningConfig;
  readonly database: Database;
  /** Database of the service, e.g. `weft_scoring`; its tables are there already. */
  readonly database_name: string;
  /** See `ProgramFenceOptions`; of no use where the program is only read. Default: 20 s. */
  readonly lease_ms?: number;
  /** Called when another process has taken over; every write fails from then on. */
  readonly onSuperseded?: (error: Superseded) => void;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly phases: Phases;
  /** The rules as they are now; default: those of the program as it was read. */
  readonly rules?: (() => Rules) | undefined;
  /** Without a signer nothing can be sent, and whether it would be allowed to is not looked at. */
  readonly is_read_only?: boolean;
  /** Clients of services in the same process; default: those at the program's addresses. */
  readonly clients?: FactClients;
  /** How the services are spoken to; default: in plain text. */
  readonly security?: ClientSecurity | undefined;
  readonly signal?: AbortSignal;
  readonly onStep?: Machine['onStep'];
  readonly onProgress?: Machine['onProgress'];
  readonly fault?: Machine['fault'];
}

/** A program with everything that it needs, connected. */
export interface OpenProgram {
  readonly machine: Machine & { readonly policy: ProgramPolicy };
  /** Where its rows are. */
  readonly source: Source;
  readonly evm_chain_id: bigint;
  /** Account that signs; '' without a signer. */
  readonly account: string;
  close(): Promise<void>;
}

/** How often the first look at the L1 asks again until its time has moved, in milliseconds. */
const again_ms = 1_000;

/**
 * Connects a program: the contract's node must answer, and the rollup's REST API where it is to tell the bridge;
 * everything else may still be down.
 *
 * @throws UserError for mistakes, NodeError and others while something is not there.
 */
export async function openProgram(program: Program, options: OpenOptions): Promise<OpenProgram> {
  const { signing, database, database_name, log, metrics, signal } = options;
  const stops: (() => Promise<unknown>)[] = [];
  const close = stopAll(stops);
  // Every request and every wait that is under way listens to it.
  if (signal !== undefined) setMaxListeners(0, signal);
  try {
    const tools = { log, metrics, signal };
    const sending = sendingOf(program, signing);
    const opened = options.is_read_only
      ? await openReadOnly(program, sending, tools)
      : await openContract(sending, program.contract, tools);
    stops.push(opened.close);
    const { contract, sender, chain_id, chainIds, account } = opened;

    const clients = options.clients ?? connectAll(program, options.security);
    if (options.clients === undefined)
      stops.push(async () =>
        Object.values(clients).forEach((client) => {
          client.close();
        }),
      );
    const policy = await openPolicy(program, clients);
    for (const rule of policy.policy.rules) {
      const doubt = rule.kind === 'source' ? sourceDoubt(rule) : undefined;
      if (doubt !== undefined) log.warn(doubt);
    }
    const shared = {
      ...{ log, metrics, service: 'scoring', bound: answerBound(signing) },
      ...{ timeout_ms: signing.NODE_TIMEOUT_MS, connections: 4 },
    };
    const l1 = createL1Client({
      ...shared,
      urls: program.l1.urls,
      module: program.l1.module,
      chain_id: program.l1.chain_id,
      standstill_ms: program.l1.standstill_seconds * 1_000,
      agreeing: program.l1.agreeing_urls,
      max_ahead_ms: program.l1.max_ahead_seconds * 1_000,
      again_ms,
    });
    stops.push(() => l1.close());

    const wanted = { chain_id: program.rollup.chain_id, evm_chain_id: sending.EVM_CHAIN_ID };
    const noteDoubt = onceAChange((doubt) => log.warn(doubt));
    const name = `${chain_id}/${contract.address.toLowerCase()}`;
    const { lease_ms = 20_000, onSuperseded } = options;
    const fence = createProgramFence({ database, database_name, program: name, lease_ms, log, onSuperseded });
    // Where nothing is sent nothing is written either.
    if (!options.is_read_only && !(await fence.acquire(signal ?? new AbortController().signal)))
      throw new Error('stopped while another process scored the program');
    stops.push(() => fence.release());
    const store = await openScoringStore(fence.over(database), database_name, name);
    const machine = {
      l1,
      contract,
      chain: {
        wanted,
        async look(signal?: AbortSignal) {
          const facts = await lookAtChain(chain_id, chainIds, clients, signal);
          noteDoubt(chainDoubt(facts, wanted));
          return facts;
        },
      },
      sender,
      account,
      policy,
      index: openIndex(policy.policy, clients),
      store: options.is_read_only ? { ...store, noteStage: async () => {} } : store,
      bridge_id: await bridgeOf(program, shared, signal),
      start_stage: program.start_stage,
      windows: program.windows,
      count_intervals: program.count_intervals,
      account_prefix: program.rollup.account_prefix,
      rules: options.rules ?? (() => program.rules),
      phases: options.phases,
      clock: systemClock,
      log,
      onStep: options.onStep,
      onProgress: options.onProgress,
      fault: options.fault,
    };
    return {
      machine,
      source: { database, database_name, program: name },
      evm_chain_id: chain_id,
      account,
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Which chain the nodes and the index are of now. */
async function lookAtChain(
  chain_id: bigint,
  chainIds: Evm['chainIds'],
  { block }: FactClients,
  signal = new AbortController().signal,
): Promise<ChainFacts> {
  const [said, indexed] = await Promise.all([
    chainIds(),
    ask(block.getStatus.bind(block), {}, signal).then(
      (status) => status.chain_id,
      (error: unknown) => ({ error: messageOf(error) }),
    ),
  ]);
  const signed = { from: 'what txs are signed for', id: chain_id };
  return { evm: said.length === 0 ? [] : [...said, signed], indexed };
}

/** Tells a text only when it is another one than before. */
function onceAChange(tell: (text: string) => void): (text: string | undefined) => void {
  let last: string | undefined;
  return (text) => {
    if (text !== undefined && text !== last) tell(text);
    last = text;
  };
}

async function openReadOnly(
  program: Program,
  sending: Parameters<typeof openEvm>[0],
  tools: Parameters<typeof openEvm>[1],
): Promise<{
  readonly contract: ContractReads;
  readonly sender: ScoreSender;
  readonly chain_id: bigint;
  readonly chainIds: Evm['chainIds'];
  readonly account: string;
  close(): Promise<void>;
}> {
  const { rpc, chain_id, chainIds, close } = await openEvm(sending, tools);
  const contract = createScoreContract({ rpc, address: program.contract, from: `0x${'0'.repeat(40)}` });
  const refuse = (): Promise<never> => Promise.reject(new Error('there is no signer: nothing can be sent'));
  return {
    contract: {
      ...contract,
      at: (height, signal) => ({ ...contract.at(height, signal), isAllowed: async () => true }),
    },
    sender: { sendScores: refuse, finalize: refuse, settle: refuse },
    chain_id,
    chainIds,
    account: '',
    close,
  };
}

function connectAll({ indexers }: Program, security?: ClientSecurity): FactClients {
  return {
    block: connectRpc(BlockServiceClient, indexers.block, security),
    tx: connectRpc(TxServiceClient, indexers.tx, security),
    nft: connectRpc(NftServiceClient, indexers.nft, security),
    richlist: connectRpc(RichlistServiceClient, indexers.richlist, security),
  };
}

/**
 * The bridge to compare the registration of; undefined when nothing is to be compared.
 *
 * @throws UserError where the rollup has none.
 */
export async function bridgeOf(
  { bridge_id, rollup }: Pick<Program, 'bridge_id' | 'rollup'>,
  shared: Parameters<typeof createEndpoints>[2],
  signal?: AbortSignal,
): Promise<bigint | undefined> {
  if (bridge_id === 'none' || (bridge_id === 'auto' && rollup.rest_urls.length === 0)) return undefined;
  if (bridge_id !== 'auto') return bridge_id;
  const rest = createEndpoints('rest', rollup.rest_urls, shared);
  try {
    return await fetchBridgeId(rest, { signal });
  } catch (error) {
    // Whoever has no bridge does not get one by waiting.
    if (!(error instanceof NodeError) || !/HTTP (404|501)\b|not found/i.test(error.message)) throw error;
    throw new UserError(
      `the rollup's REST API knows no bridge (${error.message}): say bridge_id in the program, the number of the rollup's bridge on the L1, or none to compare nothing`,
      { cause: error },
    );
  } finally {
    await rest.close();
  }
}
