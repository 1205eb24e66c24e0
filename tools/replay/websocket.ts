import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { type WebSocket, WebSocketServer } from 'ws';
import { members } from './json.js';
import { rpcPost } from './rpc.js';
import type { BlockBodies } from './types.js';
import type { View } from './view.js';

/** The event side of the CometBFT RPC. */
export interface Events {
  /** takes over an upgrade request; `mode` refuses or closes it under a fault */
  upgrade(req: IncomingMessage, socket: Duplex, head: Buffer, mode: 'refused' | 'closed' | undefined): void;
  /** tells subscribers of a new block */
  newBlock(bodies: BlockBodies): void;
  /** whether anybody listens */
  subscribers(): number;
  /** drops every connection, as when the websocket is switched off */
  dropAll(): void;
  close(): void;
}

/**
 * Serves /websocket: `subscribe` with `tm.event='NewBlock'` or `'NewBlockHeader'` is answered with an empty
 * result, then each event carries the id of the subscription; any other RPC method works here too. Pings are
 * answered by the library.
 */
export function makeEvents(view: () => View): Events {
  const server = new WebSocketServer({ noServer: true });
  /** query text to subscription id (raw JSON), by connection */
  const queries = new Map<WebSocket, Map<string, string>>();

  const onMessage = (socket: WebSocket, text: string): void => {
    const own = queries.get(socket)!;
    let request: Map<string, string>;
    try {
      request = members(text);
    } catch {
      socket.send('{"jsonrpc":"2.0","id":-1,"error":{"code":-32700,"message":"Parse error. Invalid JSON"}}');
      return;
    }
    const id = request.get('id') ?? '-1';
    const method = request.get('method');
    const query = queryOf(request.get('params'));
    const reply = (rest: string) => socket.send(`{"jsonrpc":"2.0","id":${id},${rest}}`);
    const refuse = (data: string) =>
      reply(`"error":${JSON.stringify({ code: -32603, message: 'Internal error', data })}`);
    if (method === '"subscribe"') {
      if (!/^tm\.event\s*=\s*'\w+'/.test(query)) refuse(`failed to parse query: ${query}`);
      else if (own.has(query)) refuse('already subscribed');
      else {
        own.set(query, id);
        reply('"result":{}');
      }
    } else if (method === '"unsubscribe"') {
      if (own.delete(query)) reply('"result":{}');
      else refuse('subscription not found');
    } else if (method === '"unsubscribe_all"') {
      own.clear();
      reply('"result":{}');
    } else socket.send(rpcPost(view(), text).body);
  };

  return {
    upgrade(req, socket, head, mode) {
      if (mode === 'refused') {
        socket.end('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
        return;
      }
      server.handleUpgrade(req, socket, head, (ws) => {
        if (mode === 'closed') {
          ws.close(1011, 'not now');
          return;
        }
        queries.set(ws, new Map());
        ws.on('message', (data) => onMessage(ws, data.toString()));
        ws.on('close', () => queries.delete(ws));
        ws.on('error', () => ws.terminate());
      });
    },
    newBlock(bodies) {
      const made = new Map<string, string>();
      for (const [socket, own] of queries) {
        for (const [query, id] of own) {
          const event = /^tm\.event\s*=\s*'(NewBlock|NewBlockHeader)'$/.exec(query)?.[1];
          if (!event) continue;
          if (!made.has(event)) made.set(event, eventData(event, bodies));
          const events = JSON.stringify({ 'tm.event': [event] });
          const result = `{"query":${JSON.stringify(query)},"data":${made.get(event)},"events":${events}}`;
          socket.send(`{"jsonrpc":"2.0","id":${id},"result":${result}}`);
        }
      }
    },
    subscribers: () => [...queries.values()].filter((own) => own.size > 0).length,
    dropAll() {
      for (const socket of queries.keys()) socket.terminate();
    },
    close() {
      for (const socket of server.clients) socket.terminate();
      server.close();
    },
  };
}

function queryOf(params: string | undefined): string {
  if (!params) return '';
  const parsed = JSON.parse(params) as { query?: string } | string[];
  return (Array.isArray(parsed) ? parsed[0] : parsed.query) ?? '';
}

function eventData(event: string, bodies: BlockBodies): string {
  const block = members(bodies.block);
  const header = members(block.get('block')!).get('header');
  if (event === 'NewBlockHeader')
    return `{"type":"tendermint/event/NewBlockHeader","value":{"header":${header}}}`;
  const results = [...members(bodies.results)].filter(
    ([name]) => name !== 'height' && name !== 'finalize_block_events',
  );
  const finalize = results.map(
    ([name, text]) => `${JSON.stringify(name === 'txs_results' ? 'tx_results' : name)}:${text}`,
  );
  const value = `"block":${block.get('block')},"block_id":${block.get('block_id')},"result_finalize_block":{${finalize.join(',')}}`;
  return `{"type":"tendermint/event/NewBlock","value":{${value}}}`;
}
