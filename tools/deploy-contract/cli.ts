import { parseArgs } from 'node:util';
import { NodeError } from '../../services/common/chain/endpoints.js';
import { messageOf, TryAgainError, UserError } from '../../services/common/runtime/errors.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { readArtifact } from '../../services/scoring-operator/contract/artifact.js';
import { createScoreContract } from '../../services/scoring-operator/contract/client.js';
import { ContractError } from '../../services/scoring-operator/contract/errors.js';
import { type Evm, openEvm } from '../../services/scoring-operator/contract/open.js';
import { RpcAnswerError } from '../../services/scoring-operator/contract/rpc.js';
import { createSigner } from '../../services/scoring-operator/contract/signer.js';
import { checkGas, checkPublisher, chooseStage, type Finding } from './checks.js';
import { type DeployInput, deploy, finishPending } from './deploy.js';
import { type DeployRecord, readRecords } from './record.js';
import { loadDeployConfig } from './settings.js';

const usage = `weft deploy-contract: deploys the scoring contract
  --out FOLDER   where the record is written and looked for; default: here
  --again        deploy although there is a record of a contract on this chain
  --check        check everything and deploy nothing

Environment: JSON_RPC_URL, INIT_STAGE (a number, or auto with L1_REST_URL and VIP_MODULE_ADDRESS), and one of
PRIVATE_KEY, PRIVATE_KEY_FILE, MNEMONIC, MNEMONIC_FILE, SIGNER_URL. Optional: REST_URL (gas limit, who may deploy),
EVM_CHAIN_ID (compared when given), MNEMONIC_INDEX, SIGNER_ADDRESS. CONFIGURATION.md has them all.

Prints the address, and nothing else, on standard output. Exit code 1: a mistake; 75: may work when tried again.
`;

/** What a run uses of the world, for tests. */
export interface DeployWorld {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Standard output: the address alone. */
  readonly print: (text: string) => void;
  /** Standard error: everything else. */
  readonly say: (text: string) => void;
}

const thisProcess: DeployWorld = {
  env: process.env,
  print: (text) => void process.stdout.write(`${text}\n`),
  say: (text) => void process.stderr.write(`${text}\n`),
};

/** `weft deploy-contract`. @throws UserError, TryAgainError */
export async function runDeployContract(args: string[], world: DeployWorld = thisProcess): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      out: { type: 'string', default: '.' },
      again: { type: 'boolean', default: false },
      check: { type: 'boolean', default: false },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    world.print(usage.trimEnd());
    return;
  }
  try {
    await run(values, world);
  } catch (error) {
    throw asExit(error);
  }
}

/** What the process ends with: a mistake, or something that may heal. */
function asExit(error: unknown): unknown {
  if (error instanceof NodeError) return new TryAgainError(error.message);
  if (error instanceof RpcAnswerError) return new UserError(error.message);
  if (error instanceof ContractError) {
    const heals = ['not_mined', 'aborted', 'nonce_taken'].includes(error.kind);
    return heals
      ? new TryAgainError(`${error.message}\nrun the same command again: it looks for that tx first`)
      : new UserError(error.message);
  }
  return error;
}

async function run(
  { out, again, check }: { out: string; again: boolean; check: boolean },
  { env, print, say }: DeployWorld,
): Promise<void> {
  const config = loadDeployConfig(env);
  const [log, metrics, artifact] = [createLog('silent'), createMetrics(), readArtifact()];
  const evm = await openEvm(config, { log, metrics });
  try {
    say(`EVM chain id ${evm.chain_id}${config.EVM_CHAIN_ID === undefined ? '' : ', as EVM_CHAIN_ID says'}`);
    const signer = await createSigner(config);
    say(`deployer ${signer.address} (${signer.description})`);
    const deployer = signer.address;
    const input: DeployInput = { config, evm, artifact, deployer, signer, folder: out, say, log, metrics };

    const finished = check ? undefined : await finishPending(input);
    if (finished !== undefined) return print(finished.address);

    const findings: Finding[] = again ? [] : await existing(evm, out, deployer);
    const { stage, findings: ofStage } = await chooseStage(input);
    findings.push(...ofStage, ...(await checkPublisher(input)));
    if (stage !== undefined) findings.push(...(await checkGas(input, stage)));
    for (const { state, text } of findings) say(`${marks[state]} ${text}`);
    stopIfWrong(findings);
    if (check) return say('everything is right; nothing was deployed');
    print((await deploy(input, stage as bigint)).address);
  } finally {
    await evm.close();
  }
}

const marks = { ok: '  ok  ', note: '  note', wrong: ' WRONG', later: ' LATER' } as const;

function stopIfWrong(findings: readonly Finding[]): void {
  const count = (state: Finding['state']): number => findings.filter((one) => one.state === state).length;
  const [bad, later] = [count('wrong'), count('later')];
  if (bad > 0)
    throw new UserError(`nothing was deployed: ${bad} of the checks above ${bad === 1 ? 'is' : 'are'} wrong`);
  if (later > 0) throw new TryAgainError('nothing was deployed: not everything could be checked; see above');
}

/** Contracts of this chain that are written down already, and whether they are on the chain. */
async function existing(evm: Evm, folder: string, from: string): Promise<Finding[]> {
  const records = readRecords(folder, evm.chain_id);
  return Promise.all(
    records.map(async (record): Promise<Finding> => {
      const text = `there is a contract of this chain already: ${record.address}, from stage ${record.init_stage} on, deployed by ${record.deployer}; ${await presence(evm, record, from)}`;
      return { state: 'wrong', text: `${text}. --again deploys another one` };
    }),
  );
}

async function presence(evm: Evm, { address }: DeployRecord, from: string): Promise<string> {
  try {
    const first = await createScoreContract({ rpc: evm.rpc, address, from }).initStage();
    return `it is on the chain${first === undefined ? '' : `, first stage ${first}`}`;
  } catch (error) {
    return `it cannot be read: ${messageOf(error)}`;
  }
}
