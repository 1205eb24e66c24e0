import type { Database } from '../../services/common/clickhouse/database.js';
import {
  compareViews,
  type ViewDifference,
  type ViewEnvironment,
  type ViewSet,
} from '../../services/common/writer/views.js';

/** Everything in which views are not what their definitions give. */
export async function viewDifferences<Name extends string>(
  database: Database,
  environment: ViewEnvironment<Name>,
  sets: readonly ViewSet<Name>[],
): Promise<ViewDifference[]> {
  const all: ViewDifference[] = [];
  for (const set of sets)
    for await (const some of compareViews(database, environment, set)) all.push(...some);
  return all;
}
