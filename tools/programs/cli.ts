import { existsSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { messageOf, TryAgainError, UserError } from '../../services/common/runtime/errors.js';
import { ApiError, createKubeApi, loadKubeConfig } from '../../services/scoring-operator/kubernetes/api.js';
import { paths } from '../../services/scoring-operator/operator/environment.js';
import { reachPrograms, type Wanted } from './reach.js';

const usage = `weft programs: makes the ScoringPrograms with some labels those of a file

Those of the file are applied, others with these labels are deleted; without a file all are. A program
waits for its running Job before it goes, and the operator has to run for that: so programs are deleted
before the operator is uninstalled. What a person has set beside the file's fields stays.

  --selector LABELS  labels of the programs, such as app.kubernetes.io/instance=weft
  --apply FILE       ScoringPrograms with these labels, as YAML
  --namespace NAME   where they are (default: the namespace of the pod)
  --timeout SECONDS  how long to wait until those that are deleted are gone; 0 for not at all (default 3500)

Exit codes: 0 done, 1 a mistake in a program, 75 the API server does not answer, or some are still there.
`;

/** `weft programs`. @throws UserError for mistakes, TryAgainError for what may work later. */
export async function runPrograms(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      selector: { type: 'string', default: '' },
      apply: { type: 'string', default: '' },
      namespace: { type: 'string', default: '' },
      timeout: { type: 'string', default: '3500' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(usage);
    return;
  }
  if (!/^[^=,\s]+=[^=,\s]+(,[^=,\s]+=[^=,\s]+)*$/.test(values.selector))
    throw new UserError(
      '--selector: must be labels such as a=b,c=d; without them all programs would be meant',
    );
  if (!/^\d{1,6}$/.test(values.timeout)) throw new UserError('--timeout: must be a number of seconds');
  const wanted = values.apply === '' ? [] : readPrograms(values.apply);
  const api = createKubeApi(loadKubeConfig(process.env));
  try {
    await reachPrograms(api, {
      namespace: values.namespace || ownNamespace(),
      selector: values.selector,
      wanted,
      patience_ms: Number(values.timeout) * 1_000,
      print: (line) => process.stdout.write(`${line}\n`),
    });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // What is wrong with a program is wrong the next time, too.
    if ([400, 403, 404, 422].includes(error.status)) throw new UserError(error.message, { cause: error });
    throw new TryAgainError(error.message, { cause: error });
  }
}

function readPrograms(path: string): Wanted[] {
  try {
    return parseAllDocuments(readFileSync(path, 'utf8'))
      .map((document) => document.toJS({ mapAsMap: false }) as Wanted | null)
      .filter((program): program is Wanted => program !== null);
  } catch (cause) {
    throw new UserError(`${path} cannot be read: ${messageOf(cause)}`, { cause });
  }
}

function ownNamespace(): string {
  const path = `${paths.token}/namespace`;
  if (!existsSync(path)) throw new UserError('--namespace is not given, and this is not a pod');
  return readFileSync(path, 'utf8').trim();
}
