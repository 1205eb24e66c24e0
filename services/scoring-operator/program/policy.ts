import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import type { Index, ScorePolicy } from '../machine/ports.js';
import { compute } from '../policy/compute.js';
import { describeRun } from '../policy/explain.js';
import type { FactClients } from '../policy/gather/clients.js';
import { gatherFacts } from '../policy/gather/gather.js';
import { loadPolicy } from '../policy/load.js';
import { policyOf } from '../policy/parse.js';
import type { Policy } from '../policy/policy.js';
import { findWindow, readProgress } from '../policy/window.js';
import type { Program } from './program.js';

/** A program's policy, over the services that it reads. */
export interface ProgramPolicy extends ScorePolicy {
  readonly policy: Policy;
}

/** Never aborted: for callers that have no signal. */
const forever = (): AbortSignal => new AbortController().signal;

/** The policy of a program, from its file or as it stands in it. @throws PolicyError */
export async function openPolicy(program: Program, clients: FactClients): Promise<ProgramPolicy> {
  const { account_prefix } = program.rollup;
  const { policy, text } =
    typeof program.policy === 'string'
      ? await loadPolicy(resolve(program.folder, program.policy), account_prefix)
      : {
          policy: policyOf(program.policy, {
            from: 'of the program',
            account_prefix,
            folder: join(program.folder),
          }),
          text: stringify(program.policy),
        };
  return {
    policy,
    text,
    hash: policy.hash,
    async compute(window, signal = forever()) {
      const facts = await gatherFacts(policy, window, clients, { account_prefix, signal });
      const computation = compute(policy, facts);
      return { list: computation.list, facts, summary: describeRun(policy, facts, computation) };
    },
  };
}

/** The indexed rollup as a policy reads it. */
export function openIndex(policy: Policy, clients: FactClients): Index {
  return {
    head: (signal = forever()) => readProgress(policy, clients, signal),
    window: (stage, start_time, end_time, signal = forever()) =>
      findWindow(policy, { stage, start_time, end_time }, clients, signal),
  };
}
