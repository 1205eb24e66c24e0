import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import type { Index, ScorePolicy } from '../machine/ports.js';
import { computeScores } from '../policy/compute.js';
import { explain } from '../policy/explain.js';
import type { FactClients } from '../policy/gather/clients.js';
import { gatherFacts } from '../policy/gather/gather.js';
import { loadPolicy } from '../policy/load.js';
import { policyOf } from '../policy/parse.js';
import type { Policy } from '../policy/policy.js';
import type { Reason, ScoreWindow } from '../policy/result.js';
import { findWindow, readProgress } from '../policy/window.js';
import type { Program } from './program.js';

/** A program's policy, over the services that it reads. */
export interface ProgramPolicy extends ScorePolicy {
  readonly policy: Policy;
  /** Why an address has its score, from facts gathered anew. @throws RpcError */
  explain(window: ScoreWindow, address: string, signal?: AbortSignal): Promise<Reason[]>;
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
  const facts = (window: ScoreWindow, signal = forever()) =>
    gatherFacts(policy, window, clients, { account_prefix, signal });
  return {
    policy,
    text,
    hash: policy.hash,
    compute: async (window, signal) => computeScores(policy, await facts(window, signal)),
    explain: async (window, address, signal) =>
      explain(policy, await facts(window, signal), address, account_prefix),
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
