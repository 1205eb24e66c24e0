import { randomBytes } from 'node:crypto';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../common/clickhouse/open.js';
import { checkTransport, openTransport } from '../common/rpc/transport.js';
import { loadSettings, type ValuesOf } from '../common/runtime/config.js';
import { messageOf, UserError } from '../common/runtime/errors.js';
import { createLog, type Log } from '../common/runtime/log.js';
import { createMetrics } from '../common/runtime/metrics.js';
import { isMainModule } from '../common/runtime/paths.js';
import { jobSettings } from './config.js';
import { createKubeApi, loadKubeConfig } from './kubernetes/api.js';
import { acquireLease, type HeldLease, leaseTimes } from './kubernetes/lease.js';
import { describe, exitCodeOf, type Phases, runPass } from './machine/run.js';
import { openProgram } from './program/open.js';
import { loadProgram, type Program, parseProgram } from './program/program.js';
import { makeTables } from './tables.js';

/*
 * What a CronJob runs: one pass of the stage machine with one of its phases. CronJobs start Jobs at least once, so
 * everything is looked at anew, and nothing is sent without the Lease of the signer.
 */

/** How a Job ends. The CronJob's podFailurePolicy gives up at once after usage and config. */
export const exitCodes = {
  done: 0,
  /** A person has to do something: what was found must not be written to. */
  precondition: 64,
  /** Try again: something did not answer, or another holds the Lease. */
  again: 75,
  /** The configuration, the program or the policy is wrong. */
  config: 78,
} as const;

/** What each Job may do. */
const phasesOf: Readonly<Record<string, Phases>> = {
  score: { score: true, finalize: false },
  finalize: { score: false, finalize: true },
};

type JobConfig = ValuesOf<typeof jobSettings>;

/** Runs one Job to its end. @returns the exit code of the process. */
export async function runJob(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
  signal: AbortSignal,
): Promise<number> {
  try {
    const phases = phasesOf[args[0] ?? ''];
    if (phases === undefined || args.length !== 1) throw new UserError('say what to do: score or finalize');
    const config = loadSettings(jobSettings, env, (values) => [
      ...checkTransport(values),
      ...((values.SCORING_PROGRAM === '') === (values.SCORING_PROGRAM_TEXT === '')
        ? ['exactly one of SCORING_PROGRAM and SCORING_PROGRAM_TEXT has to be set']
        : []),
    ]);
    log.level = config.LOG_LEVEL;
    const program =
      config.SCORING_PROGRAM === ''
        ? parseProgram(config.SCORING_PROGRAM_TEXT, 'in SCORING_PROGRAM_TEXT', '/')
        : loadProgram(config.SCORING_PROGRAM);
    return await withLease(config, env, log, signal, (held) => pass(config, program, phases, log, held));
  } catch (error) {
    if (signal.aborted) {
      log.info('stopped');
      return exitCodes.again;
    }
    if (error instanceof UserError) process.stderr.write(`${messageOf(error)}\n`);
    else log.error({ err: error }, messageOf(error));
    return error instanceof UserError ? exitCodes.config : exitCodes.again;
  }
}

/** Looks, decides and acts. The tables are opened under the Lease too: they have one writer at a time. */
async function pass(
  config: JobConfig,
  program: Program,
  phases: Phases,
  log: Log,
  signal: AbortSignal,
): Promise<number> {
  const metrics = createMetrics();
  const transport = openTransport(config, log, metrics);
  const database = await openDatabase({ ...config, DATA_DIR: join(config.DATA_DIR, 'scoring') });
  try {
    const opened = await openProgram(program, {
      signing: config,
      database,
      database_name: await makeTables(database, config),
      lease_ms: config.WRITER_LEASE_MS,
      log,
      metrics,
      security: transport.client,
      phases,
      signal,
    });
    try {
      const step = await runPass(opened.machine, signal);
      const { kind, reason, message } = describe(step.decision);
      log.info({ kind, reason, error: step.error }, message || reason);
      if (signal.aborted) return exitCodes.again;
      const code = exitCodeOf(step);
      return code === 1 ? exitCodes.precondition : code;
    } finally {
      await opened.close();
    }
  } finally {
    transport.close();
    await database.close();
  }
}

/** Does work while the Lease is held; its signal ends when the Lease is lost, or the process is told to end. */
async function withLease(
  config: JobConfig,
  env: Readonly<Record<string, string | undefined>>,
  log: Log,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<number>,
): Promise<number> {
  if (config.LEASE_NAME === '') return work(signal);
  const options = {
    api: createKubeApi(loadKubeConfig(env)),
    namespace: config.LEASE_NAMESPACE,
    name: config.LEASE_NAME,
    // A pod that is started anew may have the name of the one before.
    identity: `${config.LEASE_HOLDER || `${hostname()}-${process.pid}`}_${randomBytes(4).toString('hex')}`,
    times: leaseTimes(config.LEASE_SECONDS),
    log,
  };
  const lease: HeldLease | undefined = await acquireLease(options, config.LEASE_WAIT_SECONDS * 1_000, signal);
  if (lease === undefined) {
    log.warn({ lease: config.LEASE_NAME }, 'another process sends with this key: left to be tried again');
    return exitCodes.again;
  }
  try {
    const code = await work(AbortSignal.any([signal, lease.lost]));
    return lease.lost.aborted && code === exitCodes.done ? exitCodes.again : code;
  } finally {
    await lease.release();
  }
}

async function main(): Promise<void> {
  const log = createLog('info');
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.on(name, () => {
      log.info({ signal: name }, 'stopping once the tx under way is settled or written down');
      stopping.abort();
    });
  process.exit(await runJob(process.argv.slice(2), process.env, log, stopping.signal));
}

if (isMainModule(import.meta.url)) await main();
