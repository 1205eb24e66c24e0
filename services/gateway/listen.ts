import { createServer, type Server, STATUS_CODES } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { status } from '@grpc/grpc-js';
import { cannotListen, hostPort } from '../common/runtime/network.js';
import type { App } from './app.js';
import { type Problem, problemBody } from './errors.js';
import { boundConnections } from './http/admission.js';
import { maxTarget_bytes, uriTooLong } from './router.js';

/** Bytes of headers that a request may have, besides its target. */
const maxHeaders_bytes = 32 * 1024;

/** A listening HTTP server. */
export interface HttpServer {
  readonly port: number;
  /** Serves on, and asks every client with its next answer to come over another connection. */
  drain(): void;
  /** Accepts nothing more, lets running requests finish for up to `grace_ms`, then ends them. */
  close(grace_ms: number): Promise<void>;
}

export interface ListenOptions {
  readonly max_connections: number;
  /** Called with each connection that is closed because there are too many. */
  readonly onFull: () => void;
}

/**
 * Listens for the app.
 *
 * @param port 0 for any free one.
 */
export async function listen(
  app: App,
  host: string,
  port: number,
  { max_connections, onFull }: ListenOptions,
): Promise<HttpServer> {
  const server = createServer(
    {
      maxHeaderSize: maxTarget_bytes + maxHeaders_bytes,
      headersTimeout: 15_000,
      requestTimeout: 30_000,
      // Longer than the idle time of usual load balancers, so that they never send into a closing connection.
      keepAliveTimeout: 75_000,
      // Node would answer a request without one that is not JSON.
      requireHostHeader: false,
    },
    app.listener,
  );
  const connections = boundConnections(server, max_connections, onFull);
  // Node would answer it without a body.
  server.on('checkExpectation', app.listener);
  let isDraining = false;
  // Before the app answers: a proxy must not send into a connection that is about to end.
  server.prependListener('request', (_, response) => {
    if (isDraining) response.shouldKeepAlive = false;
  });
  server.on('clientError', (error: ClientError, socket: Socket) => refuse(error, socket));
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => reject(cannotListen(error, hostPort(host, port))));
    server.listen(port, host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    drain: () => {
      isDraining = true;
    },
    close: (grace_ms) => {
      const closed = close(server, app, grace_ms);
      connections.closeUnused();
      return closed;
    },
  };
}

async function close(server: Server, app: App, grace_ms: number): Promise<void> {
  app.close();
  // Idle connections end here; the others end with their answers.
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const timer = setTimeout(() => server.closeAllConnections(), grace_ms);
  await closed;
  clearTimeout(timer);
}

interface ClientError extends Error {
  readonly code?: string;
  readonly rawPacket?: Buffer;
}

/** Answers what is no HTTP request, in the form of every other problem, and ends the connection. */
function refuse(error: ClientError, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const problem = problemOfClientError(error);
  const body = problemBody(problem);
  socket.end(
    [
      `HTTP/1.1 ${problem.http} ${STATUS_CODES[problem.http]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${body.length}`,
      'cache-control: no-store',
      'connection: close',
      '',
      body.toString(),
    ].join('\r\n'),
  );
}

function problemOfClientError(error: ClientError): Problem {
  const code = status.INVALID_ARGUMENT;
  if (error.code === 'HPE_HEADER_OVERFLOW') {
    const end = error.rawPacket?.indexOf('\r\n') ?? 0;
    const isTarget = /^[A-Z]+ /.test(error.rawPacket?.toString('latin1', 0, 16) ?? '');
    if (isTarget && (end < 0 || end > maxTarget_bytes)) return uriTooLong().problem;
    return { http: 431, code, message: `the headers are longer than ${maxHeaders_bytes} bytes` };
  }
  if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return { http: 408, code: status.DEADLINE_EXCEEDED, message: 'the request did not arrive in time' };
  }
  return { http: 400, code, message: 'this is not an HTTP request that can be read' };
}
