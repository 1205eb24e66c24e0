import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { decimalText, durationText, escapeHtml, goString, timestampText } from './gojson.js';
import { enums, schema } from './messages/index.js';
import { type Field, parseFields } from './schema.js';

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
