import { UserError } from '../../services/common/errors.js';

/** What the command line says, as far as one part of it excludes another. */
export interface ScoreArguments {
  readonly once: boolean;
  readonly 'dry-run': boolean;
  readonly show?: string | undefined;
  readonly service?: string | undefined;
  readonly 'forget-stage'?: string | undefined;
  readonly 'forget-finalized'?: string | undefined;
}

/**
 * Refuses what would not be done as it says: forgetting a stage writes to the tables, which a dry run must not do, and
 * neither shows anything nor goes through a running operator.
 *
 * @throws UserError with every mistake.
 */
export function checkCombinations(values: ScoreArguments): void {
  const others = [
    ...(values['dry-run'] ? ['--dry-run'] : []),
    ...(values.once ? ['--once'] : []),
    ...(values.show === undefined ? [] : ['--show']),
    ...(values.service === undefined ? [] : ['--service']),
  ];
  if (values['forget-stage'] !== undefined && values['forget-finalized'] !== undefined)
    others.push('--forget-finalized');
  const forgets = (['forget-stage', 'forget-finalized'] as const).filter((one) => values[one] !== undefined);
  const mistakes = forgets
    .slice(0, 1)
    .flatMap((one) => others.map((name) => `--${one} cannot be used with ${name}`));
  if (values.service !== undefined && values.show === undefined)
    mistakes.push('--service is only for --show');
  if (mistakes.length > 0) throw new UserError(`${mistakes.join('\n')}\nNothing was done.`);
}
