import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { decimalText, durationText, escapeHtml, goString, timestampText } from './gojson.js';
import { enums, schema } from './messages/index.js';

/** Any may hold Any without end; a real tx nests three or four deep. */
const MAX_DEPTH = 64;

const parsed = new Map<string, Field[]>();

/**
 * A protobuf message as the JSON text that the node's REST API prints for it. `type` is a
 * full name of the schema. Throws on bytes that are no such message, on an unknown type and
 * on nesting beyond any use.
 */
export function messageJson(type: string, bytes: Uint8Array, depth = 0): string {
  return `{${members(type, bytes, depth).join(',')}}`;
}

/** Whether messageJson knows the type. */
export function isKnownType(type: string): boolean {
  return Object.hasOwn(schema, type);
}

/**
 * An Any as the node prints it: "@type" and the fields of what it holds. Of an unknown or
 * damaged content `value` keeps the bytes, in base64.
 */
export function anyJson(bytes: Uint8Array, depth = 0): string {
  const { type_url, value } = readAny(bytes);
  const type = type_url.slice(type_url.lastIndexOf('/') + 1);
  const head = `"@type":${goString(type_url)}`;
  if (isKnownType(type)) {
    try {
      return `{${[head, ...members(type, value, depth + 1)].join(',')}}`;
    } catch {
      // Kept as bytes below: a message that cannot be read is shown, not lost.
    }
  }
  return `{${head},"value":"${base64(value)}"}`;
}

function readAny(bytes: Uint8Array): { type_url: string; value: Uint8Array } {
  const any: { type_url: string; value: Uint8Array } = { type_url: '', value: new Uint8Array() };
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1 && wireType === WireType.LengthDelimited) any.type_url = reader.string();
    else if (number === 2 && wireType === WireType.LengthDelimited) any.value = reader.bytes();
    else reader.skip(wireType, number);
  }
  return any;
}

function members(type: string, bytes: Uint8Array, depth: number): string[] {
  const lines = schema[type];
  if (!lines) throw new Error(`unknown message type ${type}`);
  if (depth > MAX_DEPTH) throw new Error('messages nested too deeply');
  let fields = parsed.get(type);
  if (!fields) {
    fields = parseFields(lines);
    parsed.set(type, fields);
  }
  const values = readFields(fields, bytes, depth);
  const printed: string[] = [];
  for (const field of fields) {
    const texts = values.get(field.number);
    if (field.repeated) printed.push(`"${field.name}":[${texts?.join(',') ?? ''}]`);
    else if (texts) printed.push(`"${field.name}":${texts[texts.length - 1]}`);
    else if (field.absent === 'null') printed.push(`"${field.name}":null`);
    else if (field.absent === 'default') printed.push(`"${field.name}":${defaultText(field.type, depth)}`);
  }
  return printed;
}

/** The printed values of each field that is there, in the order of the bytes. */
function readFields(fields: Field[], bytes: Uint8Array, depth: number): Map<number, string[]> {
  const values = new Map<number, string[]>();
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    const field = fields.find((candidate) => candidate.number === number);
    if (!field) {
      reader.skip(wireType, number);
      continue;
    }
    const texts = values.get(number) ?? [];
    values.set(number, texts);
    const isVarint = VARINTS.has(field.type) || field.type.startsWith('enum:');
    if (isVarint && wireType === WireType.LengthDelimited && field.repeated) {
      const end = reader.uint32() + reader.pos;
      while (reader.pos < end) texts.push(varintText(field.type, reader));
    } else if (wireType !== (isVarint ? WireType.Varint : WireType.LengthDelimited)) {
      throw new Error(`field ${field.name}: unexpected wire type ${wireType}`);
    } else texts.push(isVarint ? varintText(field.type, reader) : bytesText(field.type, reader, depth));
  }
  return values;
}

const VARINTS = new Set(['bool', 'int32', 'uint32', 'int64', 'uint64']);

function varintText(type: string, reader: BinaryReader): string {
  switch (type) {
    case 'bool':
      return reader.bool() ? 'true' : 'false';
    case 'uint32':
      return String(reader.uint32());
    case 'int64':
      return `"${reader.int64()}"`;
    case 'uint64':
      return `"${reader.uint64()}"`;
    default:
      return type === 'int32' ? String(reader.int32()) : enumText(type, reader.int32());
  }
}

function bytesText(type: string, reader: BinaryReader, depth: number): string {
  switch (type) {
    case 'string':
    case 'int':
      return goString(reader.string());
    case 'dec':
      return goString(decimalText(reader.string()));
    case 'bytes':
      return `"${base64(reader.bytes())}"`;
    case 'hex':
      return `"${Buffer.from(reader.bytes()).toString('hex').toUpperCase()}"`;
    case 'json':
      return embeddedJson(reader.bytes());
    case 'any':
      return anyJson(reader.bytes(), depth);
    case 'timestamp':
      return goString(timestampText(...secondsAndNanos(reader.bytes())));
    case 'duration':
      return goString(durationText(...secondsAndNanos(reader.bytes())));
    default:
      return messageJson(type, reader.bytes(), depth + 1);
  }
}

function defaultText(type: string, depth: number): string {
  switch (type) {
    case 'bool':
      return 'false';
    case 'int32':
    case 'uint32':
      return '0';
    case 'int':
    case 'int64':
    case 'uint64':
      return '"0"';
    case 'string':
    case 'hex':
      return '""';
    case 'timestamp':
      // Go's zero time, which is not the epoch.
      return '"0001-01-01T00:00:00Z"';
    case 'duration':
      return '"0s"';
    default:
      return type.startsWith('enum:') ? enumText(type, 0) : messageJson(type, new Uint8Array(), depth + 1);
  }
}

function enumText(type: string, value: number): string {
  const name = enums[type.slice('enum:'.length)]?.[value];
  return name === undefined ? String(value) : `"${name}"`;
}

/** Bytes that hold JSON are printed as JSON; what is none is printed as base64. */
function embeddedJson(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('utf8');
  try {
    JSON.parse(text);
    return escapeHtml(text);
  } catch {
    return `"${base64(bytes)}"`;
  }
}

/** Timestamp and Duration share their fields: seconds = 1, nanos = 2. */
function secondsAndNanos(bytes: Uint8Array): [seconds: bigint, nanos: number] {
  let seconds = 0n;
  let nanos = 0;
  const reader = new BinaryReader(bytes);
  while (reader.pos < reader.len) {
    const [number, wireType] = reader.tag();
    if (number === 1 && wireType === WireType.Varint) seconds = BigInt(reader.int64());
    else if (number === 2 && wireType === WireType.Varint) nanos = reader.int32();
    else reader.skip(wireType, number);
  }
  return [seconds, nanos];
}

const base64 = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

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
