import assert from 'node:assert/strict';
import { plainBody, type RawAnswer } from '../raw-http.js';

/** What an error says besides its status: gRPC code numbers by HTTP status. */
const codes: Readonly<Record<number, number>> = {
  400: 3,
  404: 5,
  405: 12,
  414: 3,
  431: 3,
  501: 12,
};

/** The JSON of an error. */
export interface ErrorBody {
  readonly code: number;
  readonly message: string;
  readonly details: readonly unknown[];
}

/** Words of the inside that no client should read. */
const inside =
  /\b(select|insert|from\s+\w+\.\w+|clickhouse|chdb|db::|exception|stack|grpc|node_modules|undefined|\[object|nan\b)|\.[jt]s:\d+|\/(tmp|work|home|usr|var)\/|unix:|127\.0\.0\.1|econn/i;

/**
 * Checks what is true of every answer to whatever request: a status that the API has, JSON
 * (or nothing where there is no body), a request id, and of an error its shape and that it
 * shows nothing of the inside.
 *
 * @param sent everything the client wrote itself, which a message may repeat.
 * @returns the parsed JSON; undefined when there is no body.
 */
export function checkAnswer(answer: RawAnswer, sent: string): unknown {
  const { status, headers } = answer;
  const body = plainBody(answer);
  const about = `${status} for ${sent.slice(0, 300)}: ${body.toString('utf8', 0, 300)}`;
  assert.ok([200, 204, 304, 400, 404, 405, 414, 431, 501].includes(status), about);
  assert.match(headers['x-request-id'] ?? '', /^[\x21-\x7e]{1,128}$/, `x-request-id: ${about}`);
  assert.equal(headers['access-control-allow-origin'], '*', about);
  if (status === 204 || status === 304) return undefined;
  assert.equal(headers['content-type'], 'application/json; charset=utf-8', about);
  if (body.length === 0) return undefined;
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  const json: unknown = JSON.parse(text);
  if (status >= 400) checkError(status, json as ErrorBody, sent, about);
  return json;
}

/**
 * Checks an answer to what could not even be read as a request, and so went past routes,
 * request ids and CORS: its status, and that it is JSON and closes the connection.
 */
export function checkRefusal(answer: RawAnswer, status: number): void {
  const about = `${answer.status}: ${answer.body.toString('utf8', 0, 300)}`;
  assert.equal(answer.status, status, about);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8', about);
  assert.equal(answer.headers['connection'], 'close', about);
  checkError(status, JSON.parse(answer.body.toString()) as ErrorBody, '', about);
}

function checkError(status: number, json: ErrorBody, sent: string, about: string): void {
  assert.deepEqual(Object.keys(json), ['code', 'message', 'details'], about);
  assert.equal(json.code, codes[status], about);
  assert.ok(typeof json.message === 'string' && json.message !== '', about);
  assert.deepEqual(json.details, [], about);
  const own = withoutWords(json.message, sent);
  assert.doesNotMatch(own, inside, about);
}

/** A message without the words that the client sent, however they were written. */
function withoutWords(message: string, sent: string): string {
  let rest = message;
  // Decoded part by part: one broken escape must not hide the others.
  const parts = sent.split(/[/?&=,]/);
  const words = new Set(
    [...parts, ...parts.map(decoded).flatMap((text) => [text, ...text.split(/[/?&=,]/)])].filter(
      (word) => word.length > 1,
    ),
  );
  for (const word of [...words].sort((a, b) => b.length - a.length)) {
    for (const spelling of spellings(word)) {
      rest = rest.replaceAll(spelling, ' ').replaceAll(spelling.slice(0, 100), ' ');
    }
  }
  return rest;
}

const spellings = (word: string): string[] => [
  word,
  JSON.stringify(word).slice(1, -1),
  word.replaceAll('+', ' '),
];

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
