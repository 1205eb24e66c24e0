import type { IncomingMessage, ServerResponse } from 'node:http';
import { parseArgs } from 'node:util';
import { isMainModule } from '../../../services/common/runtime/paths.js';
import { readBody } from '../../../services/common/util/bounded-input.js';
import { startReplayNode } from '../../../tools/replay/node.js';
import { serveHttp } from '../http-server.js';

/** What a node does to whoever indexes it; nothing where a member is absent. */
export interface Attack {
  /** Heights from the first to the last, both included, that the first three are about. Default: all. */
  readonly heights?: readonly [number, number];
  /** Every tx result has an event with a value of so many bytes. */
  readonly events?: number;
  /** The first tx that succeeded at the first height mints so many tokens of `hostileCollection`. */
  readonly mints?: number;
  /** The first trace of a block has so many calls, each with an input of so many bytes. */
  readonly trace?: { readonly calls: number; readonly input: number };
  /** tokenURI() and name() return a text of so many bytes. */
  readonly uri?: number;
  readonly name?: number;
  /** Requests whose path or body contains this get a byte now and then, for ever. */
  readonly drip?: string;
  /** Requests whose path or body contains this get bytes as fast as they take them, for ever. */
  readonly flood?: string;
  /** Requests whose path or body contains this get a JSON text of 120 MB that is nothing but empty objects. */
  readonly dense?: string;
  /** Requests whose path or body contains this get a JSON text of 1.2 MB that is one array within the other. */
  readonly deep?: string;
  /** What is said of blocks, by their heights. */
  readonly lies?: Readonly<Record<number, keyof typeof lies>>;
}

// biome-ignore lint/suspicious/noExplicitAny: whatever the node says is passed on
type Result = any;

/** What a node may say of a block that is not so: of /block, of /block_results, or its receipts. */
export const lies = {
  'a tx that claims its length': {
    block: ({ block }: Result) => (block.data.txs = [{ length: 300_000_000 }]),
  },
  'a tx that is no base64': { block: ({ block }: Result) => (block.data.txs = ['!!!']) },
  'a hash of megabytes': { block: ({ block_id }: Result) => (block_id.hash = 'AB'.repeat(1_000_000)) },
  'no hash': { block: ({ block_id }: Result) => (block_id.hash = '') },
  'a parent hash of megabytes': {
    block: ({ block }: Result) => (block.header.last_block_id.hash = 'AB'.repeat(1_000_000)),
  },
  'another parent': { block: ({ block }: Result) => (block.header.last_block_id.hash = 'AB'.repeat(32)) },
  'a proposer of megabytes': {
    block: ({ block }: Result) => (block.header.proposer_address = 'AB'.repeat(1_000_000)),
  },
  'a time that is none': { block: ({ block }: Result) => (block.header.time = 'garbage') },
  'the year 9999': { block: ({ block }: Result) => (block.header.time = '9999-12-31T23:59:59Z') },
  'the year 1': { block: ({ block }: Result) => (block.header.time = '0001-01-01T00:00:00Z') },
  'gas of millions of digits': {
    results: (result: Result) =>
      (result.txs_results = result.txs_results?.map((one: object) => ({
        ...one,
        ...{ gas_used: '9'.repeat(5_000_000), gas_wanted: '9'.repeat(5_000_000) },
      }))),
  },
  'results that are null': {
    results: (result: Result) => (result.txs_results = result.txs_results?.map(() => null)),
  },
  'no results': { results: (result: Result) => (result.txs_results = null) },
  'events that are no list': { results: (result: Result) => (result.finalize_block_events = 'none') },
  'no receipts': { receipts: () => [] },
};

function lie(told: Attack['lies'], asked: string, question: Question | undefined, one: RpcAnswer): void {
  const isReceipts = asked.includes('eth_getBlockReceipts');
  const { result } = one;
  const height = Number(
    isReceipts ? question?.params?.[0] : (result?.block?.header?.height ?? result?.height),
  );
  const name = told?.[height];
  if (name === undefined) return;
  const { block, results, receipts } = lies[name] as Record<string, (result: Result) => unknown>;
  if (isReceipts) one.result = receipts === undefined ? result : receipts(result);
  else if (result?.block !== undefined) block?.(result);
  else if (asked.includes('block_results')) results?.(result);
}

/** The contract whose tokens are minted. */
export const hostileCollection = '0xcf7ed3acca5a467e9e704c703e8d87f634fb0fc9';

/** A node behind a proxy that plays what a hostile contract or tx could have produced, or a broken node. */
export interface HostileNode {
  readonly rpc_url: string;
  readonly rest_url: string;
  readonly json_rpc_url: string;
  /** Begins an attack; with {} it ends. */
  attack(next: Attack): void;
  /** How many requests there were. */
  requests(): number;
  close(): Promise<void>;
}

interface Upstream {
  readonly rpc_url: string;
  readonly rest_url: string;
  readonly json_rpc_url: string;
}

/** Starts the proxy in front of a node. @param port 0 for any. */
export async function startHostileNode(
  upstream: Upstream,
  first: Attack = {},
  port = 0,
): Promise<HostileNode> {
  let [attack, requests] = [first, 0];
  const { url, close } = await serveHttp((request, response) => {
    requests += 1;
    answer(upstream, attack, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(502);
      response.end(String(error));
    });
  }, port);
  return {
    rpc_url: `${url}/rpc`,
    rest_url: `${url}/rest`,
    json_rpc_url: `${url}/evm`,
    attack: (next) => {
      attack = next;
    },
    requests: () => requests,
    close,
  };
}

async function answer(
  upstream: Upstream,
  attack: Attack,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = (await readBody(request, 64 * 1024 * 1024)).toString();
  const [, api = '', path = ''] = /^\/(rpc|rest|evm)(.*)$/.exec(request.url ?? '') ?? [];
  const asked = `${path} ${body}`;
  if (attack.drip !== undefined && asked.includes(attack.drip)) return drip(response);
  if (attack.flood !== undefined && asked.includes(attack.flood)) return flood(response);
  if (attack.dense !== undefined && asked.includes(attack.dense)) return dense(response);
  if (attack.deep !== undefined && asked.includes(attack.deep)) return deep(response);
  const base = { rpc: upstream.rpc_url, rest: upstream.rest_url, evm: upstream.json_rpc_url }[api] ?? '';
  const answered = await fetch(base + path, {
    method: request.method ?? 'GET',
    headers: { 'content-type': 'application/json', ...heightOf(request) },
    ...(request.method === 'POST' ? { body } : {}),
  });
  const text = await answered.text();
  response.writeHead(answered.status, { 'content-type': 'application/json' });
  await write(response, rewrite(attack, asked, text));
}

/** The header by which REST is asked about a height. */
function heightOf({ headers }: IncomingMessage): Record<string, string> {
  const height = headers['x-cosmos-block-height'];
  return typeof height === 'string' ? { 'x-cosmos-block-height': height } : {};
}

function drip(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  const timer = setInterval(() => response.write(' '), 200);
  response.on('close', () => clearInterval(timer));
}

async function flood(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  await write(response, [{ fill: ' ', times: Number.POSITIVE_INFINITY }]);
}

async function dense(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  await write(response, ['{"result":[', { fill: '{},', times: 40_000_000 }, '0]}']);
}

async function deep(response: ServerResponse): Promise<void> {
  response.writeHead(200, { 'content-type': 'application/json' });
  await write(response, [
    { fill: '[', times: 600_000 },
    { fill: ']', times: 600_000 },
  ]);
}

/** A piece of an answer: a text, or one that is repeated; so no large answer is ever made as a whole. */
type Piece = string | { readonly fill: string; readonly times: number };

async function write(response: ServerResponse, pieces: Iterable<Piece>): Promise<void> {
  const send = async (text: string): Promise<void> => {
    if (response.destroyed || response.write(text)) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        response.off('drain', done).off('close', done);
        resolve();
      };
      response.on('drain', done).on('close', done);
    });
  };
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      await send(piece);
      continue;
    }
    const chunk = piece.fill.repeat(Math.min(piece.times, Math.ceil(65_536 / piece.fill.length)));
    const perChunk = chunk.length / piece.fill.length;
    for (let left = piece.times; left > 0 && !response.destroyed; left -= perChunk)
      await send(left >= perChunk ? chunk : piece.fill.repeat(left));
  }
  response.end();
}

/** What stands in a JSON text for something large, until it is sent. */
const mark = (name: string): string => `@@${name}@@`;

interface RpcAnswer {
  readonly id?: unknown;
  // biome-ignore lint/suspicious/noExplicitAny: whatever the node says is passed on
  result?: any;
}

interface Question {
  readonly id?: unknown;
  readonly method?: string;
  // biome-ignore lint/suspicious/noExplicitAny: the parameters of any method
  readonly params?: any;
}

function rewrite(attack: Attack, asked: string, text: string): Piece[] {
  const isResults = asked.includes('block_results');
  const isTrace = asked.includes('debug_traceBlockByNumber');
  const isCall = asked.includes('eth_call');
  const isAbout = attack.lies !== undefined && /block|eth_getBlockReceipts/.test(asked);
  if (!isResults && !isTrace && !isCall && !isAbout) return [text];
  const parsed: RpcAnswer | RpcAnswer[] = JSON.parse(text);
  const answers = Array.isArray(parsed) ? parsed : [parsed];
  const body = asked.slice(asked.indexOf(' ') + 1);
  const questions: Question[] = body === '' ? [] : [JSON.parse(body)].flat();
  for (const one of answers) {
    const question = questions.find(({ id }) => id === one.id) ?? questions[0];
    if (isResults) changeResults(attack, one);
    else if (isTrace) changeTrace(attack, Number(question?.params?.[0]), one);
    else if (isCall) changeCall(attack, String(question?.params?.[0]?.data ?? ''), one);
    lie(attack.lies, asked, question, one);
  }
  const pieces: Piece[] = [];
  const parts = JSON.stringify(parsed).split(/@@(\w+)@@/);
  for (const [index, part] of parts.entries()) pieces.push(index % 2 === 0 ? part : largePiece(attack, part));
  return pieces;
}

function largePiece(attack: Attack, name: string): Piece {
  if (name === 'event') return { fill: 'A', times: attack.events ?? 0 };
  if (name === 'input') return { fill: 'ab', times: attack.trace?.input ?? 0 };
  return { fill: '55', times: (name === 'uri' ? attack.uri : attack.name) ?? 0 };
}

const concerns = (
  { heights: [first, last] = [0, Number.MAX_SAFE_INTEGER] }: Attack,
  height: number,
): boolean => height >= first && height <= last;

function changeResults(attack: Attack, { result }: RpcAnswer): void {
  const height = Number(result?.height);
  const results: { code?: number; events?: object[] }[] = result?.txs_results ?? [];
  if (!concerns(attack, height)) return;
  if (attack.events !== undefined)
    for (const one of results)
      one.events = [
        ...(one.events ?? []),
        { type: 'hostile', attributes: [{ key: 'x', value: mark('event') }] },
      ];
  if (attack.mints !== undefined && height === (attack.heights?.[0] ?? height)) {
    const one = results.find(({ code }) => (code ?? 0) === 0);
    one?.events?.push(mintsOf(attack.mints));
  }
}

const word = (n: number | bigint): string => BigInt(n).toString(16).padStart(64, '0');
const transferTopic = '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef';
const owner = 0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266n;

function mintsOf(count: number): object {
  const attributes = Array.from({ length: count }, (_, index) => {
    const topics = [transferTopic, `0x${word(0)}`, `0x${word(owner)}`, `0x${word(100_000 + index)}`];
    return {
      key: 'log',
      value: JSON.stringify({ address: hostileCollection, topics, data: '0x' }),
      index: true,
    };
  });
  return { type: 'evm', attributes };
}

function changeTrace({ trace, ...attack }: Attack, height: number, { result }: RpcAnswer): void {
  const top = result?.[0]?.result;
  if (trace === undefined || top === undefined || !concerns(attack, height)) return;
  const call = {
    type: 'CALL',
    from: top.from,
    to: top.to ?? top.from,
    value: '0x0',
    gas: '0x64',
    gasUsed: '0x0',
  };
  top.calls = Array.from({ length: trace.calls }, () => ({ ...call, input: `0x${mark('input')}` }));
}

/** Selectors of tokenURI(uint256) and name(). */
const [tokenUri, nameOf] = ['0xc87b56dd', '0x06fdde03'];

function changeCall(attack: Attack, data: string, one: RpcAnswer): void {
  const isUri = data.startsWith(tokenUri);
  const bytes = isUri ? attack.uri : data.startsWith(nameOf) ? attack.name : undefined;
  if (bytes === undefined) return;
  const rest = '00'.repeat((32 - (bytes % 32)) % 32);
  one.result = `0x${word(32)}${word(bytes)}${mark(isUri ? 'uri' : 'name')}${rest}`;
  Reflect.deleteProperty(one, 'error');
}

// Alone: `node dist/test/support/attack/hostile-node.js --port 18500 '{"uri": 1000000, "mints": 1000, "heights": [60, 60]}'`
if (isMainModule(import.meta.url)) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { port: { type: 'string', default: '0' }, recording: { type: 'string', default: 'evm' } },
  });
  const node = await startReplayNode({ recording: values.recording });
  const hostile = await startHostileNode(
    node,
    JSON.parse(positionals[0] ?? '{}') as Attack,
    Number(values.port),
  );
  process.stdout.write(
    `RPC_URL=${hostile.rpc_url}\nREST_URL=${hostile.rest_url}\nJSON_RPC_URL=${hostile.json_rpc_url}\n`,
  );
}
