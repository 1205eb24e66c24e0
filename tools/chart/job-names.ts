import {
  caVariable,
  ownVariables,
  ownVolumes,
  paths,
} from '../../services/scoring-operator/operator/pod-names.js';

/** What the chart has to know of the pods that the operator makes, to refuse values that it would not start with. */
export function jobNames(): object {
  const { temporary: _, ...readOnly } = paths;
  return { variables: ownVariables, caVariable, volumes: ownVolumes, paths: Object.values(readOnly) };
}
