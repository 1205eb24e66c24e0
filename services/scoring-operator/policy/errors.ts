import { UserError } from '../../common/errors.js';

/** A policy that cannot be used: every mistake that was found in it, together. */
export class PolicyError extends UserError {
  override name = 'PolicyError';

  constructor(
    readonly policy: string,
    readonly mistakes: readonly string[],
  ) {
    super(
      `${policy} has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`,
    );
  }
}

/** Scores that cannot be worked out from the facts as they are, whatever is tried again. */
export class ScoringError extends UserError {
  override name = 'ScoringError';
}
