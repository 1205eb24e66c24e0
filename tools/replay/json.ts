/**
 * Slicing of JSON text without parsing values. A recorded answer must leave the replay node byte for byte
 * as the real node spelled it (`\u003c` stays `\u003c`, `1e21` stays `1e21`), which JSON.parse followed
 * by JSON.stringify does not promise.
 */

/** The members of a JSON object text: name to the raw text of its value. Throws when it is no object. */
export function members(text: string): Map<string, string> {
  const out = new Map<string, string>();
  let at = skipSpace(text, 0);
  if (text[at] !== '{') throw new Error(`not a JSON object: ${text.slice(0, 40)}`);
  at = skipSpace(text, at + 1);
  while (text[at] === '"') {
    const nameEnd = endOfValue(text, at);
    const name = JSON.parse(text.slice(at, nameEnd)) as string;
    const start = skipSpace(text, skipSpace(text, nameEnd) + 1);
    const end = endOfValue(text, start);
    out.set(name, text.slice(start, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return out;
}

/** The raw texts of the elements of a JSON array text. Throws when it is no array. */
export function elements(text: string): string[] {
  const out: string[] = [];
  let at = skipSpace(text, 0);
  if (text[at] !== '[') throw new Error(`not a JSON array: ${text.slice(0, 40)}`);
  at = skipSpace(text, at + 1);
  while (at < text.length && text[at] !== ']') {
    const end = endOfValue(text, at);
    out.push(text.slice(at, end));
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return out;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && text.charCodeAt(at) <= 32) at++;
  return at;
}

function endOfValue(text: string, start: number): number {
  const first = text[start];
  if (first === '"') return endOfString(text, start);
  if (first !== '{' && first !== '[') {
    let at = start;
    while (at < text.length && !',]} \t\r\n'.includes(text[at]!)) at++;
    if (at === start) throw new Error(`JSON ends early at ${start}`);
    return at;
  }
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === 0x22) at = endOfString(text, at) - 1;
    else if (c === 0x7b || c === 0x5b) depth++;
    else if (c === 0x7d || c === 0x5d) {
      depth--;
      if (depth === 0) return at + 1;
    }
  }
  throw new Error('JSON ends inside a value');
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    const c = text.charCodeAt(at);
    if (c === 0x5c) at++;
    else if (c === 0x22) return at + 1;
  }
  throw new Error('JSON ends inside a string');
}
