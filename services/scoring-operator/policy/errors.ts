import { UserError } from '../../common/errors.js';
import { messagesWithoutKeys } from './mask.js';

/** A policy that cannot be used: every mistake that was found in it, together. What may be a key is not shown. */
export class PolicyError extends UserError {
  override name = 'PolicyError';

  readonly mistakes: readonly string[];

  constructor(
    readonly policy: string,
    found: readonly string[],
  ) {
    const mistakes = messagesWithoutKeys(found);
    super(
      `${policy} has ${mistakes.length === 1 ? 'a mistake' : `${mistakes.length} mistakes`}:\n${mistakes.map((mistake) => `  - ${mistake}`).join('\n')}`,
    );
    this.mistakes = mistakes;
  }
}

/** Scores that cannot be worked out from the facts as they are, whatever is tried again. */
export class ScoringError extends UserError {
  override name = 'ScoringError';
}
