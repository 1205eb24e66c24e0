import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import type { Database } from '../../../services/common/clickhouse/database.js';

/** A ClickHouse server's HTTP interface as far as weft's client uses it. */
export interface ClickHouseServer {
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Serves the embedded engine over HTTP, so that several processes share its tables, as they share a server in a cluster.
 */
export async function serveClickHouse(database: Database): Promise<ClickHouseServer> {
  const server = createServer((request, response) => {
    const work = async (): Promise<Buffer | string> => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const sent = Buffer.concat(chunks);
      const body = (request.headers['content-encoding'] === 'gzip' ? gunzipSync(sent) : sent).toString(
        'utf8',
      );
      const { searchParams } = new URL(request.url ?? '/', 'http://clickhouse');
      const params = Object.fromEntries(
        [...searchParams].flatMap(([name, value]) =>
          name.startsWith('param_') ? [[name.slice('param_'.length), value]] : [],
        ),
      );
      const query = searchParams.get('query');
      const options = { name: 'test.http' };
      const insert = /^INSERT INTO (.+) FORMAT (\w+)\s*$/.exec(query ?? '');
      if (insert !== null) {
        await database.insert(insert[1] as string, body, options, insert[2] as 'JSONEachRow');
        return '';
      }
      const sql = query ?? body;
      const select = /^([\s\S]*)\sFORMAT (\w+)\s*$/.exec(sql);
      if (select !== null) return database.bytes(select[1] as string, select[2] as string, params, options);
      await database.command(sql, params, options);
      return '';
    };
    work().then(
      (answer) => response.writeHead(200).end(answer),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
