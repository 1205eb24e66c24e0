import { TryAgainError, UserError } from '../../services/common/runtime/errors.js';
import { sleep } from '../../services/common/runtime/lifecycle.js';
import type { KubeApi } from '../../services/scoring-operator/kubernetes/api.js';
import { programs } from '../../services/scoring-operator/operator/controller.js';
import type { ScoringProgram } from '../../services/scoring-operator/operator/resource.js';

/** Whom fields that are applied belong to: what a person sets beside them stays. */
const fieldManager = 'weft-programs';

/** How often it is looked whether programs are gone, in milliseconds. */
const look_ms = 2_000;

/** A program as it shall be. */
export interface Wanted {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

export interface ReachOptions {
  readonly namespace: string;
  /** Labels of all programs that are one's own, such as `a=b,c=d`. */
  readonly selector: string;
  readonly wanted: readonly Wanted[];
  /** How long to wait until programs that are deleted are gone; 0: not at all. */
  readonly patience_ms: number;
  readonly print: (line: string) => void;
}

/**
 * Makes the programs with some labels those that are wanted: applies these, and deletes the others.
 *
 * @throws UserError where one of that name is somebody else's, TryAgainError when some are not gone in time.
 */
export async function reachPrograms(
  api: Pick<KubeApi, 'list' | 'get' | 'apply' | 'remove'>,
  { namespace, selector, wanted, patience_ms, print }: ReachOptions,
): Promise<void> {
  const labels = selector.split(',').map((pair) => pair.split('=') as [string, string]);
  const isOwn = (own: Readonly<Record<string, string>> = {}): boolean =>
    labels.every(([name, value]) => own[name] === value);
  const there = await Promise.all(
    wanted.map(({ metadata }) => api.get<ScoringProgram>(programs, namespace, metadata.name)),
  );
  const mistakes = [
    ...there
      .filter((program) => program !== undefined && !isOwn(program.metadata.labels))
      .map(
        (program) => `${program?.metadata.name}: there is one of that name already, which is somebody else's`,
      ),
    ...wanted
      .filter(({ metadata }) => !isOwn(metadata.labels))
      .map(({ metadata }) => `${metadata.name}: is without the labels ${selector}`),
  ];
  if (mistakes.length > 0) throw new UserError(mistakes.join('\n'));
  for (const program of wanted) {
    await api.apply(programs, namespace, program.metadata.name, program, fieldManager);
    print(`${program.metadata.name} is applied`);
  }
  const end = Date.now() + patience_ms;
  const asked = new Set<string>();
  for (;;) {
    const { items } = await api.list<ScoringProgram>(programs, namespace, { labelSelector: selector });
    const surplus = items.filter(
      ({ metadata }) => !wanted.some((one) => one.metadata.name === metadata.name),
    );
    for (const { metadata } of surplus.filter(({ metadata: { uid } }) => !asked.has(uid))) {
      await api.remove(programs, namespace, metadata.name, metadata.uid);
      asked.add(metadata.uid);
      print(`${metadata.name} is asked to go`);
    }
    if (surplus.length === 0 || patience_ms === 0) return;
    if (Date.now() >= end)
      throw new TryAgainError(`still there: ${surplus.map(({ metadata }) => metadata.name).join(', ')}`);
    await sleep(Math.min(look_ms, Math.max(100, end - Date.now())));
  }
}
