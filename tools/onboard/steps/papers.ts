import { known, type OnboardFacts } from '../facts.js';
import { writeProposal } from '../proposal.js';
import { checkEntry } from '../registry.js';
import { type Step, step, unseen } from './step.js';

/** The entry of the rollup in the registry. */
export function registryStep(facts: OnboardFacts): Step {
  const { registry, registry_path } = facts;
  const title = 'registry entry';
  const text = known(registry);
  if (text === undefined) {
    const todo = `--write makes a draft, ${registry_path}; it then goes into a pull request to the registry`;
    return unseen(title, registry, todo);
  }
  const mistakes = checkEntry(text, facts);
  return mistakes.length === 0
    ? step(title, 'done', [`${registry_path} fits the schema and the rollup`])
    : step(title, 'missing', [registry_path], mistakes);
}

/** How users are scored. */
export function policyStep({ policy }: OnboardFacts): Step {
  const title = 'scoring policy';
  const loaded = known(policy);
  if (loaded !== undefined) {
    const { name, rules } = loaded.policy;
    return step(title, 'done', [`${name}: ${rules.map((rule) => rule.name).join(', ')}`]);
  }
  if (policy !== undefined && 'error' in policy) return step(title, 'wrong', [policy.error], ['correct it']);
  return step(title, 'missing', [], ['write one, and name it with --policy FILE']);
}

/** The proposal for mainnet, or the message for a testnet. */
export function proposalStep(facts: OnboardFacts): Step {
  const is_mainnet = facts.config.NETWORK === 'mainnet';
  const title = is_mainnet ? 'whitelist proposal' : 'message to the team of the program';
  if (known(facts.registration)?.info !== undefined) {
    return step(title, 'done', ['the L1 has the rollup registered']);
  }
  const { gaps } = writeProposal(facts);
  const after = is_mainnet ? 'post it on the forum' : 'send it to the team';
  return gaps.length === 0
    ? step(title, 'missing', ['everything that it needs is known'], [`--write writes it; ${after}`])
    : step(
        title,
        'missing',
        [`not known yet: ${gaps.join(', ')}`],
        [`see the other steps; then --write, and ${after}`],
      );
}
