import { createHash } from 'node:crypto';
import type { Database } from '../../common/clickhouse/database.js';
import type { ClientSecurity } from '../../common/rpc/transport.js';
import { messageOf, UserError } from '../../common/runtime/errors.js';
import { stopAll } from '../../common/runtime/lifecycle.js';
import type { Log } from '../../common/runtime/log.js';
import type { Metrics } from '../../common/runtime/metrics.js';
import { fetchHead } from '../contract/at-block.js';
import { createScoreContract } from '../contract/client.js';
import { fetchPrices, offerPrice } from '../contract/fees.js';
import { openEvm } from '../contract/open.js';
import { type EvmRpc, fromQuantity } from '../contract/rpc.js';
import { highestPrice } from '../contract/tx.js';
import type { KubeApi } from '../kubernetes/api.js';
import { decide } from '../machine/decide.js';
import { type Eyes, observe } from '../machine/observe.js';
import type { FactClients } from '../policy/gather/clients.js';
import { policyOf } from '../policy/parse.js';
import { PolicyError } from '../policy/policy.js';
import { readPolicyText } from '../policy/schema.js';
import { type SigningConfig, sendingOf } from '../program/config.js';
import { openProgram } from '../program/open.js';
import { type Program, programOf } from '../program/program.js';
import { readRuns, readTxs, type Source } from '../store/read.js';
import type { Run, StageTx } from '../store/rows.js';
import { scoringDatabase } from '../tables.js';
import { paths } from './environment.js';
import type { Look, Problem, SignerLook } from './look.js';
import { type Endpoints, ownEndpoints, ownPolicy, programFile } from './program-file.js';
import type { ScoringProgram } from './resource.js';

/** What programs are looked at with. */
export interface Sight {
  readonly api: Pick<KubeApi, 'configMap'>;
  readonly signing: SigningConfig;
  readonly database: Database;
  readonly database_name: string;
  readonly log: Log;
  readonly metrics: Metrics;
  /** How the services are spoken to; default: in plain text. */
  readonly security?: ClientSecurity;
  /** Clients of services in the same process, for tests. */
  readonly clients?: FactClients;
}

/** A program with what its ConfigMaps say filled in. */
export interface Resolved {
  /** What the Jobs are given: a policy in a ConfigMap is a path there. */
  readonly text: string;
  /** What the operator looks at: with the policy itself. */
  readonly file: Readonly<Record<string, unknown>>;
}

/** Why a program cannot be looked at. */
export class ProblemError extends Error {
  override name = 'ProblemError';

  constructor(readonly problem: Problem) {
    super(problem.message);
  }
}

/** Fills in what a program says by reference. @throws ProblemError, ApiError */
export async function resolveProgram(
  api: Pick<KubeApi, 'configMap'>,
  program: ScoringProgram,
): Promise<Resolved> {
  const { metadata, spec } = program;
  const read = async ({ name, key }: { readonly name: string; readonly key: string }): Promise<string> => {
    const text = (await api.configMap(metadata.namespace, name))?.[key];
    if (text === undefined) throw lasting('ConfigMapMissing', `there is no ConfigMap ${name} with ${key}`);
    return text;
  };
  const asValue = (text: string, from: string): unknown => {
    try {
      return readPolicyText(text);
    } catch {
      // The parser's words would quote the text.
      throw lasting(from.startsWith('policy') ? 'InvalidPolicy' : 'InvalidProgram', `${from} is no YAML`);
    }
  };
  const endpointsRef = spec.endpoints.configMapRef;
  const endpoints =
    ownEndpoints(spec) ??
    (endpointsRef && (asValue(await read(endpointsRef), `endpoints in ${endpointsRef.name}`) as Endpoints));
  const policyRef = spec.policy.configMapRef;
  const policy =
    ownPolicy(spec) ?? (policyRef && asValue(await read(policyRef), `policy in ${policyRef.name}`));
  if (endpoints === undefined || endpoints === null || policy === undefined || policy === null)
    throw lasting('InvalidProgram', 'the program has no endpoints, or no policy');
  const policyPath = policyRef === undefined ? policy : `${paths.policy}/${policyRef.key}`;
  return {
    text: JSON.stringify(programFile(program, endpoints, policyPath)),
    file: programFile(program, endpoints, policy),
  };
}

/** A program that is open for looking. */
export interface OpenEyes {
  /** Differs when the program has to be opened anew. */
  readonly hash: string;
  look(rules: Program['rules'], signal: AbortSignal): Promise<Look>;
  close(): Promise<void>;
}

/** Stages whose runs are told of in a status. */
const mostStages = 10;

/** What a resolved program is opened by: rules are no part of it, they are given with every look. */
export function hashOfFile(file: Resolved['file'], signer: string): string {
  const {
    approval: _a,
    approved_stage: _b,
    approved_list: _g,
    allow_empty: _c,
    stop_at_stage: _d,
    margin_seconds: _e,
    vip_version: _f,
    ...rest
  } = file;
  return createHash('sha256')
    .update(JSON.stringify([rest, signer]))
    .digest('hex');
}

/** Checks a resolved program and its policy. @throws ProblemError with every mistake */
export function checkedProgram(file: Resolved['file']): Program {
  try {
    const program = programOf(file, 'of the resource', paths.policy);
    const { account_prefix } = program.rollup;
    policyOf(program.policy, { from: 'the policy of the resource', account_prefix, folder: paths.policy });
    return program;
  } catch (error) {
    if (error instanceof PolicyError) throw lasting('InvalidPolicy', error.message);
    if (error instanceof UserError) throw lasting('InvalidProgram', error.message);
    throw error;
  }
}

/**
 * Checks that the operator reads the tables that the Jobs of a program write: of others it would never see a list that
 * was read back, and no stage would be finalized.
 *
 * @param database_name of the tables that the operator reads.
 * @throws ProblemError
 */
export function checkTables({ spec }: ScoringProgram, database_name: string): void {
  const written = scoringDatabase(spec.clickhouse.database);
  if (written !== database_name)
    throw lasting(
      'OtherTables',
      `the Jobs write to the database ${written} and the operator reads ${database_name}: spec.clickhouse.database and the operator's CLICKHOUSE_DATABASE must be the same`,
    );
}

/** Connects to everything that a program reads. @throws ProblemError */
export async function openEyes(
  sight: Sight,
  program: Program,
  signer: string,
  hash: string,
): Promise<OpenEyes> {
  const stops: (() => Promise<unknown>)[] = [];
  const close = stopAll(stops);
  const { signing, database, database_name, log, metrics } = sight;
  try {
    const opened = await openProgram(program, {
      signing,
      database,
      database_name,
      log,
      metrics,
      phases: { score: false, finalize: false },
      is_read_only: true,
      security: sight.security,
      ...(sight.clients === undefined ? {} : { clients: sight.clients }),
    });
    stops.push(opened.close);
    const sending = sendingOf(program, signing);
    const { TX_MAX_GAS_PRICE } = sending;
    const evm = await openEvm(sending, { log, metrics });
    stops.push(evm.close);
    const contract = createScoreContract({ rpc: evm.rpc, address: program.contract, from: signer });
    const { machine, source } = opened;
    const eyes: Eyes = {
      ...machine,
      contract,
      account: signer,
      // The Jobs write what they see; two writers of one program would count versions apart.
      store: { ...machine.store, noteStage: async () => {} },
    };
    const known = new Map<bigint, readonly StageTx[]>();
    return {
      hash,
      async look(rules, signal) {
        const observation = await observe(eyes, signal);
        signal.throwIfAborted();
        const runs = (await readRuns(source)).slice(-mostStages);
        return {
          at: Date.now(),
          observation,
          decision: decide(observation, rules),
          runs,
          txs: await txsOf(source, runs, known),
          signer: await lookAtSigner(evm.rpc, signer, TX_MAX_GAS_PRICE),
          rollup_height: await fetchHead(evm.rpc).catch(() => undefined),
        };
      },
      close,
    };
  } catch (error) {
    await close();
    if (error instanceof PolicyError) throw lasting('InvalidPolicy', error.message);
    if (error instanceof UserError) throw lasting('InvalidProgram', error.message);
    throw new ProblemError({ reason: 'Unreachable', message: messageOf(error), isLasting: false });
  }
}

/** The txs of stages; those of finalized ones do not change any more. */
async function txsOf(
  source: Source,
  runs: readonly Run[],
  known: Map<bigint, readonly StageTx[]>,
): Promise<ReadonlyMap<bigint, readonly StageTx[]>> {
  const found = new Map<bigint, readonly StageTx[]>();
  for (const { stage, is_finalized } of runs) {
    const txs = known.get(stage) ?? (await readTxs(source, stage));
    if (is_finalized) known.set(stage, txs);
    found.set(stage, txs);
  }
  return found;
}

async function lookAtSigner(rpc: EvmRpc, signer: string, max_gas_price: bigint): Promise<SignerLook> {
  try {
    const [balance, prices] = await Promise.all([
      rpc.call('eth_getBalance', [signer, 'latest']),
      fetchPrices(rpc),
    ]);
    return {
      balance: fromQuantity(balance, 'eth_getBalance'),
      gas_price: highestPrice(offerPrice(prices)),
      max_gas_price,
    };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

const lasting = (reason: Problem['reason'], message: string): ProblemError =>
  new ProblemError({ reason, message, isLasting: true });
