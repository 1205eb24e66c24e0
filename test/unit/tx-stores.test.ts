import assert from 'node:assert/strict';
import { createEndpoints, type Endpoints } from '../../services/common/chain/endpoints.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics } from '../../services/common/runtime/metrics.js';
import { askEarlierFirst, resolveStoresFrom } from '../../services/tx/ingest/stores.js';
import { type HttpServer, serveHttp } from '../support/http-server.js';

const key = (digit: string): string => digit.repeat(64);

/** An answer as nodes of Move rollups give it. */
const resource = (owner: string): string =>
  JSON.stringify({
    resource: {
      struct_tag: '0x1::object::ObjectCore',
      move_resource: JSON.stringify({ type: '0x1::object::ObjectCore', data: { owner, version: '1' } }),
    },
  });

describe('owners of stores that are older than the index', () => {
  let server: HttpServer;
  let rest: Endpoints;
  const asked: string[] = [];
  let dropped = 0;
  before(async () => {
    server = await serveHttp((request, response) => {
      const store = /accounts\/0x([0-9a-f]+)\//.exec(request.url ?? '')?.[1] ?? '';
      asked.push(store);
      assert.ok(request.url?.endsWith('struct_tag=0x1%3A%3Aobject%3A%3AObjectCore'));
      if (store === key('a')) response.end(resource('0x63ba4467782e48e160747fe9f72a237ce47d3f8e'));
      else if (store === key('b')) response.end(resource('0x1'));
      else if (store === key('c') && dropped++ < 9) request.socket.destroy();
      else if (store === key('c')) response.end(resource(`0x${key('f')}`));
      else response.writeHead(500).end('{"code":2, "message":"failed to get resource", "details":[]}');
    });
    const options = { log: createLog('silent'), metrics: createMetrics(), timeout_ms: 1_000, connections: 4 };
    rest = createEndpoints('rest', [server.url], options);
  });
  after(async () => {
    await rest.close();
    await server.close();
  });

  it('are what the node says, asked again until it answers; unknown where it has no such object', async () => {
    const resolve = resolveStoresFrom(rest, new AbortController().signal);
    const owners = await resolve(['a', 'b', 'c', 'd'].map(key));
    assert.deepEqual(Object.fromEntries([...owners].sort()), {
      [key('a')]: '63ba4467782e48e160747fe9f72a237ce47d3f8e',
      [key('b')]: '1'.padStart(40, '0'),
      [key('c')]: key('f'),
    });
    assert.ok(dropped >= 9);
  });

  it('are what the tables in use know while others are rebuilt, also where the node is gone', async () => {
    const asked_node: string[] = [];
    const node = async (stores: readonly string[]) => {
      asked_node.push(...stores);
      return new Map<string, string>();
    };
    const inUse = async () => new Map([[key('a'), key('1')]]);
    const rebuilding = askEarlierFirst(() => inUse, node);
    assert.deepEqual([...(await rebuilding([key('a'), key('b')]))], [[key('a'), key('1')]]);
    assert.deepEqual(asked_node, [key('b')]);
    assert.deepEqual([...(await askEarlierFirst(() => inUse)([key('a')]))], [[key('a'), key('1')]]);
    assert.equal((await askEarlierFirst(() => undefined, node)([key('a')])).size, 0);
  });

  it('are given up at the signal', async () => {
    const controller = new AbortController();
    controller.abort();
    asked.length = 0;
    assert.equal((await resolveStoresFrom(rest, controller.signal)([key('a')])).size, 0);
    assert.deepEqual(asked, []);
  });
});
