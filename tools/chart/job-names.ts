import {
  caVariable,
  ownVariables,
  ownVolumes,
  paths,
} from '../../services/scoring-operator/operator/environment.js';
import { labels } from '../../services/scoring-operator/operator/resource.js';

/** What the chart has to know of the pods that the operator makes, to refuse values that it would not start with. */
export function jobNames(): object {
  const { temporary, ...readOnly } = paths;
  return {
    variables: ownVariables,
    caVariable,
    volumes: ownVolumes,
    labels: Object.values(labels),
    paths: Object.values(readOnly),
    // Others may be mounted below.
    writablePaths: [temporary],
  };
}
