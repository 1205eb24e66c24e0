import assert from 'node:assert/strict';
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { startBeforeEach } from '../support/suite.js';

interface Message {
  id: number;
  result?: { query?: string; data?: { type: string; value: Value }; events?: Record<string, string[]> };
  error?: { data: string };
}
interface Value {
  header?: { height: string };
  block?: { header: { height: string; chain_id: string }; data: { txs: string[] } };
  block_id?: { hash: string };
  result_finalize_block?: { tx_results: unknown[] | null };
}

/** A connection whose messages can be awaited one by one. */
async function connect(
  node: ReplayNode,
): Promise<{ socket: WebSocket; send(v: unknown): void; next(): Promise<Message> }> {
  const socket = new WebSocket(`${node.rpc_url.replace('http', 'ws')}/websocket`);
  const inbox: Message[] = [];
  const waiting: ((m: Message) => void)[] = [];
  socket.on('message', (data) => {
    const message = JSON.parse(String(data)) as Message;
    const waiter = waiting.shift();
    if (waiter) waiter(message);
    else inbox.push(message);
  });
  await once(socket, 'open');
  return {
    socket,
    send: (value) => socket.send(JSON.stringify(value)),
    next: () => {
      const message = inbox.shift();
      return message ? Promise.resolve(message) : new Promise((resolve) => waiting.push(resolve));
    },
  };
}

const request = (id: number, method: string, query?: string) => {
  const params = query ? { query } : {};
  return { jsonrpc: '2.0', id, method, params };
};

describe('replay node: events over the websocket', () => {
  const node = startBeforeEach(
    () => startReplayNode({ recording: 'evm', tip: 24 }),
    (node) => node.close(),
  );

  it('announce each new block, with the id of the subscription', async () => {
    const { send, next } = await connect(node);
    send(request(5, 'subscribe', "tm.event='NewBlock'"));
    assert.deepEqual(await next(), { jsonrpc: '2.0', id: 5, result: {} });
    node.advance(2);
    for (const height of ['25', '26']) {
      const { id, result } = await next();
      assert.equal(id, 5);
      assert.equal(result!.query, "tm.event='NewBlock'");
      assert.deepEqual(result!.events, { 'tm.event': ['NewBlock'] });
      assert.equal(result!.data!.type, 'tendermint/event/NewBlock');
      const { block, block_id, result_finalize_block } = result!.data!.value;
      assert.equal(block!.header.height, height);
      assert.equal(block_id!.hash, node.chain.hash(Number(height)));
      assert.equal(result_finalize_block!.tx_results?.length ?? 0, block!.data.txs.length);
    }
  });

  it('announce headers, refuse a query that is none, unsubscribe, and answer other methods', async () => {
    const { send, next } = await connect(node);
    send(request(1, 'subscribe', "tm.event = 'NewBlockHeader'"));
    assert.equal((await next()).id, 1);
    send(request(2, 'subscribe', "tm.event = 'NewBlockHeader'"));
    assert.match((await next()).error!.data, /already subscribed/);
    send(request(3, 'subscribe', 'no query'));
    assert.match((await next()).error!.data, /failed to parse query/);
    node.advance();
    assert.equal((await next()).result!.data!.value.header!.height, '25');
    send(request(4, 'unsubscribe', "tm.event = 'NewBlockHeader'"));
    assert.deepEqual((await next()).result, {});
    assert.equal(node.subscribers(), 0);
    node.advance();
    send(request(6, 'health'));
    assert.deepEqual(await next(), { jsonrpc: '2.0', id: 6, result: {} }, 'no event came in between');
    send('not json at all');
    assert.ok((await next()).error);
  });

  it('answer pings', async () => {
    const { socket } = await connect(node);
    const pong = once(socket, 'pong');
    socket.ping('x');
    assert.equal(String((await pong)[0]), 'x');
  });

  it('announce the blocks of a fork from its height on', async () => {
    const { send, next } = await connect(node);
    send(request(5, 'subscribe', "tm.event='NewBlock'"));
    await next();
    node.fork(23);
    for (const height of [23, 24]) {
      const { value } = (await next()).result!.data!;
      assert.equal(value.block!.header.height, String(height));
      assert.equal(value.block_id!.hash, node.chain.hash(height));
    }
  });

  it('can be switched off: connections drop, new ones are refused or closed', async () => {
    const { socket } = await connect(node);
    const dropped = once(socket, 'close');
    node.faults({ websocket: 'refused' });
    await dropped;
    await assert.rejects(connect(node), /503/);
    node.faults({ websocket: 'closed' });
    const again = new WebSocket(`${node.rpc_url.replace('http', 'ws')}/websocket`);
    const [code] = (await once(again, 'close')) as [number];
    assert.equal(code, 1011);
    node.faults({});
    const { send, next } = await connect(node);
    send(request(1, 'subscribe', "tm.event='NewBlock'"));
    assert.deepEqual((await next()).result, {});
  });
});
