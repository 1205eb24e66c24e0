import { type IncomingMessage, request } from 'node:http';
import { readBody } from '../../../services/common/util/bounded-input.js';
import { type HttpServer, serveHttp } from '../http-server.js';

/** A statement that changes tables, on its way to a ClickHouse server. */
export interface PassingStatement {
  readonly kind: 'insert' | 'delete';
  /** Without its database. */
  readonly table: string;
}

/**
 * What becomes of a statement:
 * - undefined: it is handed on;
 * - `lost`: it is handed on, and the connection breaks instead of an answer;
 * - `twice`: it is handed on, and once more at the same time;
 * - `gateway`: it runs for so long, in milliseconds, and long before it ends the proxy has answered 504 in its stead;
 * - `late`: the connection breaks, and the server has the statement only after so long.
 */
export type Fate = undefined | 'lost' | 'twice' | { readonly gateway: number } | { readonly late: number };

/** A proxy between writers and a ClickHouse server, as load balancers and a network that is cut are. */
export interface ClickHouseProxy extends HttpServer {
  /** Decides over statements from now on; undefined again to hand everything on. */
  meddle: ((statement: PassingStatement) => Fate) | undefined;
  /** Resolves when everything that was held back has run. */
  settled(): Promise<void>;
}

/** Tables of migrations: not meddled with. */
const ofMigrations = /^\w*migrations$/;

/** @param target URL of the server. */
export async function startClickHouseProxy(target: string): Promise<ClickHouseProxy> {
  const held: Promise<void>[] = [];

  const hand = (
    incoming: IncomingMessage,
    body: Buffer,
    answer?: (status: number, bytes: Buffer) => void,
  ): void => {
    const { method, headers, url } = incoming;
    const outgoing = request(target + url, { method, headers }, async (response) => {
      const bytes = await readBody(response, Number.MAX_SAFE_INTEGER);
      answer?.(response.statusCode ?? 500, bytes);
    });
    outgoing.on('error', () => {});
    outgoing.end(body);
  };

  const handAfter = (wait_ms: number, incoming: IncomingMessage, body: Buffer): void => {
    held.push(new Promise((resolve) => setTimeout(() => hand(incoming, body, () => resolve()), wait_ms)));
  };

  const server = await serveHttp(async (incoming, response) => {
    const body = await readBody(incoming, Number.MAX_SAFE_INTEGER);
    const passing = statementOf(incoming, body);
    const fate = passing === undefined ? undefined : proxy.meddle?.(passing);
    const answer = (status: number, bytes: Buffer): void => void response.writeHead(status).end(bytes);
    const isObject = typeof fate === 'object';
    if (fate === 'lost') hand(incoming, body, () => incoming.socket.destroy());
    else if (isObject && 'late' in fate) {
      incoming.socket.destroy();
      handAfter(fate.late, incoming, body);
    } else if (isObject) {
      answer(504, Buffer.from('<html><h1>504 Gateway Time-out</h1></html>'));
      handAfter(fate.gateway, incoming, body);
    } else {
      hand(incoming, body, answer);
      if (fate === 'twice') handAfter(0, incoming, body);
    }
  });
  const proxy: ClickHouseProxy = {
    ...server,
    meddle: undefined,
    settled: async () => void (await Promise.all(held)),
  };
  return proxy;
}

function statementOf({ url }: IncomingMessage, body: Buffer): PassingStatement | undefined {
  const inUrl = new URL(url ?? '/', 'http://clickhouse').searchParams.get('query');
  const sql = inUrl ?? body.toString('latin1', 0, 4_000);
  const [, verb, name = ''] = /(INSERT INTO|DELETE FROM) (\S+)/.exec(sql) ?? [];
  const table = name.split('.').at(-1) ?? '';
  if (verb === undefined || ofMigrations.test(table)) return undefined;
  return { kind: verb === 'INSERT INTO' ? 'insert' : 'delete', table };
}
