import type { Found } from '../facts.js';

/** One step of onboarding. `wrong` is what would do harm if one went on. */
export interface Step {
  readonly title: string;
  readonly state: 'done' | 'missing' | 'wrong';
  /** What was found. */
  readonly facts: readonly string[];
  /** How to do what is missing. */
  readonly todo: readonly string[];
}

/** Makes a step; facts that are undefined are left out. */
export const step = (
  title: string,
  state: Step['state'],
  facts: readonly (string | undefined)[],
  todo: readonly string[] = [],
): Step => ({ title, state, facts: facts.filter((fact) => fact !== undefined), todo });

/**
 * A step of something that is not known: nobody said where to look, or it was not to be had.
 *
 * @param how how to say where it is.
 */
export function unseen(title: string, found: Found<unknown>, how: string): Step {
  return found !== undefined && 'error' in found
    ? step(title, 'missing', [found.error], ['see that it answers, and run this again'])
    : step(title, 'missing', [], [how]);
}
