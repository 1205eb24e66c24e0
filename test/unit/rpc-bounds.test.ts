import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientHttp2Session, type ClientHttp2Stream, connect } from 'node:http2';
import { status } from '@grpc/grpc-js';
import {
  Block,
  BlockServiceService,
  GetBlockRequest,
  StreamBlocksRequest,
} from '../../services/common/gen/indexer/block/v1/block.js';
import { countLimits, type RpcServer, serveRpc, streaming, unary } from '../../services/common/rpc/server.js';
import { openPlainTransport } from '../../services/common/rpc/transport.js';
import { createLog } from '../../services/common/runtime/log.js';
import { createMetrics, type Metrics } from '../../services/common/runtime/metrics.js';
import { until } from '../support/gateway-client.js';

/** Heights that the handlers take for something else than an honest answer. */
const endless = 3;
const large = 5;

describe('gRPC: bounds of a server', () => {
  let metrics: Metrics;
  let server: RpcServer;
  let sessions: ClientHttp2Session[];
  let underWay = 0;
  let answered = 0;
  const restart = async (extra: Record<string, number>): Promise<void> => {
    await server.close(0);
    server = await start(extra);
  };
  beforeEach(async () => {
    server = await start({});
  });
  const start = (extra: Record<string, number>): Promise<RpcServer> => {
    metrics = createMetrics();
    sessions = [];
    underWay = 0;
    answered = 0;
    const environment = { log: createLog('silent'), metrics };
    const hold = async (signal: AbortSignal): Promise<void> => {
      underWay += 1;
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      underWay -= 1;
    };
    const blocks = {
      getBlock: unary(environment, async ({ height }: { height: number }, { signal }) => {
        if (height === endless) await hold(signal);
        answered += 1;
        const hash = 'h'.repeat(height === large ? 400 * 1024 : 10);
        return { block: { ...Block.decode(new Uint8Array()), height: String(height), hash } };
      }),
      streamBlocks: streaming(
        environment,
        async function* ({ from_height }: { from_height: number }, { signal }) {
          yield { blocks: [], head_height: from_height };
          if (from_height === endless) await hold(signal);
          if (from_height === 2) throw new Error('broken');
        },
      ),
      watchHead: streaming(environment, async function* (_, { signal }) {
        yield { height: 1, trace_height: 1, revision: 0 };
        await hold(signal);
      }),
    };
    const implementation = blocks as never;
    const onLimit = countLimits('block', environment);
    return serveRpc(
      [{ definition: BlockServiceService, implementation, onLimit }],
      ['127.0.0.1:0'],
      openPlainTransport({ GRPC_MAX_STREAMS: 8, GRPC_MAX_CALLS: 6, GRPC_CALLS_AT_ONCE: 2, ...extra }),
    );
  };
  afterEach(async () => {
    for (const session of sessions) session.destroy();
    await server.close(0);
  });

  /** A connection from an address of this machine. */
  const from = (localAddress: string): ClientHttp2Session => {
    const session = connect(`http://${server.address}`, { localAddress, family: 4 } as never);
    sessions.push(session);
    return session;
  };

  interface RawCall {
    readonly stream: ClientHttp2Stream;
    /** The code of its status; undefined while it goes on. */
    code: number | undefined;
  }

  /** Begins a call; its answer is read only on demand. */
  const begin = (
    session: ClientHttp2Session,
    method: string,
    message: Uint8Array,
    service = 'indexer.block.v1.BlockService',
  ): RawCall => {
    const stream = session.request({
      ':method': 'POST',
      ':path': `/${service}/${method}`,
      'content-type': 'application/grpc',
      te: 'trailers',
    });
    const call: RawCall = { stream, code: undefined };
    const note = (headers: Record<string, unknown>): void => {
      if (headers['grpc-status'] !== undefined) call.code = Number(headers['grpc-status']);
    };
    stream
      .on('response', note)
      .on('trailers', note)
      .on('error', () => {});
    const frame = Buffer.alloc(5);
    frame.writeUInt32BE(message.length, 1);
    stream.end(Buffer.concat([frame, message]));
    return call;
  };
  const get = (session: ClientHttp2Session, height: number): RawCall =>
    begin(session, 'GetBlock', GetBlockRequest.encode({ height }).finish());
  const follow = (session: ClientHttp2Session, from_height: number): RawCall =>
    begin(session, 'StreamBlocks', StreamBlocksRequest.encode({ from_height, parent_hash: '' }).finish());
  const watch = (session: ClientHttp2Session): RawCall => begin(session, 'WatchHead', new Uint8Array());

  const several = <T>(count: number, make: () => T): T[] => Array.from({ length: count }, make);
  /** Calls for large answers that nobody reads: as many as are worked on at once hold up all others. */
  const holdUp = async (session: ClientHttp2Session, count = 2): Promise<RawCall[]> => {
    const slow = several(count, () => get(session, large));
    await until(() => answered === 2);
    return slow;
  };
  /** As many calls as one address may have. */
  const watchAll = async (session: ClientHttp2Session): Promise<void> => {
    several(6, () => watch(session));
    await until(() => underWay === 6);
  };

  const codeOf = async (call: RawCall): Promise<number | undefined> => {
    call.stream.resume();
    if (!call.stream.closed) await once(call.stream, 'close');
    return call.code;
  };
  const refusals = async (limit: string): Promise<number> => {
    const line = new RegExp(`weft_limit_reached_total\\{service="block",limit="${limit}"\\} (\\d+)`);
    return Number(line.exec(await metrics.registry.metrics())?.[1] ?? 0);
  };

  it('calls in progress: one address keeps nobody else out, and those that watch count', async () => {
    const greedy = from('127.0.0.1');
    const running = [...several(3, () => get(greedy, endless)), ...several(3, () => watch(greedy))];
    // One of them waits for its turn.
    await until(() => underWay === 5);
    assert.equal(await codeOf(get(greedy, 1)), status.RESOURCE_EXHAUSTED);
    assert.equal(await codeOf(watch(greedy)), status.RESOURCE_EXHAUSTED);
    assert.equal(await codeOf(get(from('127.0.0.2'), 1)), status.OK);
    assert.equal(await refusals('GRPC_MAX_CALLS'), 2);
    // Streams of data are counted by themselves.
    const stream = follow(greedy, 1);
    assert.equal(await codeOf(stream), status.OK);

    for (const call of running) call.stream.close();
    await until(() => underWay === 0);
    for (let count = 0; count < 20; count++) assert.equal(await codeOf(get(greedy, 1)), status.OK);
  });

  it('calls whose request never comes count, and end with their connection', async () => {
    const greedy = from('127.0.0.1');
    const path = '/indexer.block.v1.BlockService/GetBlock';
    const headers = { ':method': 'POST', ':path': path, 'content-type': 'application/grpc' };
    several(6, () => greedy.request(headers).on('error', () => {}));
    const second = from('127.0.0.1');
    await until(async () => (await codeOf(get(second, 1))) === status.RESOURCE_EXHAUSTED);
    greedy.destroy();
    await until(async () => (await codeOf(get(second, 1))) === status.OK);
  });

  it('answers that are not read hold up their own address, and nobody else', async () => {
    const session = from('127.0.0.1');
    const slow = await holdUp(session, 6);
    // Somebody who reads gets theirs, also from the same address once there is room.
    assert.equal(await codeOf(get(from('127.0.0.2'), large)), status.OK);
    assert.equal(answered, 3);
    assert.deepEqual(await Promise.all(slow.map(codeOf)), Array(6).fill(status.OK));
  });

  it('calls whose callers leave while they wait are not worked on', async () => {
    const session = from('127.0.0.1');
    const slow = await holdUp(session);
    const waiting = several(3, () => get(session, 1));
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const { stream } of waiting) stream.close();
    await Promise.all(waiting.map(({ stream }) => once(stream, 'close')));
    assert.deepEqual(await Promise.all(slow.map(codeOf)), [status.OK, status.OK]);
    assert.equal(await codeOf(get(session, 1)), status.OK);
    assert.equal(answered, 3);
  });

  it('calls that were cancelled while they wait count until their requests are gone', async () => {
    const session = from('127.0.0.1');
    const slow = await holdUp(session);
    const codes: (number | undefined)[] = [];
    for (let count = 0; count < 30; count++) {
      const call = get(session, 1);
      const closed = once(call.stream, 'close');
      // One that is refused is so at once, on a machine that has other work in a moment; one that waits waits for long.
      await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, 250))]);
      call.stream.close();
      await closed;
      codes.push(call.code);
    }
    assert.ok(codes.filter((code) => code === status.RESOURCE_EXHAUSTED).length >= 20, codes.join());
    await Promise.all(slow.map(codeOf));
    await until(async () => (await codeOf(get(session, 1))) === status.OK);
  });

  it('many addresses that do not read keep nobody else out', async () => {
    await restart({ GRPC_MAX_CALLS: 60 });
    for (const host of [2, 3, 4, 5])
      for (let count = 0; count < 2; count++) get(from(`127.0.0.${host}`), large);
    await until(() => answered === 8);
    assert.equal(await codeOf(get(from('127.0.0.9'), 1)), status.OK);
  });

  it('a caller who does not read an answer is left after a time', async () => {
    await restart({ GRPC_SEND_TIMEOUT_MS: 300 });
    const session = from('127.0.0.1');
    const slow = await holdUp(session);
    // The second of them may be left a moment after the first, whose turn this call takes.
    assert.equal(await codeOf(get(session, 1)), status.OK);
    await until(async () => (await refusals('GRPC_SEND_TIMEOUT_MS')) === 2);
    for (const call of slow) assert.notEqual(await codeOf(call), status.OK);
  });

  it('health is told under load', async () => {
    const session = from('127.0.0.1');
    await watchAll(session);
    assert.equal(await codeOf(begin(session, 'Check', new Uint8Array(), 'grpc.health.v1.Health')), status.OK);
  });

  it('streams of data: one address has half of them, and the others their share', async () => {
    const session = from('127.0.0.1');
    const running = several(4, () => follow(session, endless));
    await until(() => underWay === 4);
    assert.equal(await codeOf(follow(session, 1)), status.RESOURCE_EXHAUSTED);
    assert.equal(await refusals('GRPC_MAX_STREAMS'), 1);
    assert.equal(await codeOf(follow(from('127.0.0.2'), 1)), status.OK);
    running[0]?.stream.close();
    await until(() => underWay === 3);
    assert.equal(await codeOf(follow(session, 1)), status.OK);
  });

  it('streams that ended or failed count no more', async () => {
    const session = from('127.0.0.1');
    for (let count = 0; count < 15; count++) {
      assert.equal(await codeOf(follow(session, 1)), status.OK);
      assert.equal(await codeOf(follow(session, 2)), status.INTERNAL);
    }
  });

  it('calls that are refused leave nothing behind', async () => {
    const session = from('127.0.0.1');
    await watchAll(session);
    for (let count = 0; count < 200; count++)
      assert.equal(await codeOf(get(session, 1)), status.RESOURCE_EXHAUSTED);
    assert.ok(!session.closed);
  });
});
