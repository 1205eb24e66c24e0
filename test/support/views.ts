import assert from 'node:assert/strict';
import type { Database } from '../../services/common/clickhouse/database.js';
import {
  type ComparedPart,
  compareViews,
  type ViewDifference,
  type ViewEnvironment,
  type ViewSet,
} from '../../services/common/writer/views.js';
import { type ViewsOrder, verifyViews } from '../../tools/verify/views.js';
import type { Random } from './random.js';

/** Everything in which views are not what their definitions give. */
export async function viewDifferences<Name extends string>(
  database: Database,
  environment: ViewEnvironment<Name>,
  sets: readonly ViewSet<Name>[],
): Promise<(ViewDifference & { readonly table: string })[]> {
  return differencesOf(compareViews(database, environment, sets));
}

/** The same of parts that were compared. */
export async function differencesOf(
  parts: AsyncIterable<ComparedPart>,
): Promise<(ViewDifference & { readonly table: string })[]> {
  const all: (ViewDifference & { readonly table: string })[] = [];
  for await (const { table, differences } of parts)
    for (const difference of differences) all.push({ table, ...difference });
  return all;
}

/** Merges at random, and fails unless views are what their definitions give. */
export async function checkViews<Name extends string>(
  database: Database,
  { of }: Pick<ViewEnvironment<Name>, 'of'>,
  position: object,
  sets: readonly ViewSet<Name>[],
  random: Random,
): Promise<void> {
  if (random.oneIn(3)) {
    const { table } = random.pick(random.pick(sets).views);
    const how = random.pick(['', 'CLEANUP']);
    await database.command(`OPTIMIZE TABLE ${of(table)} FINAL ${how}`, {}, { name: 'test.merge' });
  }
  const environment = { of, position: { ...position }, name: 'test', atOnce: 1 + random.integer(60) };
  assert.deepEqual(await viewDifferences(database, environment, sets), []);
}

/** What a command prints to. */
export function createScreen() {
  let text = '';
  const screen = {
    write(more: string) {
      text += more;
    },
  };
  return { screen, printed: () => text };
}

/** Fails unless the views of running services are what their facts give, as `weft verify --views` says it. */
export async function expectViews(
  addresses: Readonly<Partial<Record<ViewsOrder['service'], string>>>,
): Promise<void> {
  const { screen, printed } = createScreen();
  const orders = Object.entries(addresses).map(([service, address]) => ({ service, address }) as ViewsOrder);
  const code = await verifyViews(orders, screen, new AbortController().signal);
  assert.equal(code, 0, printed());
  for (const { service } of orders) assert.match(printed(), new RegExp(`^${service}: .*no difference$`, 'm'));
}
