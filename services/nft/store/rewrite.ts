import type { Database } from '../../common/clickhouse/database.js';
import { charactersAtOnce, charactersOf } from '../../common/clickhouse/keys.js';
import type { FaultPoint } from '../../common/fault.js';
import { editionName, type Family, type Scope, scopeKey } from './editions.js';
import { insertAll } from './insert.js';
import type { TableRows } from './rows.js';
import type { ListName, Tables } from './tables.js';
import type { DueList } from './tally.js';

export interface RewriteOptions {
  readonly database: Database;
  readonly tables: Tables;
  readonly fault: FaultPoint;
  /** Editions of lists as they are, by scopeKey; those that are written anew are set. */
  readonly editions: Map<string, number>;
  /** Place that the new editions are whole from: above the cursor, so that nobody reads them yet. */
  readonly at: number;
}

interface Item {
  readonly list: ListName;
  readonly scope: string;
  readonly height: number;
  readonly id_key: string;
  readonly collection: string;
}

/** Items that one statement reads. */
const itemsAtOnce = 20_000;

/**
 * Writes lists anew without what is gone from them, as their next editions.
 *
 * @returns how many items each list has, in the order of the lists.
 */
export async function rewriteLists(options: RewriteOptions, due: readonly DueList[]): Promise<number[]> {
  const counts: number[] = [];
  for (let start = 0; start < due.length; ) {
    let [end, items] = [start, 0];
    for (let characters = 0; end < due.length; ) {
      const { items: more, scope } = due[end] as DueList;
      characters += charactersOf([scope]);
      if (end > start && (items + more > itemsAtOnce || characters > charactersAtOnce)) break;
      items += more;
      end += 1;
    }
    counts.push(...(await rewriteSome(options, due.slice(start, end))));
    start = end;
  }
  return counts;
}

async function rewriteSome(
  { database, tables, fault, editions, at }: RewriteOptions,
  lists: readonly Scope[],
): Promise<number[]> {
  const found = new Map<string, number>();
  for (const family of ['collection', 'owner', 'holding'] as const) {
    const old = new Map<string, { readonly key: string; readonly name: string }>();
    for (const of of lists) {
      if (of.family !== family) continue;
      const [key, edition] = [scopeKey(of), editions.get(scopeKey(of)) ?? 0];
      old.set(editionName(of.scope, edition), { key, name: editionName(of.scope, edition + 1) });
    }
    if (old.size === 0) continue;
    for await (const items of readPresent(database, tables, family, [...old.keys()])) {
      const rows = items.map(({ scope, ...item }) => {
        const to = old.get(scope) as { key: string; name: string };
        if (item.list === family) found.set(to.key, (found.get(to.key) ?? 0) + 1);
        return JSON.stringify({ ...item, scope: to.name, gone: false, was: true, at, base: at });
      });
      await insertAll(database, tables, [['items', rows]], fault);
    }
    if (family === 'owner')
      await insertAll(database, tables, [await countRows(database, tables, old, at)], fault);
  }
  const rows = lists.map((of) => {
    const edition = (editions.get(scopeKey(of)) ?? 0) + 1;
    editions.set(scopeKey(of), edition);
    return JSON.stringify({ list: of.family, scope: of.scope, edition, at });
  });
  await insertAll(database, tables, [['editions', rows]], fault);
  return lists.map((of) => found.get(scopeKey(of)) ?? 0);
}

/** What is in lists of a family, by id and by height. The writer sees every row there is. */
async function* readPresent(
  database: Database,
  tables: Tables,
  family: Family,
  scopes: readonly string[],
): AsyncGenerator<Item[]> {
  for (const list of [family, `${family}_height`] as const) {
    let after: Omit<Item, 'list'> | undefined;
    for (;;) {
      // Spelt out, because the engine finds no range of the primary key in a comparison of tuples.
      const beyond =
        after === undefined
          ? ''
          : 'AND (scope > {scope:String} OR (scope = {scope:String} AND (height > {height:UInt64} OR (height = {height:UInt64} AND (id_key > {id_key:String} OR (id_key = {id_key:String} AND collection > {collection:String}))))))';
      const items: (Item & { readonly there: boolean })[] = await database.rows(
        `SELECT list, scope, height, id_key, collection, NOT argMax(i.gone, i.at) AS there FROM ${tables.of('items')} AS i WHERE list = {list:String} AND scope IN {scopes:Array(String)} ${beyond} GROUP BY list, scope, height, id_key, collection ORDER BY scope, height, id_key, collection LIMIT {limit:UInt64}`,
        { list, scopes, limit: itemsAtOnce, ...after },
        { name: 'nft.read_edition', priority: 'write' },
      );
      yield items.filter(({ there }) => there).map(({ there: _, ...item }) => item);
      const last = items.at(-1);
      if (last === undefined || items.length < itemsAtOnce) break;
      const { scope, height, id_key, collection } = last;
      after = { scope, height, id_key, collection };
    }
  }
}

/** What owners have in collections, for their next editions. */
async function countRows(
  database: Database,
  tables: Tables,
  owners: ReadonlyMap<string, { readonly name: string }>,
  at: number,
): Promise<TableRows> {
  const held = await database.rows<{ owner: string; collection: string; n: number }>(
    `SELECT owner, collection, argMax(c.n, c.at) AS n FROM ${tables.of('counts')} AS c WHERE owner IN {owners:Array(String)} GROUP BY owner, collection HAVING n > 0`,
    { owners: [...owners.keys()] },
    { name: 'nft.read_edition_counts', priority: 'write' },
  );
  const rows = held.map(({ owner, collection, n }) =>
    JSON.stringify({ owner: owners.get(owner)?.name, collection, n, before: n, at, base: at }),
  );
  return ['counts', rows];
}
