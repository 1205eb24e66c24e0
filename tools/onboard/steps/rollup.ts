import { derivedChainId } from '../../../services/scoring-operator/contract/rpc.js';
import { known, type OnboardFacts } from '../facts.js';
import { type Step, step, unseen } from './step.js';

const plain = (version: string): string => version.replace(/^v/, '');

/** The rollup's version, and that of the tool which signs for it. */
export function versionStep({ rollup, tool, config }: OnboardFacts): Step {
  const title = 'version of the rollup and of its command-line tool';
  const seen = known(rollup);
  if (seen === undefined) return unseen(title, rollup, 'set RPC_URL to where the rollup answers');
  const said = `${seen.chain_id} runs ${seen.version}`;
  const installed = known(tool);
  const wanted = `${config.ROLLUP_TOOL} ${seen.version}`;
  if (installed === undefined) {
    return step(title, 'missing', [said], [`install ${wanted}, or set ROLLUP_TOOL to where it is`]);
  }
  const both = [said, `${config.ROLLUP_TOOL} is ${installed}`];
  if (plain(installed) === plain(seen.version)) return step(title, 'done', both);
  return step(title, 'wrong', both, [`install ${wanted}: another version may sign what the rollup refuses`]);
}

/** The EVM chain id, and whether it is of the same rollup. */
export function chainIdStep({ evm_chain_id, rollup, config }: OnboardFacts): Step {
  const title = 'EVM chain id';
  const id = known(evm_chain_id);
  if (id === undefined) return unseen(title, evm_chain_id, 'set JSON_RPC_URL to the JSON-RPC of the rollup');
  const wanted = config.EVM_CHAIN_ID;
  if (wanted !== undefined && wanted !== id) {
    const todo = ['see which of JSON_RPC_URL and EVM_CHAIN_ID is of another rollup'];
    return step(title, 'wrong', [`eth_chainId is ${id}, and EVM_CHAIN_ID is ${wanted}`], todo);
  }
  const chain_id = known(rollup)?.chain_id;
  const derived = chain_id === undefined ? id : derivedChainId(chain_id);
  const note = `${chain_id} would give ${derived}: is JSON_RPC_URL of the same rollup as RPC_URL?`;
  return step(title, 'done', [
    `eth_chainId is ${id} (0x${id.toString(16)})`,
    derived === id ? undefined : note,
  ]);
}

/** The stage that the program is in. */
export function stageStep({ l1 }: OnboardFacts, now: number): Step {
  const title = 'current stage of the program';
  const store = known(l1);
  if (store === undefined) {
    return unseen(title, l1, "set L1_REST_URL and VIP_MODULE_ADDRESS, the program's module on that L1");
  }
  const at = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`;
  const left = store.stage_end_time - now;
  const rest =
    left > 0
      ? `${Math.ceil(left / 3600)} hours are left`
      : 'it has ended, and the next one has not been opened yet';
  const times = `${at(store.stage_start_time)} to ${at(store.stage_end_time)}`;
  return step(title, 'done', [`stage ${store.stage}, ${times}: ${rest}`]);
}
