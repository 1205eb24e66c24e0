import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { get as httpGet } from 'node:http';
import { connect, type Socket } from 'node:net';
import { credentials, status } from '@grpc/grpc-js';
import { Agent, request } from 'undici';
import { TxServiceClient } from '../../services/common/gen/indexer/tx/v1/tx.js';
import { freePort } from '../../tools/bench/processes.js';
import { type ReplayNode, startReplayNode } from '../../tools/replay/node.js';
import { peakMemory_mb } from '../support/attack/memory.js';
import { eventually } from '../support/block.js';
import { readFacts } from '../support/facts.js';
import { type Program, startProgram } from '../support/program.js';

const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';

/** Pages that are dear to make, each another one. */
const dearest = (n: number): string => {
  const offset = (n * 7_919) % 1_000_003;
  const paths = [
    `/indexer/nft/v1/tokens/by_account/${account}?pagination.limit=1000&pagination.offset=${offset}`,
    `/indexer/tx/v1/txs?pagination.limit=${500 + (n % 500)}&msgs=minievm.evm.v1.MsgCall&pagination.offset=${n % 97}`,
    `/indexer/tx/v1/evm-internal-txs?pagination.limit=${300 + (n % 700)}&pagination.offset=${n % 389}`,
    `/indexer/tx/v1/txs?pagination.limit=${400 + (n % 600)}&pagination.offset=${n % 101}`,
  ];
  return paths[n % paths.length] as string;
};

describe('the program under attack by clients', () => {
  let node: ReplayNode;
  let program: Program;
  let txPort: number;
  before(async () => {
    const { height } = readFacts('evm');
    txPort = await freePort();
    node = await startReplayNode({ recording: 'evm' });
    program = await startProgram(node, {
      HOST: '0.0.0.0',
      SEND_TIMEOUT_MS: '3000',
      UNSENT_MB: '16',
      MAX_CONNECTIONS: '2000',
      TX_GRPC_PORT: String(txPort),
    });
    await eventually(async () => (await program.heights()).height >= height, 'the chain', 60_000);
  });
  after(async () => {
    // The bound of `weft start` under any attack.
    const peak = peakMemory_mb(program.pid());
    assert.equal(await program.stop(), 0);
    await node.close();
    assert.ok(peak < 1_024, `${Math.round(peak)} MiB`);
  });

  it('reads of somebody else stay quick while 1,500 connections ask for the dearest pages', async () => {
    const codes = new Map<number, number>();
    let isOver = false;
    let n = 0;
    const crowd = new Agent({ connections: 1_500, pipelining: 1 });
    const attack = Array.from({ length: 1_500 }, async () => {
      while (!isOver) {
        try {
          const { statusCode, body } = await request(program.url + dearest(n++), { dispatcher: crowd });
          codes.set(statusCode, (codes.get(statusCode) ?? 0) + 1);
          await body.dump({ limit: 1e9 });
        } catch {
          if (!isOver) codes.set(0, (codes.get(0) ?? 0) + 1);
        }
      }
    });
    try {
      await new Promise((resolve) => setTimeout(resolve, 2_000));
      // The best of three: a moment in which the machine serves others says nothing of the program.
      const p90s: number[] = [];
      while (p90s.length < 3 && !p90s.some((p90) => p90 < 1_000)) p90s.push(await p90OfReads(p90s.length));
      assert.ok(Math.min(...p90s) < 1_000, `p90 is ${p90s.map(Math.round).join(', ')} ms`);
    } finally {
      isOver = true;
      await crowd.destroy();
      await Promise.all(attack);
    }
    assert.ok((codes.get(503) ?? 0) > 500, `refused: ${JSON.stringify([...codes])}`);
    assert.ok((codes.get(200) ?? 0) > 20, `answered: ${JSON.stringify([...codes])}`);
  });

  /** Cold reads of another client, one after the other. */
  async function p90OfReads(round: number): Promise<number> {
    const took_ms: number[] = [];
    for (let reads = 0; reads < 30; reads++) {
      const from = performance.now();
      const path = dearest(1_000_000 * (round + 1) + 4 * reads + 3);
      assert.equal(await statusFrom('127.0.0.2', program.url + path), 200);
      took_ms.push(performance.now() - from);
    }
    took_ms.sort((a, b) => a - b);
    return took_ms[Math.floor(took_ms.length * 0.9)] as number;
  }

  it('gRPC calls by the thousand cost neither the memory nor the reads of somebody else', async () => {
    const clients = Array.from(
      { length: 20 },
      () =>
        new TxServiceClient(`127.0.0.1:${txPort}`, credentials.createInsecure(), {
          'grpc.use_local_subchannel_pool': 1,
        }),
    );
    const codes = new Map<status, number>();
    let isOver = false;
    const pagination = { key: '', offset: 0, limit: 1_000, count_total: false, reverse: false };
    const attack = Array.from({ length: 3_000 }, async (_, n) => {
      const client = clients[n % clients.length] as TxServiceClient;
      while (!isOver) {
        const code = await new Promise<status>((resolve) =>
          client.listTxs({ pagination, msgs: [] }, (error) => resolve(error?.code ?? status.OK)),
        );
        codes.set(code, (codes.get(code) ?? 0) + 1);
        // The attack must not keep this process from measuring.
        if (code !== status.OK) await new Promise((resolve) => setTimeout(resolve, 2_000));
      }
    });
    try {
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      const p90s: number[] = [];
      while (p90s.length < 3 && !p90s.some((p90) => p90 < 1_000))
        p90s.push(await p90OfReads(4 + p90s.length));
      assert.ok(Math.min(...p90s) < 1_000, `p90 is ${p90s.map(Math.round).join(', ')} ms`);
    } finally {
      isOver = true;
      for (const client of clients) client.close();
      await Promise.all(attack);
    }
    assert.ok((codes.get(status.RESOURCE_EXHAUSTED) ?? 0) > 500, `refused: ${JSON.stringify([...codes])}`);
  });

  it('requests that are abandoned do not hold up those that come after them', async () => {
    const sockets = Array.from({ length: 300 }, (_, n) => {
      const socket = connect(Number(new URL(program.url).port), '127.0.0.1');
      socket.on('error', () => {});
      socket.on('connect', () => {
        socket.write(`GET ${dearest(2_000_000 + n)} HTTP/1.1\r\nHost: a\r\n\r\n`);
        setTimeout(() => socket.destroy(), 30);
      });
      return new Promise((resolve) => socket.once('close', resolve));
    });
    await Promise.all(sockets);
    const from = performance.now();
    assert.equal(await statusFrom('127.0.0.1', program.url + dearest(3_000_003)), 200);
    assert.ok(performance.now() - from < 6_000, `${Math.round(performance.now() - from)} ms`);
  });

  it('connections that do not read are closed, and hold no more than the bound', async () => {
    const before = peakMemory_mb(program.pid());
    let closed = 0;
    const sockets: Socket[] = Array.from({ length: 60 }, (_, n) => {
      const socket = connect(Number(new URL(program.url).port), '127.0.0.1');
      socket.on('error', () => {});
      socket.on('close', () => {
        closed += 1;
      });
      socket.on('connect', () =>
        socket.write(
          `GET /indexer/tx/v1/txs?pagination.limit=${940 + n}&pagination.offset=0 HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(
            40,
          ),
        ),
      );
      socket.pause();
      return socket;
    });
    // A socket that is not read does not hear that it was closed: writing to it does.
    await eventually(
      async () => {
        for (const socket of sockets) if (!socket.destroyed) socket.write('\r\n');
        return closed >= 50;
      },
      'the connections are closed',
      20_000,
    );
    for (const socket of sockets) socket.destroy();
    assert.ok(peakMemory_mb(program.pid()) - before < 400);
    assert.equal(await statusFrom('127.0.0.1', `${program.url}/status`), 200);
  });

  it('more connections than the bound cost those who hold them, and nobody else', async () => {
    const port = Number(new URL(program.url).port);
    const sockets: Socket[] = [];
    try {
      // Some at a time: of more the kernel keeps what its queue does not hold, and the program never sees them.
      while (sockets.length < 2_200) {
        const some = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => {}));
        sockets.push(...some);
        await Promise.all(some.map((socket) => once(socket, 'connect')));
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      const refused = async (): Promise<number> => {
        const { body } = await request(`${program.ops_url()}/metrics`);
        return Number(/limit="MAX_CONNECTIONS"\} (\d+)/.exec(await body.text())?.[1] ?? 0);
      };
      await eventually(async () => (await refused()) >= 200, 'what is too much is refused', 20_000);
      assert.equal(await statusFrom('127.0.0.2', `${program.url}/status`), 200);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
  });

  const keyOf = (list: string, side: string, ...parts: string[]): string =>
    createHash('sha256').update(list).digest('base64url').slice(0, 8) +
    side +
    parts.map((part) => Buffer.from(part).toString('base64url')).join('.');
  const beyond = '9999999999999999';
  const forged: readonly (readonly [path: string, list: string, parts: string[]])[] = [
    ['/indexer/nft/v1/collections', 'collections', [beyond, 'aa']],
    ['/indexer/nft/v1/collections/by_name/a', 'collections/by_name/a', ['-1', beyond, 'aa']],
    [
      `/indexer/nft/v1/tokens/by_account/${account}`,
      `tokens/by_account/${account.slice(2)}?&token_id&`,
      [beyond, 'a', 'aa'],
    ],
    ['/indexer/tx/v1/txs', 'tx', [beyond]],
    ['/indexer/tx/v1/txs?msgs=minievm.evm.v1.MsgCall', 'tx?msgs=minievm.evm.v1.MsgCall', [beyond]],
    ['/indexer/block/v1/blocks', 'blocks', [beyond]],
  ];
  for (const [path, list, parts] of forged)
    for (const side of ['n', 'p'])
      it(`${path.slice(0, 50)}: a forged key (${side}) with sixteen digits is a 400`, async () => {
        const mark = path.includes('?') ? '&' : '?';
        const { statusCode, body } = await request(
          `${program.url}${path}${mark}pagination.key=${keyOf(list, side, ...parts)}`,
        );
        assert.equal(statusCode, 400, await body.text());
      });

  const heads: readonly (readonly [what: string, head: string, status: number])[] = [
    ['no Host', 'GET /status HTTP/1.1\r\n', 400],
    ['two Hosts', 'GET /status HTTP/1.1\r\nHost: a\r\nHost: b\r\n', 400],
    ['the same Host twice', 'GET /status HTTP/1.1\r\nHost: a\r\nhost: a\r\n', 400],
    ['an expectation', 'GET /status HTTP/1.1\r\nHost: a\r\nExpect: 200-bogus\r\n', 417],
    ['no Host in HTTP/1.0', 'GET /status HTTP/1.0\r\n', 200],
  ];
  for (const [what, head, expected] of heads)
    it(`a request with ${what} is a ${expected} in JSON`, async () => {
      const answer = await new Promise<string>((resolve) => {
        const socket = connect(Number(new URL(program.url).port), '127.0.0.1', () =>
          socket.write(`${head}Connection: close\r\n\r\n`),
        );
        let text = '';
        socket.on('data', (chunk) => {
          text += chunk;
        });
        socket.on('close', () => resolve(text));
      });
      assert.match(answer, new RegExp(`^HTTP/1.1 ${expected} `), answer.slice(0, 200));
      assert.match(answer, /content-type: application\/json/);
      assert.equal(typeof JSON.parse(answer.split('\r\n\r\n')[1] ?? ''), 'object');
    });
});

/** Asks from an address of this machine, on a connection of its own. */
function statusFrom(localAddress: string, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    httpGet(url, { localAddress, agent: false }, (response) => {
      response.resume();
      response.on('end', () => resolve(response.statusCode ?? 0));
      response.on('error', reject);
    }).on('error', reject);
  });
}
