import assert from 'node:assert/strict';
import type { Rendered } from './helm.js';

interface Variable {
  readonly name: string;
  readonly value?: string;
}

/** The environment of the operator of a release, as a kubelet gives it; undefined where there is none. */
export function operatorEnv(objects: readonly Rendered[]): Record<string, string> | undefined {
  const operator = objects.find(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.name === 'weft-scoring-operator',
  );
  const variables: readonly Variable[] | undefined = operator?.['spec'].template.spec.containers[0].env;
  return (
    variables &&
    Object.fromEntries(
      variables.map((variable) => {
        // What stands in a Secret, or is told by the kubelet.
        const { value = variable.name === 'CLICKHOUSE_URL' ? 'http://clickhouse:8123' : '' } = variable;
        assert.doesNotMatch(value.replaceAll('$$', ''), /\$\(/, `${variable.name} names another variable`);
        return [variable.name, value.replaceAll('$$', '$')];
      }),
    )
  );
}
