/** A body of an HTTP message is larger than it may be; the message says in what way, after "it". */
export class BodyTooLarge extends Error {
  override name = 'BodyTooLarge';
}

/**
 * Reads a body while it arrives, and stops reading at the first byte that is too much.
 *
 * @param chunks the body; it is destroyed when it is too large, so that the sender stops.
 * @throws BodyTooLarge
 */
export async function readBody(chunks: AsyncIterable<Buffer>, max_bytes: number): Promise<Buffer> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > max_bytes) throw new BodyTooLarge(`is larger than ${max_bytes} bytes`);
    parts.push(chunk);
  }
  return parts.length === 1 ? (parts[0] as Buffer) : Buffer.concat(parts, length);
}

/*
 * As values a JSON text can take thirty times the memory that it takes as bytes: whoever may send so many bytes may not
 * send that many values.
 */

/**
 * For so many bytes that a text may have it may have one value. What nodes really send has one for 15 bytes or more, so
 * that a block of 84 MB passes where 128 MiB are allowed.
 */
const bytesPerValue = 24;

/**
 * Any text may have so many values, which come to 100 MB at most; so a text of no more bytes is not scanned. Nor is its
 * depth bounded, and what is said in a tx may nest 10,000 deep, Go's bound: whoever reads what a tx says does not recurse.
 */
const freeValues = 1024 * 1024;

/**
 * How deep values may lie in each other in a text that is scanned: deeper than any honest node sends. What a tx says may
 * nest 10,000 deep, Go's bound, some levels down in an answer: a lower bound would let one tx stop the index.
 */
const mostDepth = 20_000;

/** Values of a JSON text lie deeper in each other than any setting allows. */
export class JsonTooDeep extends BodyTooLarge {}

/**
 * Counts the values of a JSON text of more than 1 MiB, and how deep they lie in each other, before anybody parses it.
 * Whether it is JSON at all is for the parser to say.
 *
 * @param max_bytes how large it may be, from which the number of values follows.
 * @throws BodyTooLarge
 */
export function checkJson(body: Buffer, max_bytes: number): void {
  if (body.length <= freeValues) return;
  const most = Math.max(freeValues, Math.floor(max_bytes / bytesPerValue));
  let [values, depth, at] = [0, 0, 0];
  while (at < body.length) {
    const byte = body[at];
    at += 1;
    if (byte === QUOTE) at = stringEnd(body, at);
    else if (byte === COMMA) values += 1;
    else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      values += 1;
      depth += 1;
      if (depth > mostDepth) throw new JsonTooDeep(`nests its JSON values more than ${mostDepth} deep`);
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth -= 1;
    if (values > most)
      throw new BodyTooLarge(`holds more than ${most} JSON values, where it may have ${max_bytes} bytes`);
  }
}

/** Parses a JSON text that stands in a string of another one. @throws BodyTooLarge, SyntaxError */
export function parseInnerJson(text: string): unknown {
  if (text.length > freeValues) checkJson(Buffer.from(text), text.length);
  return JSON.parse(text);
}

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_BRACKET = 0x5d;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;

/** Strings up to this length are scanned byte by byte, which is faster than a search. */
const short = 64;

/** The position after the quote that ends a string. @param start of its first character. */
function stringEnd(body: Buffer, start: number): number {
  const near = Math.min(body.length, start + short);
  let at = start;
  for (; at < near; at++) {
    const byte = body[at];
    if (byte === QUOTE) return at + 1;
    if (byte === BACKSLASH) at += 1;
  }
  let quote = body.indexOf(QUOTE, at);
  while (quote >= 0 && isEscaped(body, quote, at)) quote = body.indexOf(QUOTE, quote + 1);
  return quote < 0 ? body.length : quote + 1;
}

/** Whether an odd number of backslashes stands before a quote. @param start from where on no escape has begun. */
function isEscaped(body: Buffer, quote: number, start: number): boolean {
  let before = quote - 1;
  while (before >= start && body[before] === BACKSLASH) before -= 1;
  return (quote - before) % 2 === 0;
}
