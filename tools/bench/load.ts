import { connect, type Socket } from 'node:net';

/** What one run of requests gave. */
export interface LoadResult {
  readonly requests: number;
  readonly seconds: number;
  readonly per_second: number;
  /** Milliseconds. */
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  /** Answers other than 200. */
  readonly failures: number;
  /** Bytes of an answer's body, on average. */
  readonly bytes: number;
}

export interface LoadOptions {
  readonly host: string;
  readonly port: number;
  readonly connections: number;
  readonly seconds: number;
  /** The path of the next request. */
  readonly nextPath: () => string;
}

/**
 * Sends requests over a number of keep-alive connections, one after the other on each, as
 * fast as they are answered. Written on plain sockets, because an HTTP client of the
 * platform costs more than the server that is measured.
 */
export async function load(options: LoadOptions): Promise<LoadResult> {
  const latencies: number[] = [];
  let [failures, bytes] = [0, 0];
  const started = performance.now();
  const end = started + options.seconds * 1000;
  const run = async (): Promise<void> => {
    const connection = await open(options.host, options.port);
    while (performance.now() < end) {
      const before = performance.now();
      const answer = await connection.get(options.nextPath());
      latencies.push(performance.now() - before);
      bytes += answer.bytes;
      if (answer.status !== 200) failures += 1;
    }
    connection.close();
  };
  await Promise.all(Array.from({ length: options.connections }, run));
  const seconds = (performance.now() - started) / 1000;
  latencies.sort((a, b) => a - b);
  return {
    requests: latencies.length,
    seconds,
    per_second: latencies.length / seconds,
    p50: quantile(latencies, 0.5),
    p99: quantile(latencies, 0.99),
    max: latencies.at(-1) ?? 0,
    failures,
    bytes: latencies.length === 0 ? 0 : bytes / latencies.length,
  };
}

/** A quantile of sorted numbers, by the nearest rank. */
export function quantile(sorted: readonly number[], q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(q * sorted.length) - 1)] ?? 0;
}

interface Answer {
  readonly status: number;
  readonly bytes: number;
}

interface Connection {
  get(path: string): Promise<Answer>;
  close(): void;
}

/** A connection that understands just enough HTTP: a status line and Content-Length. */
async function open(host: string, port: number): Promise<Connection> {
  const socket: Socket = connect({ host, port, noDelay: true });
  await new Promise<void>((resolve, reject) => {
    socket.once('connect', resolve);
    socket.once('error', reject);
  });
  let settle: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
  let head = Buffer.alloc(0);
  let status = 0;
  let [length, received] = [-1, 0];
  const fail = (error: Error): void => {
    settle?.reject(error);
    settle = undefined;
  };
  socket.on('error', fail);
  socket.on('close', () => fail(new Error('the server closed the connection')));
  socket.on('data', (chunk) => {
    if (length < 0) {
      head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
      const bodyAt = head.indexOf('\r\n\r\n');
      if (bodyAt < 0) return;
      const headers = head.toString('latin1', 0, bodyAt);
      status = Number(headers.slice(9, 12));
      const found = /\r\ncontent-length: (\d+)/i.exec(headers);
      if (found === null) return fail(new Error(`no content-length: ${headers}`));
      length = Number(found[1]);
      received = head.length - bodyAt - 4;
      head = Buffer.alloc(0);
    } else {
      received += chunk.length;
    }
    if (received >= length) {
      const answer = { status, bytes: length };
      length = -1;
      settle?.resolve(answer);
      settle = undefined;
    }
  });
  return {
    get: (path) =>
      new Promise((resolve, reject) => {
        settle = { resolve, reject };
        socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}:${port}\r\n\r\n`);
      }),
    close: () => socket.destroy(),
  };
}
