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
): Promise<(ViewDifference & { readonly table: string })[]> {
  const all: (ViewDifference & { readonly table: string })[] = [];
  for await (const { table, differences } of compareViews(database, environment, sets))
    for (const difference of differences) all.push({ table, ...difference });
  return all;
}
