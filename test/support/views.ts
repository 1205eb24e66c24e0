import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import {
  compareViews,
  type ViewDifference,
  type ViewEnvironment,
  type ViewSet,
} from '../../services/common/writer/views.js';
import { type ViewsOrder, verifyViews } from '../../tools/verify/views.js';

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

/** Fails unless the views of running services are what their facts give, as `weft verify --views` says it. */
export async function expectViews(
  addresses: Readonly<Partial<Record<ViewsOrder['service'], string>>>,
): Promise<void> {
  let printed = '';
  const screen = {
    write(text: string) {
      printed += text;
    },
  };
  const orders = Object.entries(addresses).map(([service, address]) => ({ service, address }) as ViewsOrder);
  const code = await verifyViews(orders, screen, new AbortController().signal);
  assert.equal(code, 0, printed);
  for (const { service } of orders) assert.match(printed, new RegExp(`^${service}: .*no difference$`, 'm'));
}
