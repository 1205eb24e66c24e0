import { members } from '../replay/json.js';
import { rawTxs } from '../replay/recording.js';
import type { Exchange } from '../replay/types.js';
import { blockQuestions, chainQuestions, type Question, stateQuestions, txPages } from './plan.js';

/** Where and what to record. */
export interface CaptureOptions {
  rpc: string;
  rest: string;
  /** absent: not an EVM chain */
  json_rpc?: string;
  from: number;
  to: number;
  /** called with every exchange, in the order of the recording */
  write(exchange: Exchange): Promise<void>;
  /** how often a question is asked again when the node does not answer it (default 5) */
  attempts?: number;
}

/**
 * Records blocks from..to of a running node, with the state an indexer asks for at the first and the last of
 * them. Answers are kept whatever they are (a node without traces is recorded as one), except when the
 * node fails to answer at all, says 429 or 502..504, or a block is missing: that stops the capture with an error.
 */
export async function capture(options: CaptureOptions): Promise<number> {
  const bases = { rpc: options.rpc, rest: options.rest, jsonrpc: options.json_rpc ?? '' };
  const evm = options.json_rpc !== undefined;
  let written = 0;
  const record = async (question: Question): Promise<Exchange> => {
    const exchange = await ask(bases[question.api], question, options.attempts ?? 5);
    await options.write(exchange);
    written++;
    return exchange;
  };
  for (const question of chainQuestions(evm)) await record(question);
  for (const height of new Set([options.from, options.to])) {
    const [list] = stateQuestions(height, []);
    const accounts = accountsIn(await ask(bases.rest, list!, options.attempts ?? 5));
    for (const question of stateQuestions(height, accounts)) await record(question);
  }
  for (let height = options.from; height <= options.to; height++) {
    const [block, ...others] = blockQuestions(height, evm);
    const answer = await record(block!);
    if (answer.status !== 200) throw new Error(`block ${height}: ${answer.body.slice(0, 300)}`);
    for (const question of others) await record(question);
    const count = rawTxs(members(answer.body).get('result')!).length;
    for (const question of txPages(height, count)) await record(question);
  }
  return written;
}

function accountsIn(answer: Exchange): string[] {
  if (answer.status !== 200) return [];
  return [...new Set([...answer.body.matchAll(/"address":"([a-z]+1[0-9a-z]{38,})"/g)].map((m) => m[1]!))];
}

async function ask(base: string, question: Question, attempts: number): Promise<Exchange> {
  let problem = '';
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** attempt));
    try {
      const headers: Record<string, string> = {};
      if (question.height !== undefined) headers['x-cosmos-block-height'] = String(question.height);
      if (question.requestBody !== undefined) headers['content-type'] = 'application/json';
      const response = await fetch(base.replace(/\/$/, '') + question.path, {
        method: question.method,
        headers,
        ...(question.requestBody === undefined ? {} : { body: question.requestBody }),
        signal: AbortSignal.timeout(30_000),
      });
      const body = await response.text();
      const contentType = response.headers.get('content-type') ?? '';
      if (![429, 502, 503, 504].includes(response.status) && isWhole(contentType, body)) {
        return { ...question, status: response.status, contentType, body };
      }
      problem = `HTTP ${response.status} ${body.slice(0, 200)}`;
    } catch (error) {
      problem = String(error);
    }
  }
  throw new Error(`${question.method} ${base}${question.path}: ${problem}`);
}

/** Whether a JSON body is complete: a cut one must not get into a recording. */
function isWhole(contentType: string, body: string): boolean {
  if (!contentType.includes('json')) return true;
  try {
    JSON.parse(body);
    return true;
  } catch {
    return false;
  }
}
