import { unlink, writeFile } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { codeOf, type Database } from '../../services/common/clickhouse/database.js';
import { quoted } from '../../services/common/clickhouse/literals.js';
import { readBody } from '../../services/common/util/bounded-input.js';
import { temporaryFolder } from './folder.js';
import { type HttpServer, serveHttp } from './http-server.js';

/** A ClickHouse server's HTTP interface as far as weft's client uses it. */
export interface ClickHouseServer extends HttpServer {
  /** Length of the longest URL that was asked for. */
  readonly longest: () => number;
}

/** What a server takes unless its http_max_uri_size says something else, in bytes. */
const longestUrl = 1_048_576;

/** The same of a parameter, in the URL or in the body (http_max_field_value_size), in bytes. */
const longestField = 131_072;

/** What one request wants. */
interface Statement {
  /** With the values of its parameters, as a server puts them in. */
  readonly sql: string;
  /** Rows of an insert, as they were sent. */
  readonly data: Buffer | undefined;
  readonly deadline: number | undefined;
}

/**
 * Serves the embedded engine over HTTP, so that several processes share its tables, as they share a server in a cluster.
 * Rows go from the body to a file and from there into the table: no byte of them is looked at.
 */
export async function serveClickHouse(database: Database): Promise<ClickHouseServer> {
  const folder = temporaryFolder('clickhouse');
  let [files, longest] = [0, 0];

  const insert = async ({ sql, deadline }: Statement, data: Buffer): Promise<void> => {
    const options = { name: 'test.http', deadline };
    const [, statement = '', format = ''] = /^([\s\S]*)\sFORMAT (\w+)\s*$/.exec(sql) ?? [];
    const plain = /^INSERT INTO (.+)$/.exec(statement);
    const selects = statement.includes(' FROM input(');
    if (plain !== null && !selects) {
      const rows = format === 'RowBinary' ? data : data.toString('utf8');
      await database.insert(plain[1] as string, rows, options);
      return;
    }
    const file = join(folder, String(files++));
    try {
      await writeFile(file, data);
      const from = ` FROM file(${quoted(file)}, '${format}', `;
      await database.command(
        statement.replace(' FROM input(', () => from),
        {},
        options,
      );
    } finally {
      await unlink(file);
    }
  };

  const answer = async (statement: Statement): Promise<Buffer | string> => {
    const { sql, data, deadline } = statement;
    const options = { name: 'test.http', deadline };
    if (data !== undefined) {
      await insert(statement, data);
      return '';
    }
    const select = /^([\s\S]*)\sFORMAT (\w+)\s*$/.exec(sql);
    if (select !== null) return database.bytes(select[1] as string, select[2] as string, {}, options);
    await database.command(sql, {}, options);
    return '';
  };

  const server = await serveHttp(
    (request, response) => {
      const length = request.url?.length ?? 0;
      longest = Math.max(longest, length);
      if (length > longestUrl) {
        request.resume();
        response.writeHead(400, { 'x-clickhouse-exception-code': '1000' });
        response.end('Code: 1000. DB::Exception: HTTP URI is too long');
        return;
      }
      readStatement(request)
        .then(answer)
        .then(
          (bytes) => response.writeHead(200).end(bytes),
          (error: unknown) => {
            const code = codeOf(error) ?? codeOf((error as { cause?: unknown }).cause);
            if (code !== undefined) response.setHeader('x-clickhouse-exception-code', String(code));
            response.writeHead(500).end(`Code: ${code}. DB::Exception: ${(error as Error).message}`);
          },
        );
    },
    0,
    { maxHeaderSize: 4 * longestUrl },
  );
  return { ...server, longest: () => longest };
}

async function readStatement(request: IncomingMessage): Promise<Statement> {
  const sent = await readBody(request, Number.MAX_SAFE_INTEGER);
  const body = request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent;
  const { searchParams } = new URL(request.url ?? '/', 'http://clickhouse');
  const type = request.headers['content-type'] ?? '';
  const form: [string, string][] = type.startsWith('multipart/form-data')
    ? [...(await new Response(body, { headers: { 'content-type': type } }).formData())].map(
        ([name, value]) => [name, String(value)],
      )
    : [];
  const fields = [...searchParams, ...form];
  for (const [name, value] of fields)
    if (name.startsWith('param_') && Buffer.byteLength(value) > longestField)
      throw new Error(`HTML Form Exception: Field value too long: ${name}`);
  const query = fields.find(([name]) => name === 'query')?.[1];
  const seconds = Number(searchParams.get('max_execution_time') ?? 0);
  const params = new Map(fields.map(([name, value]) => [name, value]));
  return {
    sql: (query ?? body.toString('utf8')).replace(
      /\{(\w+): *([A-Z][\w(), ]*)\}/g,
      (placeholder, name: string, type: string) => {
        const value = params.get(`param_${name}`);
        if (value === undefined) return placeholder;
        const text = quoted(unescaped(value));
        return type === 'String' ? text : `CAST(${text}, '${type}')`;
      },
    ),
    data: query !== undefined && form.length === 0 ? body : undefined,
    deadline: seconds > 0 ? Date.now() + seconds * 1_000 : undefined,
  };
}

/** A parameter as it was before the client escaped it. */
const unescaped = (text: string): string =>
  text.replaceAll(/\\(.)/g, (_, letter: string) => ({ t: '\t', n: '\n', r: '\r' })[letter] ?? letter);
