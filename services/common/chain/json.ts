/** A text that is not JSON, or not of the shape that was asked for. */
export class JsonTextError extends Error {
  override name = 'JsonTextError';
  readonly position: number;

  constructor(what: string, position: number) {
    super(`${what} at position ${position}`);
    this.position = position;
  }
}

/**
 * The raw text of every element of a JSON array, in order, without the white space around
 * it. Numbers, escapes and inner spacing stay as they were written, which a parse would not
 * keep (numbers above 2^53). Throws JsonTextError unless the whole text is one valid array.
 */
export function splitArray(text: Buffer | string): string[] {
  const source = typeof text === 'string' ? text : text.toString('utf8');
  const { elements, end } = splitArrayAt(source, 0);
  return expectEnd(source, end, elements);
}

/**
 * The same for an array that begins at a position and is followed by something else, which
 * is not looked at: `end` is where that begins.
 */
export function splitArrayAt(source: string, start: number): { elements: string[]; end: number } {
  const elements: string[] = [];
  let at = skipSpace(source, start);
  if (source.charCodeAt(at) !== OPEN_BRACKET) throw new JsonTextError('expected an array', at);
  at = skipSpace(source, at + 1);
  if (source.charCodeAt(at) === CLOSE_BRACKET) return { elements, end: at + 1 };
  for (;;) {
    const end = valueEnd(source, at);
    elements.push(source.slice(at, end));
    at = skipSpace(source, end);
    const next = source.charCodeAt(at);
    if (next === CLOSE_BRACKET) return { elements, end: at + 1 };
    if (next !== COMMA) throw new JsonTextError('expected , or ]', at);
    at = skipSpace(source, at + 1);
  }
}

/**
 * The raw text of one member of a JSON object, undefined when there is no such key. Where a
 * key stands twice the last one counts, as in JSON.parse. Throws JsonTextError unless the
 * whole text is one valid object.
 */
export function sliceMember(text: Buffer | string, key: string): string | undefined {
  const source = typeof text === 'string' ? text : text.toString('utf8');
  let found: string | undefined;
  let at = skipSpace(source, 0);
  if (source.charCodeAt(at) !== OPEN_BRACE) throw new JsonTextError('expected an object', at);
  at = skipSpace(source, at + 1);
  if (source.charCodeAt(at) === CLOSE_BRACE) return expectEnd(source, at + 1, found);
  for (;;) {
    const valueStart = keyEnd(source, at);
    const end = valueEnd(source, valueStart);
    if (isKey(source, at, key)) found = source.slice(valueStart, end);
    at = skipSpace(source, end);
    const next = source.charCodeAt(at);
    if (next === CLOSE_BRACE) return expectEnd(source, at + 1, found);
    if (next !== COMMA) throw new JsonTextError('expected , or }', at);
    at = skipSpace(source, at + 1);
  }
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Anything in a string that JSON.parse has to judge: control characters and escapes. */
const NOT_PLAIN = /[^ -[\]-\uffff]/;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

/** Strings up to this length are scanned character by character. */
const SHORT = 48;

/** The position after the value that begins at `start`. Any depth: it does not recurse. */
function valueEnd(text: string, start: number): number {
  const closers: number[] = [];
  let at = start;
  for (;;) {
    const first = text.charCodeAt(at);
    if (first === QUOTE) at = stringEnd(text, at);
    else if (first === OPEN_BRACE || first === OPEN_BRACKET) {
      const closer = first + 2;
      const inner = skipSpace(text, at + 1);
      if (text.charCodeAt(inner) !== closer) {
        closers.push(closer);
        at = closer === CLOSE_BRACE ? keyEnd(text, inner) : inner;
        continue;
      }
      at = inner + 1;
    } else at = scalarEnd(text, at);
    for (;;) {
      const closer = closers[closers.length - 1];
      if (closer === undefined) return at;
      at = skipSpace(text, at);
      const next = text.charCodeAt(at);
      if (next === COMMA) {
        at = skipSpace(text, at + 1);
        if (closer === CLOSE_BRACE) at = keyEnd(text, at);
        break;
      }
      if (next !== closer) throw new JsonTextError('expected a comma or the end of a list', at);
      closers.pop();
      at++;
    }
  }
}

/** From the quote of a key to the first character of its value. */
function keyEnd(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) throw new JsonTextError('expected a key', start);
  const colon = skipSpace(text, stringEnd(text, start));
  if (text.charCodeAt(colon) !== COLON) throw new JsonTextError('expected :', colon);
  return skipSpace(text, colon + 1);
}

function stringEnd(text: string, start: number): number {
  // Most strings are short and plain: looking at each character is faster than a search.
  for (let at = start + 1; at <= start + SHORT; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code === BACKSLASH || !(code >= 0x20)) break;
  }
  let quote = text.indexOf('"', start + 1);
  while (quote >= 0 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1);
  if (quote < 0) throw new JsonTextError('string without end', start);
  const body = text.slice(start, quote + 1);
  if (NOT_PLAIN.test(body)) parseOrThrow(body, start);
  return quote + 1;
}

/** An odd number of backslashes before a quote makes it part of the string. */
function isEscaped(text: string, quote: number): boolean {
  let before = quote - 1;
  while (text.charCodeAt(before) === BACKSLASH) before--;
  return (quote - before) % 2 === 0;
}

function scalarEnd(text: string, at: number): number {
  for (const literal of ['true', 'false', 'null']) {
    if (text.startsWith(literal, at)) return at + literal.length;
  }
  NUMBER.lastIndex = at;
  if (NUMBER.test(text)) return NUMBER.lastIndex;
  throw new JsonTextError('expected a value', at);
}

function isKey(text: string, quote: number, key: string): boolean {
  const raw = text.slice(quote, stringEnd(text, quote));
  if (raw.includes('\\')) return JSON.parse(raw) === key;
  return raw.length === key.length + 2 && raw.startsWith(key, 1);
}

function parseOrThrow(text: string, position: number): void {
  try {
    JSON.parse(text);
  } catch {
    throw new JsonTextError('malformed string', position);
  }
}

function skipSpace(text: string, start: number): number {
  let at = start;
  for (;;) {
    const code = text.charCodeAt(at);
    if (code !== 0x20 && code !== 0x0a && code !== 0x0d && code !== 0x09) return at;
    at++;
  }
}

function expectEnd<T>(text: string, at: number, result: T): T {
  const end = skipSpace(text, at);
  if (end !== text.length) throw new JsonTextError('text after the end of the value', end);
  return result;
}
