import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Call, Database, Priority, StatementOptions } from '../clickhouse/database.js';
import { beyondSql, newestRowsSql } from '../page/view.js';
import { packageRoot } from '../runtime/paths.js';
import type { FencedDatabase } from './fence.js';

/*
 * Views are tables that follow from facts: what a list shows that changes with every block. Each is defined once, by a
 * SELECT over facts in a file of its own. The rows that a writer adds block by block are a faster way to the same result.
 *
 * Of the rows of one key the one with the highest version counts, and one that is deleted stands for nothing. Nothing is
 * ever removed from a view but what a merge finds replaced; what is wrong is written again with a later version.
 */

/** A view. */
export interface View<Name extends string = string> {
  readonly table: Name;
  /** The columns that name a row, in the order of the table. */
  readonly key: readonly string[];
  /** The other columns that the definition gives. */
  readonly values: readonly string[];
  /**
   * The SELECT over facts that gives every row at the head. `{{NAME}}` stands for a table, and `{{where}}` for a condition on
   * the facts, with the alias `f`. The head's position gives the parameters.
   */
  readonly definition: string;
  /** The SELECT of all keys that facts above the head may have made rows of, with the same placeholders. */
  readonly touched: string;
  /**
   * The columns of the facts that decide which of them a row follows from, in the order of the facts. The view has them too.
   */
  readonly facts: readonly string[];
}

/** The views that follow from one table of facts. */
export interface ViewSet<Name extends string = string> {
  /** The facts. */
  readonly facts: Name;
  /** The condition for facts above the head, with the alias `f`. */
  readonly above: string;
  readonly views: readonly View<Name>[];
}

/** What views are made and compared with. */
export interface ViewEnvironment<Name extends string = string> {
  /** Qualified names of tables. */
  readonly of: (name: Name) => string;
  /** The position of the head: what definitions have as parameters. */
  readonly position: Readonly<Record<string, unknown>>;
  /** Of the statements in metrics: the service. */
  readonly name: string;
  /** How many facts a statement reads, about. */
  readonly atOnce?: number;
}

/** Reads the definition of a view: the text of a file without its comments. */
export function readDefinition(service: string, view: string): string {
  const text = readFileSync(join(packageRoot, 'services', service, 'views', `${view}.sql`), 'utf8');
  return text.replaceAll(/^\s*--.*$/gm, '').trim();
}

/** Facts that one statement reads, unless the facts of one key are more; and where a stop waits for it. */
const [factsAtOnce, comparedAtOnce] = [200_000, 50_000];

/** A part of the facts: a condition, and its parameters. */
export interface Part {
  readonly where: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** A SELECT with its placeholders filled in. */
const fillIn = <Name extends string>({ of }: ViewEnvironment<Name>, sql: string, where: string): string =>
  sql.replaceAll(/\{\{(\w+)\}\}/g, (_, name: string) => (name === 'where' ? where : of(name as Name)));

/** That columns come after values, or are at most them. */
const bound = (columns: readonly string[], prefix: string, side: '>' | '<='): string =>
  beyondSql(
    columns.map((column, index) => [`f.${column}`, `{${prefix}_${index}:String}`]),
    side === '>' ? { side: 'after' } : { side: 'before', isIncluded: true },
  );

const boundParams = (prefix: string, values: readonly string[]): Record<string, string> =>
  Object.fromEntries(values.map((value, index) => [`${prefix}_${index}`, value]));

/** Cuts facts into parts of a bearable size, by keys. @param where which facts at all. */
export async function* partsOf<Name extends string>(
  database: Database,
  environment: ViewEnvironment<Name>,
  facts: Name,
  columns: readonly string[],
  where: string,
  options: Omit<StatementOptions, 'name'> = { priority: 'write' },
): AsyncGenerator<Part, void, undefined> {
  const { of, name, atOnce = factsAtOnce } = environment;
  const list = columns.map((column) => `f.${column} AS ${column}`).join(', ');
  const order = columns.map((column) => `f.${column}`).join(', ');
  for (let after: readonly string[] | undefined; ; ) {
    const from = after === undefined ? '1' : bound(columns, 'after', '>');
    const params = after === undefined ? {} : boundParams('after', after);
    const [last] = await database.rows<Record<string, string>>(
      `SELECT ${list} FROM ${of(facts)} AS f WHERE (${where}) AND ${from} ORDER BY ${order} LIMIT 1 OFFSET {size:UInt64}`,
      { ...environment.position, ...params, size: atOnce },
      { name: `${name}.view_range`, ...options },
    );
    if (last === undefined) {
      yield { where: from, params };
      return;
    }
    const upTo = columns.map((column) => String(last[column]));
    yield {
      where: `${from} AND ${bound(columns, 'up_to', '<=')}`,
      params: { ...params, ...boundParams('up_to', upTo) },
    };
    after = upTo;
  }
}

/** Told before each statement that writes. */
type OnStatement<Name> = (table: Name) => Promise<void> | void;

/**
 * Makes the rows of views what their definitions give at the head, for all keys that have facts above it; to be called
 * before those facts are removed.
 *
 * @param all for every key: then rows may be missing as well.
 */
export async function repairViews<Name extends string>(
  database: FencedDatabase,
  environment: ViewEnvironment<Name>,
  { facts, above, views }: ViewSet<Name>,
  all: boolean,
  onStatement: OnStatement<Name>,
): Promise<void> {
  const { of, position, name } = environment;
  const options = { name: `${name}.repair_view`, priority: 'write' as const };
  for (const view of views) {
    const { table, key, values, definition, touched } = view;
    const insert = async (columns: readonly string[], select: string, isDeleted: 0 | 1, params: object) => {
      await onStatement(table);
      await database.insertSelect(
        of(table),
        [...columns, 'version', 'is_deleted'],
        `SELECT ${columns.join(', ')}, {version:UInt64} AS version, {is_deleted:UInt8} AS is_deleted FROM (${select})`,
        { ...position, ...params, version: database.nextVersion(), is_deleted: isDeleted },
        options,
      );
    };
    for await (const { where, params } of partsOf(database, environment, facts, view.facts, above))
      await insert(key, fillIn(environment, touched, `(${above}) AND ${where}`), 1, params);
    const keys = view.facts.map((column) => `f.${column}`).join(', ');
    const columns = view.facts.map((column) => `f.${column} AS ${column}`).join(', ');
    for await (const { where, params } of partsOf(
      database,
      environment,
      facts,
      view.facts,
      all ? '1' : above,
    )) {
      const ofTouched = `(${keys}) GLOBAL IN (SELECT ${columns} FROM ${of(facts)} AS f WHERE (${above}) AND ${where})`;
      const some = all ? where : `${ofTouched} AND ${where}`;
      await insert([...key, ...values], fillIn(environment, definition, some), 0, params);
    }
  }
}

/** A row of a view that is not what the facts give, or one that is missing. */
export interface ViewDifference {
  /** Its columns, as JSON. */
  readonly row: string;
  /** Whether the definition gives it and the view does not have it, or the other way round. */
  readonly kind: 'missing' | 'foreign';
}

/** A part of a view that was compared with its definition. */
export interface ComparedPart {
  readonly table: string;
  /** A few of them. */
  readonly differences: readonly ViewDifference[];
}

/** Differences that are named of one part of a view; and rows that are looked at again while nothing is written. */
const [mostNamed, mostDoubted] = [20, 500];

/** What views are compared with. */
export interface Comparison extends Call {
  /** Runs something while nothing is written. Default: nothing ever is. */
  readonly hold?: (<T>(work: () => Promise<T>) => Promise<T>) | undefined;
}

/** A row that only one side has, with the columns that name it as texts, and their types. */
interface Found {
  readonly line: string;
  readonly n: number;
  readonly names: readonly string[];
  readonly types: readonly string[];
}

/**
 * Compares views with their definitions, a part at a time, while the tables are written: only the rows that seem to differ are
 * looked at again while nothing is, so that writes wait for little. The environment's position is asked then, and has to be
 * that of the head.
 */
export async function* compareViews<Name extends string>(
  database: Database,
  environment: ViewEnvironment<Name>,
  sets: readonly ViewSet<Name>[],
  { hold = (work) => work(), ...call }: Comparison = {},
): AsyncGenerator<ComparedPart, void, undefined> {
  const { of, name, atOnce = comparedAtOnce } = environment;
  for (const { facts, views } of sets)
    for (const { table, key, values, definition, ...view } of views) {
      const columns = [...key, ...values];
      const naming = [...new Set([...key, ...view.facts])];
      const each = (of: string): string => naming.map((column) => `${of}(${column})`).join(', ');
      const compare = (
        defined: string,
        there: string,
        params: object,
        priority: Priority,
      ): Promise<Found[]> =>
        database.rows<Found>(
          `SELECT toJSONString(tuple(${columns.join(', ')})) AS line, sum(side) AS n, [${each('toString')}] AS names, [${each('toTypeName')}] AS types
           FROM (
             SELECT ${columns.join(', ')}, 1 AS side FROM (${defined})
             UNION ALL
             SELECT ${columns.join(', ')}, -1 AS side FROM (${newestRowsSql(of(table), columns, key, there, 'f')})
           )
           GROUP BY ${columns.join(', ')}
           HAVING n != 0
           ORDER BY line
           LIMIT {most:UInt64}`,
          { ...params, most: mostDoubted },
          { name: `${name}.compare_view`, priority, ...call },
        );
      /** Compares again what seemed to differ. */
      const again = (found: readonly Found[]): Promise<Found[]> => {
        const list = naming.map(
          (_, at) => `CAST({names_${at}:Array(String)} AS Array(${found[0]?.types[at]})) AS c${at}`,
        );
        const params = Object.fromEntries(
          naming.map((_, at) => [`names_${at}`, found.map(({ names }) => names[at])]),
        );
        const among = (some: readonly string[], alias = ''): string => {
          const wanted = some.map((column) => `c${naming.indexOf(column)}`).join(', ');
          return `(${some.map((column) => alias + column).join(', ')}) GLOBAL IN (SELECT ${wanted} FROM (SELECT ${list.join(', ')}) ARRAY JOIN ${naming.map((_, at) => `c${at}`).join(', ')})`;
        };
        const defined = fillIn(environment, definition, among(view.facts, 'f.'));
        return compare(
          `SELECT * FROM (${defined}) WHERE ${among(key)}`,
          among(key, 'f.'),
          { ...environment.position, ...params },
          'write',
        );
      };
      let position = await hold(async () => environment.position);
      const background = { ...call, priority: 'background' as const };
      const parts = partsOf(database, { of, name, atOnce, position }, facts, view.facts, '1', background);
      for await (const { where, params } of parts) {
        const defined = fillIn(environment, definition, where);
        const seeming = await compare(defined, where, { ...position, ...params }, 'background');
        let rows = seeming.length === 0 ? seeming : await hold(() => again(seeming));
        // Of more nobody knows whether the others differ.
        if (rows.length === 0 && seeming.length === mostDoubted)
          rows = await hold(() => compare(defined, where, { ...environment.position, ...params }, 'write'));
        yield {
          table,
          differences: rows
            .slice(0, mostNamed)
            .map(({ line, n }) => ({ row: line, kind: n > 0 ? 'missing' : 'foreign' })),
        };
        position = await hold(async () => environment.position);
      }
    }
}
