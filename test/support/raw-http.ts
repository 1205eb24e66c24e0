import { connect } from 'node:net';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';

/** An answer as it came over the wire. */
export interface RawAnswer {
  readonly status: number;
  /** Names in lower case; of a repeated one, values joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  /** As it was sent, maybe compressed. */
  readonly body: Buffer;
}

/** The body without its content coding. */
export function plainBody({ headers, body }: RawAnswer): Buffer {
  const coding = headers['content-encoding'];
  if (body.length === 0 || coding === undefined) return body;
  if (coding === 'gzip') return gunzipSync(body);
  if (coding === 'br') return brotliDecompressSync(body);
  throw new Error(`unknown content-encoding ${coding}`);
}

/** What is sent, byte for byte: fetch() would mend targets and headers first. */
export interface RawRequest {
  readonly method?: string;
  /** The target with its bytes as latin1. */
  readonly target: string;
  readonly headers?: readonly (readonly [name: string, value: string])[];
}

/** Sends one request on a connection of its own; fails when there is no whole answer. */
export function sendRaw(url: string, request: RawRequest): Promise<RawAnswer> {
  const { hostname, port } = new URL(url);
  const { method = 'GET', target, headers = [] } = request;
  const lines = [
    `${method} ${target} HTTP/1.1`,
    `host: ${hostname}:${port}`,
    'connection: close',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ];
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const what = `${method} ${target.slice(0, 200)}`;
    const socket = connect(Number(port), hostname, () => socket.write(lines.join('\r\n'), 'latin1'));
    socket.setTimeout(15_000, () => socket.destroy(new Error(`${what}: no answer`)));
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server that refuses may reset the connection after its answer: what came before counts.
    socket.on('error', (error) => (chunks.length > 0 ? undefined : reject(error)));
    socket.on('close', () => {
      try {
        resolve(parseAnswer(Buffer.concat(chunks), method));
      } catch (error) {
        reject(new Error(`${what}: ${error}`));
      }
    });
  });
}

function parseAnswer(bytes: Buffer, method: string): RawAnswer {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) throw new Error(`no whole answer in ${bytes.length} bytes`);
  const [first = '', ...lines] = bytes.toString('latin1', 0, end).split('\r\n');
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(first)?.[1]);
  if (Number.isNaN(status)) throw new Error(`not HTTP: ${first}`);
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  const body = bytes.subarray(end + 4);
  const length = headers['content-length'];
  const hasNone = method === 'HEAD' || status === 204 || status === 304;
  if (hasNone ? body.length > 0 : String(body.length) !== length)
    throw new Error(`${body.length} bytes of body, content-length ${length}`);
  return { status, headers, body };
}
