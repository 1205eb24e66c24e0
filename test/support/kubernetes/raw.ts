import { readFileSync } from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import type { ControlPlane } from './control-plane.js';

/** An answer of the API server, its warnings included, which the client library does not show. */
export interface RawAnswer {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: objects of any kind
  readonly body: any;
  readonly warnings: readonly string[];
}

/** Sends a request as an administrator. @param contentType of the body, which is JSON in any case. */
export async function ask(
  plane: ControlPlane,
  method: string,
  path: string,
  body?: unknown,
  contentType = 'application/json',
): Promise<RawAnswer> {
  const token = plane.config().getCurrentUser()?.token as string;
  const ca = readFileSync(plane.caFile);
  return new Promise((resolve, reject) => {
    const sent = request(
      plane.url + path,
      {
        method,
        ca,
        headers: {
          authorization: `Bearer ${token}`,
          accept: 'application/json',
          ...(body === undefined ? {} : { 'content-type': contentType }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({
            status: response.statusCode ?? 0,
            body: text.startsWith('{') ? JSON.parse(text) : text,
            warnings: warningsOf(response.headers),
          });
        });
      },
    );
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
}

/** Node joins headers of one name by commas; each warning is `299 - "text"`. */
function warningsOf(headers: IncomingHttpHeaders): string[] {
  const { warning } = headers as { warning?: string | string[] };
  const text = Array.isArray(warning) ? warning.join(', ') : (warning ?? '');
  return [...text.matchAll(/299 \S+ "((?:[^"\\]|\\.)*)"/g)].map(([, inner = '']) => inner);
}
