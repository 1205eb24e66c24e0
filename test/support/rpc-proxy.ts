import { readBody } from '../../services/common/util/bounded-input.js';
import { serveHttp } from './http-server.js';

/** A JSON-RPC request that passes. */
export interface PassingRequest {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** A JSON-RPC answer without its frame. */
export interface RpcReply {
  readonly result?: unknown;
  readonly error?: { readonly code: number; readonly message: string; readonly data?: unknown };
}

/**
 * What the proxy does with a request:
 * - undefined: hands it on;
 * - `drop`: hands it on, and breaks the connection instead of answering: a lost reply;
 * - `refuse`: breaks the connection without handing it on;
 * - a reply: answers by itself;
 * - a function: hands it on and changes the answer.
 */
export type Meddling = 'drop' | 'refuse' | RpcReply | ((reply: RpcReply) => RpcReply) | undefined;

/** A proxy before a JSON-RPC node that meddles with what passes. */
export interface RpcProxy {
  readonly url: string;
  /** Everything that was asked, in order. */
  readonly requests: readonly PassingRequest[];
  /** How often a method was asked for. */
  count(method: string): number;
  /** What happens from now on; undefined again for nothing. */
  meddle: ((request: PassingRequest, nth: number) => Meddling | Promise<Meddling>) | undefined;
  stop(): Promise<void>;
}

/** Starts a proxy before a node. */
export async function startRpcProxy(target: string): Promise<RpcProxy> {
  const requests: PassingRequest[] = [];
  const count = (method: string): number => requests.filter((one) => one.method === method).length;
  const { url, close } = await serveHttp((request, response) => {
    void (async () => {
      const body = (await readBody(request, Number.MAX_SAFE_INTEGER)).toString();
      const { id, method, params } = JSON.parse(body) as { id: number } & PassingRequest;
      requests.push({ method, params });
      const meddling = await proxy.meddle?.({ method, params }, count(method));
      if (meddling === 'refuse') return void request.socket.destroy();
      let reply: RpcReply;
      if (typeof meddling === 'object') reply = meddling;
      else {
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(target, { method: 'POST', headers, body });
        const { result, error } = (await answer.json()) as RpcReply;
        reply = error === undefined ? { result } : { error };
      }
      if (meddling === 'drop') return void request.socket.destroy();
      if (typeof meddling === 'function') reply = meddling(reply);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify({ jsonrpc: '2.0', id, ...reply }));
    })().catch(() => response.destroy());
  });
  const proxy: RpcProxy = {
    url,
    requests,
    count,
    meddle: undefined,
    stop: close,
  };
  return proxy;
}
