import { readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { messageOf } from '../../common/runtime/errors.js';
import { parsePolicy } from './parse.js';
import { type Policy, PolicyError } from './policy.js';

/** A policy with its text. */
export interface LoadedPolicy {
  readonly policy: Policy;
  /** The text as it was read, to be kept with the run. */
  readonly text: string;
}

/**
 * Reads a policy from a YAML or JSON file.
 *
 * @throws PolicyError with every mistake at once, or when the file cannot be read.
 */
export async function loadPolicy(path: string, account_prefix: string): Promise<LoadedPolicy> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new PolicyError(path, [`cannot be read: ${messageOf(error)}`]);
  }
  const folder = dirname(resolve(path));
  return { policy: parsePolicy(text, { from: path, account_prefix, folder }), text };
}
