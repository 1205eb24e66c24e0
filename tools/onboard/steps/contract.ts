import { type ContractFacts, known, type OnboardFacts } from '../facts.js';
import { operatorText, readAccount } from '../proposal.js';
import { type Step, step, unseen } from './step.js';

/** Who receives, and who deploys and writes. Only addresses are looked at. */
export function accountsStep(facts: OnboardFacts): Step {
  const { config, deployer, funds } = facts;
  const title = 'accounts of operator and deployer';
  const operator = operatorText(facts);
  const account = known(deployer);
  const has = known(funds);
  const spelled = account && readAccount(account.address, config.ACCOUNT_ADDRESS_PREFIX)?.bech32;
  const paying =
    has?.gas_price === 0n
      ? 'gas is free: the deployer needs no balance'
      : has && `the deployer has ${has.balance} wei; gas costs ${has.gas_price} wei`;
  const found = [
    operator && `operator ${operator}`,
    account && `deployer ${account.address} (${spelled}), known from ${account.description}`,
    paying,
  ];
  if (config.OPERATOR_ADDRESS !== '' && operator === undefined) {
    const text = `OPERATOR_ADDRESS ${config.OPERATOR_ADDRESS} is no account with the prefix ${config.ACCOUNT_ADDRESS_PREFIX}`;
    return step(title, 'wrong', [...found, text], ['correct it: rewards are sent there']);
  }
  const todo = [
    operator === undefined &&
      'make the account that receives the rewards of the operator, and set OPERATOR_ADDRESS',
    deployer === undefined &&
      'make the account that deploys (a key, BIP39 words, or a hardware wallet), and set DEPLOYER_ADDRESS or the signer',
    deployer !== undefined && 'error' in deployer && `correct the signer: ${deployer.error}`,
    has !== undefined &&
      has.gas_price > 0n &&
      has.balance === 0n &&
      'send the deployer something to pay gas with',
  ].filter((one) => one !== false);
  return step(title, todo.length > 0 ? 'missing' : 'done', found, todo);
}

/** The contract, against what the L1 expects of it. */
export function contractStep(facts: OnboardFacts): Step {
  const { contract_address, contract } = facts;
  const title = 'scoring contract';
  if (contract_address === '') {
    const todo = 'npx --no weft deploy-contract --check, then without --check; or set SCORE_CONTRACT';
    return step(title, 'missing', [], [todo]);
  }
  const seen = known(contract);
  if (seen === undefined) {
    const not = unseen(title, contract, 'set JSON_RPC_URL to the JSON-RPC of the rollup');
    return { ...not, facts: [contract_address, ...not.facts] };
  }
  const wrongs = wrongsOf(seen, facts);
  const first =
    seen.init_stage === undefined
      ? 'an old kind, which does not say its first stage'
      : `first stage ${seen.init_stage}`;
  const todo =
    wrongs.length === 0 ? [] : ['settle this with the team of the program before anything is finalized'];
  const found = [`${contract_address}: ${first}`, behindOf(seen, facts), ...wrongs];
  return step(title, wrongs.length > 0 ? 'wrong' : 'done', found, todo);
}

/** What an operator must not go on with. */
function wrongsOf(seen: ContractFacts, { contract_address, registration, deployer }: OnboardFacts): string[] {
  const info = known(registration)?.info;
  const other = info?.vip_l2_score_contract ?? '';
  return [
    info !== undefined &&
      seen.init_stage !== undefined &&
      seen.init_stage > info.init_stage &&
      `its first stage is ${seen.init_stage}, and the L1 expects scores from stage ${info.init_stage} on`,
    other !== '' &&
      !isSameAddress(other, contract_address) &&
      `the L1 has another contract registered: ${other}`,
    seen.is_allowed === false && `${known(deployer)?.address} is not on its allow list`,
  ].filter((one) => one !== false);
}

function behindOf(seen: ContractFacts, { l1 }: OnboardFacts): string | undefined {
  const current = known(l1)?.stage;
  if (current === undefined || seen.has_stage !== false || (seen.init_stage ?? 0n) > current)
    return undefined;
  return `it does not have stage ${current} yet: stages before it are not finalized`;
}

/** Whether two spellings, some without leading zeros, are of one address. */
function isSameAddress(a: string, b: string): boolean {
  const digits = (text: string): string => text.toLowerCase().replace(/^0x0*/, '');
  return digits(a) === digits(b);
}

/** What the L1 has registered of the rollup. */
export function registrationStep({ bridge_id, registration }: OnboardFacts): Step {
  const title = 'registration on the L1';
  const bridge = known(bridge_id);
  if (bridge === undefined) return unseen(title, bridge_id, 'set REST_URL, where the rollup says its bridge');
  const seen = known(registration);
  if (seen === undefined) return unseen(title, registration, 'set L1_REST_URL and VIP_MODULE_ADDRESS');
  const { info } = seen;
  if (info === undefined) {
    const todo = ['this happens once the proposal has passed, or the team has agreed'];
    return step(title, 'missing', [`bridge ${bridge} is not registered`], todo);
  }
  const contract = info.vip_l2_score_contract || '(none)';
  return step(title, 'done', [
    `bridge ${bridge} takes part from stage ${info.init_stage} on, with contract ${contract} and operator ${info.operator_addr}`,
  ]);
}
