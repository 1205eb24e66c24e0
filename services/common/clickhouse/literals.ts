import { TupleParam } from '@clickhouse/client';
import { atMost, chunks } from '../util/chunk.js';
import type { Params } from './database.js';

/*
 * Values as literals, for the embedded engine: it runs statements with parameters one after the other in the
 * whole process, and statements without them side by side. This is the only place that writes a value into SQL.
 */

/** A placeholder of a statement: `{name:Type}`. */
const placeholder = /\{\s*(\w+)\s*:\s*([A-Z][\w(), ]*?)\s*\}/g;

/** Types whose values are whole numbers. A literal holds 64 bits, wider ones are read from text. */
const integer = /^U?Int(8|16|32|64|128|256)$/;

const escapes: Readonly<Record<string, string>> = {
  '\\': '\\\\',
  "'": "\\'",
  '\0': '\\0',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
};

const special = /[\\'\0\n\r\t\b\f]/g;

/** Text as a string literal. A lone surrogate has no UTF-8: the replacement character stands for it. */
export const quoted = (text: string): string =>
  `'${text.toWellFormed().replace(special, (one) => escapes[one] as string)}'`;

/** The types within `Array(...)` or `Tuple(...)`, undefined where the type is neither. */
function within(type: string): readonly string[] | undefined {
  const inner = /^(?:Array|Tuple)\((.*)\)$/.exec(type)?.[1];
  if (inner === undefined) return undefined;
  const types: string[] = [];
  let [depth, from] = [0, 0];
  for (let at = 0; at <= inner.length; at++) {
    if (inner[at] === '(') depth += 1;
    if (inner[at] === ')') depth -= 1;
    if (at === inner.length || (inner[at] === ',' && depth === 0)) {
      types.push(inner.slice(from, at).trim());
      from = at + 1;
    }
  }
  return types;
}

/** Whether something is a whole number that JavaScript's own numbers may not hold. */
const isDigits = (value: unknown): boolean =>
  typeof value === 'bigint' || (typeof value === 'string' && /^-?\d{1,78}$/.test(value));

/** Writes values of a type. */
type Write = (value: unknown) => string;

const writers = new Map<string, Write>();

/** What writes values of a type; a type is looked at once. */
function writerOf(type: string): Write {
  const before = writers.get(type);
  if (before !== undefined) return before;
  const writer = newWriter(type);
  writers.set(type, writer);
  return writer;
}

function newWriter(type: string): Write {
  const wrong = (value: unknown): never => {
    throw new TypeError(`${typeof value} is not a value of the type ${type}`);
  };
  if (type === 'String') return (value) => (typeof value === 'string' ? quoted(value) : wrong(value));
  const width = integer.exec(type)?.[1];
  if (width !== undefined) {
    const isWide = Number(width) > 64;
    return (value) => {
      if (typeof value === 'number' ? !Number.isSafeInteger(value) : !isDigits(value)) return wrong(value);
      return isWide ? `'${value}'` : String(value);
    };
  }
  const types = within(type);
  const inner = types?.map(writerOf);
  if (type.startsWith('Array(') && inner?.length === 1)
    return (value) => (Array.isArray(value) ? `[${value.map(inner[0] as Write).join(',')}]` : wrong(value));
  if (inner !== undefined && inner.length > 1)
    return (value) => {
      const values = value instanceof TupleParam ? value.values : undefined;
      if (values?.length !== inner.length) return wrong(value);
      return `(${values.map((one, index) => (inner[index] as Write)(one)).join(',')})`;
    };
  throw new TypeError(`no literal is known for the type ${type}`);
}

/**
 * A statement with literals in the place of its placeholders, each of the type that the placeholder names.
 *
 * @throws TypeError when a value is missing, or is not of its type.
 */
export function withLiterals(sql: string, params: Params): string {
  return sql.replace(placeholder, (_, name: string, type: string) => {
    if (!Object.hasOwn(params, name)) throw new TypeError(`there is no value for {${name}:${type}}`);
    const literal = writerOf(type)(params[name]);
    return type === 'String' ? literal : `CAST(${literal}, '${type}')`;
  });
}

/**
 * Keys that go into one statement, and their characters. A server takes 128 KiB for the text of a parameter
 * (`http_max_field_value_size`), in which a character can take four bytes, and a quote two.
 */
export const [keysAtOnce, charactersAtOnce] = [1_000, 30_000];

/** What a key takes of a parameter beside its texts: quotes, brackets, commas. */
const framing = 8;

/** How many characters keys take in a parameter. */
export const charactersOf = (keys: readonly string[]): number =>
  keys.reduce((sum, key) => sum + key.length + framing, 0);

/**
 * Reads what belongs to keys, in as many statements as their parameters need, one after the other. One key may be of
 * any size.
 *
 * @param textsOf the texts that a key has in the parameter.
 * @param read reads what belongs to some of the keys.
 */
export async function inParts<K, R>(
  keys: readonly K[],
  textsOf: (key: K) => readonly string[],
  read: (some: readonly K[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const rows: R[] = [];
  const characters = { most: charactersAtOnce, of: (key: K) => charactersOf(textsOf(key)) };
  for (const some of chunks(keys, atMost(keysAtOnce), characters))
    for (const row of await read(some)) rows.push(row);
  return rows;
}
