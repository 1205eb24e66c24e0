/**
 * Fields of protobuf messages, written as compactly as a .proto file: message name ->
 * field name -> `<number> <type>[<mark>]`, in the order in which the node prints them.
 *
 * Types: string, bytes, bool, int32, uint32, int64, uint64, enum:<name>, a full message
 * name, and the ones that the node's Go types print in their own way: any, timestamp,
 * duration, int (big integer in a string), dec (18 decimals in a string), json (bytes that
 * hold JSON and are printed as such), hex (bytes printed as upper-case hex).
 * Marks: [] repeated; ! a message that is printed with its defaults when absent (the others
 * are null then); ? one of a oneof, which is left out when absent.
 */
export type Schema = Record<string, Record<string, string>>;

/** Enum name -> the names of its values by number; others are printed as numbers. */
export type Enums = Record<string, Record<number, string>>;

export interface Field {
  name: string;
  number: number;
  type: string;
  repeated: boolean;
  /** What to print when the field is not there. */
  absent: 'default' | 'null' | 'nothing';
}

const SCALARS = new Set(['string', 'bool', 'int32', 'uint32', 'int64', 'uint64', 'int', 'hex']);

/** The fields of one message, parsed from its lines of the schema. */
export function parseFields(lines: Record<string, string>): Field[] {
  return Object.entries(lines).map(([name, line]) => {
    const match = /^(\d+) ([\w.:]+)(\[\]|!|\?)?$/.exec(line);
    if (!match) throw new Error(`field ${name}: cannot read "${line}"`);
    const [, number, type = '', mark] = match;
    const printsDefault = mark === '!' || SCALARS.has(type) || type.startsWith('enum:');
    const absent = mark === '?' ? 'nothing' : printsDefault ? 'default' : 'null';
    return { name, number: Number(number), type, repeated: mark === '[]', absent };
  });
}
