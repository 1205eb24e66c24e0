import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { loadSettings } from '../../services/common/runtime/config.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { lookAround, type OnboardFacts } from './facts.js';
import { writeProposal } from './proposal.js';
import { draftEntry } from './registry.js';
import { onboardSettings } from './settings.js';
import type { Step } from './steps/step.js';
import { stepsOf } from './steps.js';

const usage = `weft onboard: walks through what joining the rewards program takes, and changes nothing
  --out FOLDER      where records of deploy-contract are, and where --write writes; default: here
  --registry FILE   the registry entry to check; default: chain.json in that folder
  --policy FILE     the scoring policy, for the proposal
  --write           write a draft of the registry entry and of the proposal, where there are none
  --json            print the steps as JSON

Environment: RPC_URL, REST_URL, JSON_RPC_URL, L1_REST_URL, VIP_MODULE_ADDRESS, NETWORK (mainnet or testnet),
OPERATOR_ADDRESS, DEPLOYER_ADDRESS or a signer (only its address is looked at), SCORE_CONTRACT, ROLLUP_TOOL.
Exit code 1 when something is wrong that would do harm.
`;

/** What a run uses of the world, for tests. */
export interface OnboardWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
}

const thisProcess: OnboardWorld = {
  env: process.env,
  print: (text) => void process.stdout.write(`${text}\n`),
  now: Date.now,
};

/** `weft onboard`. Sets the exit code 1 when a step is wrong. @throws ConfigError */
export async function runOnboard(args: string[], world: OnboardWorld = thisProcess): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      out: { type: 'string', default: '.' },
      registry: { type: 'string' },
      policy: { type: 'string' },
      write: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    world.print(usage.trimEnd());
    return;
  }
  const look = (): Promise<OnboardFacts> =>
    lookAround(config, {
      folder: values.out,
      registry_path: values.registry ?? join(values.out, 'chain.json'),
      policy_path: values.policy,
      log: createLog('silent'),
      metrics: createMetrics(),
    });
  const config = loadSettings(onboardSettings, world.env);
  let facts = await look();
  const written = values.write ? write(facts, values.out) : [];
  if (written.length > 0) facts = await look();
  const steps = stepsOf(facts, Math.floor(world.now() / 1000));
  world.print(
    values.json
      ? JSON.stringify({ steps, written }, null, 2)
      : [...steps.map(inWords), ...written].join('\n'),
  );
  if (steps.some(({ state }) => state === 'wrong')) process.exitCode = 1;
}

/** Writes what is not there yet; what is there is a person's, and stays. */
function write(facts: OnboardFacts, folder: string): string[] {
  const files: [string, string][] = [
    [facts.registry_path, `${JSON.stringify(draftEntry(facts), null, 2)}\n`],
    [join(folder, 'whitelist-proposal.md'), writeProposal(facts).text],
  ];
  mkdirSync(folder, { recursive: true });
  return files.map(([path, text]) => {
    if (existsSync(path)) return `${path} is there already, and was left as it is`;
    writeFileSync(path, text);
    return `written: ${path}`;
  });
}

function inWords({ title, state, facts, todo }: Step, index: number): string {
  const head = `${String(index + 1).padStart(2)}. ${state.padEnd(8)} ${title}`;
  const indent = ' '.repeat(13);
  return [head, ...facts.map((fact) => `${indent}${fact}`), ...todo.map((one) => `${indent}-> ${one}`)].join(
    '\n',
  );
}
