import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Database } from '../../services/common/clickhouse/database.js';
import { openDatabase } from '../../services/common/clickhouse/open.js';
import { loadSettings } from '../../services/common/runtime/config.js';
import { messageOf, UserError } from '../../services/common/runtime/errors.js';
import { runUntilSignal, stopAll } from '../../services/common/runtime/lifecycle.js';
import { createLog, type Log } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { plan } from '../../services/scoring-operator/machine/act.js';
import { decide } from '../../services/scoring-operator/machine/decide.js';
import { observe } from '../../services/scoring-operator/machine/observe.js';
import { exitCodeOf, runLoop, runPass, type Step } from '../../services/scoring-operator/machine/run.js';
import { loadSigning, signingSettings } from '../../services/scoring-operator/program/config.js';
import {
  type OpenOptions,
  type OpenProgram,
  openProgram,
} from '../../services/scoring-operator/program/open.js';
import { loadProgram, type Program, rereadRules } from '../../services/scoring-operator/program/program.js';
import { makeTables } from '../../services/scoring-operator/tables.js';
import { clientSecurity } from '../transport.js';
import { checkCombinations } from './combinations.js';
import { dryRunText } from './dry-run.js';
import { forgetFinalized, forgetHeight, forgetStage } from './forget.js';
import { progressBar, type Screen, stepLine, stepPrinter } from './print.js';
import { scoreOwnSettings } from './settings.js';
import { showText } from './show.js';

const usage = `weft score --program FILE [--once] [--dry-run] [--show WHAT] [--forget-stage N] [--forget-finalized N] [--forget-height N]: scores and finalizes the stages of a program

  --program FILE  the program: YAML or JSON, see services/scoring-operator/program/schema.json
  --once          does what can be done now, and ends
  --dry-run       shows what would be done now, and sends nothing; needs no key
  --show WHAT     what was done: status, a stage's number, or an address
  --service ADDR  with --show: asks a running operator (gRPC) instead of opening its tables
  --forget-finalized N  forgets that a stage was finalized, after the rollup itself was rolled back past it; stands
                  alone with --program
  --forget-height N  forgets the blocks from N on that receipts of txs have named, where the rollup is not there: no
                  node is believed before it has reached the highest of them; stands alone with --program
  --forget-stage N  forgets that the L1 was seen in a stage, after it was believed wrongly; refused where a tx was
                  sent for it; stands alone with --program

The key comes from the environment: PRIVATE_KEY, PRIVATE_KEY_FILE, MNEMONIC, MNEMONIC_FILE or SIGNER_URL.
Without --once it goes on until Ctrl-C. Exit codes: 0 all is well, also while a stage waits for its end or for
a person's word; 1 a person has to repair something; 75 it may work later.
`;

interface Options {
  readonly program: Program;
  /** Path of the program's file. */
  readonly path: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: Log;
  readonly screen: Screen;
}

/** `weft score`. */
export async function runScore(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      program: { type: 'string' },
      once: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
      show: { type: 'string' },
      service: { type: 'string' },
      'forget-stage': { type: 'string' },
      'forget-finalized': { type: 'string' },
      'forget-height': { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  const screen = process.stdout;
  if (values.help) {
    screen.write(usage);
    return;
  }
  checkCombinations(values);
  if (values.program === undefined) throw new UserError(`--program is missing\n\n${usage}`);
  const program = loadProgram(values.program);
  const config = loadSettings(scoreOwnSettings, process.env);
  const log = createLog(config.LOG_LEVEL, 2);
  const options: Options = { program, path: values.program, env: process.env, log, screen };
  if (values.show !== undefined && values.service !== undefined) {
    screen.write(await showText(program, values.show, { address: values.service }));
    return;
  }
  const forgetting = [
    [values['forget-stage'], forgetStage],
    [values['forget-finalized'], forgetFinalized],
    [values['forget-height'], forgetHeight],
  ] as const;
  const isShort = values.show !== undefined || forgetting.some(([number]) => number !== undefined);
  if (!isShort && !values['dry-run'] && !values.once) return runForever(options);
  const code = await withDatabase(process.env, async (database, database_name) => {
    if (values.show !== undefined) {
      screen.write(await showText(program, values.show, { database, database_name }));
      return 0;
    }
    const tables = { database, database_name, lease_ms: config.WRITER_LEASE_MS, log };
    for (const [number, forget] of forgetting) {
      if (number === undefined) continue;
      screen.write(await forget(program, number, tables));
      return 0;
    }
    return values['dry-run']
      ? dryRun(options, database, database_name)
      : once(options, database, database_name);
  });
  process.exit(code);
}

/** Opens the tables, and closes them whatever happens. */
async function withDatabase<T>(
  env: Options['env'],
  work: (database: Database, database_name: string) => Promise<T>,
): Promise<T> {
  const config = loadSettings(scoreOwnSettings, env);
  const database = await openDatabase({ ...config, DATA_DIR: join(config.DATA_DIR, 'scoring') });
  try {
    return await work(database, await makeTables(database, config));
  } finally {
    await database.close();
  }
}

/** A program opened for this command; what fails now may work later, so it has its own exit code. */
function open(
  { program, path, env, log, screen }: Options,
  database: Database,
  database_name: string,
  extra: Pick<OpenOptions, 'is_read_only' | 'signal' | 'onSuperseded'>,
): Promise<OpenProgram> {
  const bar = progressBar(screen);
  const print = stepPrinter(screen);
  return openProgram(program, {
    signing: extra.is_read_only ? readOnlySigning(env) : loadSigning(env),
    database,
    database_name,
    lease_ms: loadSettings(scoreOwnSettings, env).WRITER_LEASE_MS,
    log,
    metrics: createMetrics(),
    security: clientSecurity(),
    phases: { score: true, finalize: true },
    rules: rereadRules(path, program.rules, (message) => log.error(message)),
    onProgress: bar.show,
    onStep: (step) => {
      bar.end();
      print(step);
    },
    ...extra,
  });
}

/** A dry run looks at no key, not even at whether it is one. */
function readOnlySigning(env: Options['env']): ReturnType<typeof loadSigning> {
  const names = Object.keys(signingSettings).filter((name) => !/^(PRIVATE_KEY|MNEMONIC|SIGNER)/.test(name));
  return loadSigning(Object.fromEntries(names.map((name) => [name, env[name]])));
}

async function once(options: Options, database: Database, database_name: string): Promise<number> {
  const controller = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => controller.abort());
  return trying(options.log, async () => {
    const opened = await open(options, database, database_name, { signal: controller.signal });
    try {
      return exitCodeOf(await runPass(opened.machine, controller.signal));
    } finally {
      await opened.close();
    }
  });
}

async function dryRun(options: Options, database: Database, database_name: string): Promise<number> {
  return trying(options.log, async () => {
    const opened = await open(options, database, database_name, { is_read_only: true });
    try {
      const { machine } = opened;
      const observation = await observe(machine);
      const decision = decide(observation, machine.rules());
      const step: Step = { observation, decision, error: undefined };
      options.screen.write(`${stepLine(step, true)}\n`);
      if (decision.kind === 'score') {
        const planned = await plan(machine, decision.stage, decision.window);
        options.screen.write(dryRunText(decision.window, planned));
      }
      options.screen.write('Dry run: nothing was sent.\n');
      return exitCodeOf(step);
    } finally {
      await opened.close();
    }
  });
}

/** What cannot be reached may be there later. */
async function trying(log: Log, work: () => Promise<number>): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UserError) throw error;
    log.debug({ err: error }, messageOf(error));
    process.stderr.write(`${messageOf(error)}\n`);
    return 75;
  }
}

/** Runs until Ctrl-C. */
async function runForever(options: Options): Promise<void> {
  const { program, env, log } = options;
  await runUntilSignal(log, async (_, onFatal) => {
    const config = loadSettings(scoreOwnSettings, env);
    const database = await openDatabase({ ...config, DATA_DIR: join(config.DATA_DIR, 'scoring') });
    const stops = [() => database.close()];
    try {
      const stopping = new AbortController();
      const name = await makeTables(database, config);
      const opened = await open(options, database, name, {
        signal: stopping.signal,
        onSuperseded: onFatal,
      });
      stops.push(() => opened.close());
      const loop = { poll_ms: program.poll_seconds * 1_000, longest_ms: 300_000 };
      const work = runLoop(opened.machine, loop, stopping.signal);
      stops.push(async () => {
        stopping.abort();
        await work;
      });
      return { stop: stopAll(stops) };
    } catch (error) {
      await stopAll(stops)();
      throw error;
    }
  });
}
