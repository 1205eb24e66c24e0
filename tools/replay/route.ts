import type { IncomingHttpHeaders } from 'node:http';
import { evmPost, isEvmMethod } from './evm.js';
import type { Api } from './faults.js';
import { elements, members } from './json.js';
import { restAnswer } from './rest.js';
import { isRpcMethod, rpcGet, rpcPost } from './rpc.js';
import type { Answer } from './types.js';
import type { View } from './view.js';

/** A request whose body has been read. */
export interface Request {
  method: string;
  /** path with query, as sent */
  url: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Where a request goes: the API, and the path below the API's own prefix. */
export interface Target {
  api: Api;
  path: string;
  query: URLSearchParams;
}

const modules = /^\/(cosmos|opinit|minievm|minimove|miniwasm|initia|cosmwasm|ibc|connect|noble)\//;

/**
 * One server carries three APIs: by prefix (/rpc, /rest, /evm), else by path, and a POST to / by the method
 * named in its body.
 */
export function targetOf(request: Request): Target {
  const at = request.url.indexOf('?');
  const fullPath = at < 0 ? request.url : request.url.slice(0, at);
  const query = new URLSearchParams(at < 0 ? '' : request.url.slice(at + 1));
  const prefix = /^\/(rpc|rest|evm)(?=\/|$)/.exec(fullPath)?.[1] as Api | undefined;
  const path = (prefix ? fullPath.slice(prefix.length + 1) : fullPath) || '/';
  if (prefix) return { api: prefix, path, query };
  if (modules.test(path)) return { api: 'rest', path, query };
  const evm = path === '/' && request.method === 'POST' && isEvmMethod(firstMethod(request.body));
  return { api: evm ? 'evm' : 'rpc', path, query };
}

/** Answers a request; `count` is told the kind of each part of it. */
export function answerTo(
  view: View,
  request: Request,
  target: Target,
  count: (kind: string) => void,
): Answer {
  const { path, query } = target;
  let answer: Answer;
  if (target.api === 'rest') {
    const height = request.headers['x-cosmos-block-height'];
    answer = restAnswer(view, {
      method: request.method,
      path,
      query,
      height: height?.toString(),
      body: request.body,
    });
  } else if (request.method === 'POST' && request.body.trim() !== '') {
    return jsonRpc(view, target.api, request.body, count);
  } else if (target.api === 'evm') {
    answer = { status: 405, type: 'text/plain', body: 'method not allowed\n', kind: 'evm.unknown' };
  } else if (path === '/') {
    answer = {
      status: 200,
      type: 'text/html',
      body: '<html><body>Available endpoints: see CometBFT RPC</body></html>',
      kind: 'rpc.root',
    };
  } else answer = rpcGet(view, path.slice(1), query);
  count(answer.kind);
  return answer;
}

function jsonRpc(view: View, api: Api, body: string, count: (kind: string) => void): Answer {
  const type = 'application/json';
  const handle = api === 'evm' ? evmPost : rpcPost;
  // go-ethereum ends a body with a line feed, CometBFT does not
  const end = api === 'evm' ? '\n' : '';
  try {
    const batch = body.trimStart().startsWith('[');
    const answers = (batch ? elements(body) : [body]).map((one) => handle(view, one));
    for (const a of answers) count(a.kind);
    if (batch) count(`${api}.batch`);
    const text = answers.map((a) => a.body).join(',');
    return { status: 200, type, body: `${batch ? `[${text}]` : text}${end}`, kind: api };
  } catch {
    count(`${api}.invalid`);
    const error = '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}';
    return { status: api === 'evm' ? 400 : 500, type, body: `${error}${end}`, kind: `${api}.invalid` };
  }
}

function firstMethod(body: string): string {
  try {
    const text = body.trimStart().startsWith('[') ? (elements(body)[0] ?? '{}') : body;
    const method = JSON.parse(members(text).get('method') ?? '""') as string;
    return isRpcMethod(method) ? '' : method;
  } catch {
    return '';
  }
}
