import { AccessDenied, TryAgainError, UserError } from '../services/common/runtime/errors.js';
import { isMainModule } from '../services/common/runtime/paths.js';

/** A command: what it is for, and how to run it. Its code is loaded only when it is wanted. */
interface Command {
  readonly summary: string;
  readonly load: () => Promise<(args: string[]) => Promise<void>>;
}

const commands: Readonly<Record<string, Command>> = {
  start: {
    summary: 'index a rollup and serve its API, all in one process (a recorded rollup without RPC_URL)',
    load: async () => (await import('./start/cli.js')).runStart,
  },
  replay: {
    summary: 'play a recorded, or a generated, rollup node over HTTP',
    load: async () => (await import('./replay/cli.js')).runReplay,
  },
  capture: {
    summary: 'record the exchanges with a rollup node',
    load: async () => (await import('./capture/cli.js')).runCapture,
  },
  config: {
    summary: 'print the reference of all settings',
    load: async () => (await import('./config/cli.js')).runConfig,
  },
  migrate: {
    summary: 'bring the tables of every service up to date, and end',
    load: async () => (await import('./migrate/cli.js')).runMigrate,
  },
  reindex: {
    summary: "rebuild a service's tables from the blocks' raw material, while the old ones serve",
    load: async () => (await import('./reindex/cli.js')).runReindex,
  },
  verify: {
    summary: 'compare what is indexed with what the node says now',
    load: async () => (await import('./verify/cli.js')).runVerify,
  },
  'retry-details': {
    summary: 'ask the node again for names and uris of NFTs that were given up',
    load: async () => (await import('./retry-details/cli.js')).runRetryDetails,
  },
  'deploy-contract': {
    summary: 'deploy the scoring contract; its address, and nothing else, on standard output',
    load: async () => (await import('./deploy-contract/cli.js')).runDeployContract,
  },
  onboard: {
    summary: 'walk through what joining the rewards program takes: what is done, and what is missing',
    load: async () => (await import('./onboard/cli.js')).runOnboard,
  },
  dev: {
    summary: 'a devnet in which stages are scored and finalized',
    load: async () => (await import('./dev/cli.js')).runDev,
  },
  score: {
    summary: 'score and finalize the stages of a rewards program',
    load: async () => (await import('./score/cli.js')).runScore,
  },
  healthcheck: {
    summary: 'ask services and the gateway how they are',
    load: async () => (await import('./healthcheck/cli.js')).runHealthcheck,
  },
  programs: {
    summary: 'make the ScoringPrograms of a Kubernetes namespace those of a file',
    load: async () => (await import('./programs/cli.js')).runPrograms,
  },
  bench: {
    summary: 'measure catching up and every route on a generated chain',
    load: async () => (await import('./bench/cli.js')).runBench,
  },
};

function usage(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length));
  const lines = Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  return `weft COMMAND [OPTIONS]\n\n${lines.join('\n')}\n\n  weft COMMAND --help tells more of a command.\n`;
}

async function run([name, ...args]: string[], takeSignals: () => void): Promise<void> {
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    process.stdout.write(usage());
    return;
  }
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) throw new UserError(`there is no command ${JSON.stringify(name)}\n\n${usage()}`);
  const start = await command.load();
  takeSignals();
  await start(args);
}

/**
 * The command line. Ends the process with code 1 for a mistake of the user's, 75 for what may work later.
 *
 * @param takeSignals called right before a command runs: from then on signals are its own.
 */
export async function main(args: string[], takeSignals: () => void): Promise<void> {
  try {
    await run(args, takeSignals);
  } catch (error) {
    if (error instanceof TryAgainError) {
      process.stderr.write(`${error.message}\n`);
      process.exit(75);
    }
    const own =
      error instanceof UserError ||
      error instanceof AccessDenied ||
      (error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS');
    process.stderr.write(`${own ? (error as Error).message : (error as Error).stack}\n`);
    process.exit(1);
  }
}

if (isMainModule(import.meta.url)) await main(process.argv.slice(2), () => {});
