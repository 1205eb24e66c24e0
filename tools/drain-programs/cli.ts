import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { TryAgainError, UserError } from '../../services/common/errors.js';
import { sleep } from '../../services/common/lifecycle.js';
import {
  createKubeApi,
  type KubeApi,
  loadKubeConfig,
} from '../../services/scoring-operator/kubernetes/api.js';
import { paths } from '../../services/scoring-operator/operator/children.js';
import { programs } from '../../services/scoring-operator/operator/controller.js';
import type { ScoringProgram } from '../../services/scoring-operator/operator/resource.js';

const usage = `weft drain-programs: deletes ScoringPrograms and waits until they are gone

A program waits for its running Job before it goes, and the operator has to run for that: so this is
done before the operator is uninstalled. Nothing on a chain is changed by it.

  --selector LABELS  only programs with these labels, such as app.kubernetes.io/instance=weft
  --keep NAME        a program that stays; may be repeated
  --namespace NAME   where they are (default: the namespace of the pod)
  --timeout SECONDS  how long to wait (default 3500)

Exit codes: 0 they are gone, 75 some are still there.
`;

/** How often it is looked whether they are gone, in milliseconds. */
const look_ms = 2_000;

/** `weft drain-programs`. @throws UserError for mistakes in the arguments, TryAgainError when some are still there. */
export async function runDrainPrograms(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      selector: { type: 'string', default: '' },
      keep: { type: 'string', multiple: true, default: [] },
      namespace: { type: 'string', default: '' },
      timeout: { type: 'string', default: '3500' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  if (values.selector === '') throw new UserError('--selector is not given: all programs would be deleted');
  if (!/^\d{1,6}$/.test(values.timeout)) throw new UserError('--timeout: must be a number of seconds');
  const api = createKubeApi(loadKubeConfig(process.env));
  const namespace = values.namespace || ownNamespace();
  await drainPrograms(api, {
    namespace,
    selector: values.selector,
    keep: values.keep,
    patience_ms: Number(values.timeout) * 1_000,
    print: (line) => process.stdout.write(`${line}\n`),
  });
}

export interface DrainOptions {
  readonly namespace: string;
  /** Labels of the programs. */
  readonly selector: string;
  /** Names of those that stay. */
  readonly keep: readonly string[];
  /** How long to wait. */
  readonly patience_ms: number;
  readonly print: (line: string) => void;
}

/**
 * Deletes programs and waits until they are gone.
 *
 * @throws TryAgainError when some are still there.
 */
export async function drainPrograms(
  api: Pick<KubeApi, 'list' | 'remove'>,
  { namespace, selector, keep, patience_ms, print }: DrainOptions,
): Promise<void> {
  const end = Date.now() + patience_ms;
  const asked = new Set<string>();
  for (;;) {
    const listed = await api.list<ScoringProgram>(programs, namespace, { labelSelector: selector });
    const items = listed.items.filter(({ metadata }) => !keep.includes(metadata.name));
    if (items.length === 0) return print('none is left that has to go');
    for (const { metadata } of items) {
      if (asked.has(metadata.uid)) continue;
      await api.remove(programs, namespace, metadata.name, metadata.uid);
      asked.add(metadata.uid);
      print(`${metadata.name} is asked to go`);
    }
    if (Date.now() >= end)
      throw new TryAgainError(`still there: ${items.map(({ metadata }) => metadata.name).join(', ')}`);
    await sleep(Math.min(look_ms, Math.max(100, end - Date.now())));
  }
}

function ownNamespace(): string {
  const path = `${paths.token}/namespace`;
  if (!existsSync(path)) throw new UserError('--namespace is not given, and this is not a pod');
  return readFileSync(path, 'utf8').trim();
}
