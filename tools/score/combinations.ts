import { UserError } from '../../services/common/runtime/errors.js';

/** What the command line says, as far as one part of it excludes another. */
export interface ScoreArguments {
  readonly once: boolean;
  readonly 'dry-run': boolean;
  readonly show?: string | undefined;
  readonly service?: string | undefined;
  readonly 'forget-stage'?: string | undefined;
  readonly 'forget-finalized'?: string | undefined;
  readonly 'forget-height'?: string | undefined;
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
  const forgets = (['forget-stage', 'forget-finalized', 'forget-height'] as const).filter(
    (one) => values[one] !== undefined,
  );
  const [first, ...more] = forgets.map((one) => `--${one}`);
  others.push(...more);
  const mistakes = first === undefined ? [] : others.map((name) => `${first} cannot be used with ${name}`);
  if (values.service !== undefined && values.show === undefined)
    mistakes.push('--service is only for --show');
  if (mistakes.length > 0) throw new UserError(`${mistakes.join('\n')}\nNothing was done.`);
}
