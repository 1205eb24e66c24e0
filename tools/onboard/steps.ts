import type { OnboardFacts } from './facts.js';
import { accountsStep, contractStep, registrationStep } from './steps/contract.js';
import { policyStep, proposalStep, registryStep } from './steps/papers.js';
import { chainIdStep, stageStep, versionStep } from './steps/rollup.js';
import type { Step } from './steps/step.js';

/**
 * Every step, in the order in which they are done. Pure: the same facts give the same steps.
 *
 * @param now unix seconds.
 */
export function stepsOf(facts: OnboardFacts, now: number): Step[] {
  return [
    versionStep(facts),
    chainIdStep(facts),
    stageStep(facts, now),
    accountsStep(facts),
    contractStep(facts),
    registryStep(facts),
    policyStep(facts),
    proposalStep(facts),
    registrationStep(facts),
  ];
}
