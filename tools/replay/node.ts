import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Chain, makeChain } from './chain.js';
import { type Decision, type FaultOptions, isWell, makeFaults } from './faults.js';
import { readyGet, readyPost } from './pack/answer.js';
import { openPack } from './pack/read.js';
import { readState, type SavedState, writeState } from './persist.js';
import { loadRecording } from './recording.js';
import { answerTo, type Request, targetOf } from './route.js';
import { misbehave, send } from './send.js';
import type { ChainSource } from './types.js';
import type { View } from './view.js';
import { makeEvents } from './websocket.js';

/** How to start a replay node. */
export interface ReplayOptions {
  /** name or path of a recording (default `evm`), or a source that is loaded or generated already */
  recording?: string | ChainSource;
  /**
   * Height of the first tip (default the last recorded one); beyond the recording's end there are empty blocks.
   * A state file that exists wins.
   */
  tip?: number;
  /** what a consumer has seen already: the tip is never below it */
  at_least?: number;
  /** a file that keeps tip and forks, so that a node started again goes on with the same chain */
  state_path?: string;
  /** default 0: any free one */
  port?: number;
  /** default 127.0.0.1 */
  host?: string;
  /** advances the tip by one block so often; without it the tip moves only when told */
  interval_ms?: number;
  /** distance of the header times of blocks after the recording's end (default 2000) */
  block_time_ms?: number;
  faults?: FaultOptions;
  /**
   * A file made of the same source by `preparePack`. What is usually asked about a block is answered out of it,
   * byte for byte as without it, for a fraction of the processor time; not while there are faults or forks.
   */
  pack_path?: string;
}

/** A node that plays a recording. */
export interface ReplayNode {
  /** base of all three APIs */
  url: string;
  rpc_url: string;
  rest_url: string;
  json_rpc_url: string;
  port: number;
  chain: Chain;
  tip(): number;
  /** moves the tip, up or down; subscribers of NewBlock hear of each block on the way up */
  setTip(height: number): void;
  /** adds blocks (default 1) and returns the new tip */
  advance(count?: number): number;
  /**
   * From this height on the chain is another one: other hashes, right parent links. Its blocks are empty
   * unless keep_txs; the tip moves to `tip` (default: stays).
   */
  fork(at: number, options?: { keep_txs?: boolean; tip?: number }): void;
  /** replaces the faults; `{}` makes the node well again */
  faults(options: FaultOptions): void;
  /** requests so far by kind: `rpc.block`, `rest.txs_block`, `evm.eth_call`, `evm.batch`, and `http` for all */
  requests(): Record<string, number>;
  resetRequests(): void;
  /** connections subscribed to events */
  subscribers(): number;
  close(): Promise<void>;
}

/** Starts a replay node; resolves when it listens. Throws when the recording cannot be read or the port is taken. */
export async function startReplayNode(options: ReplayOptions = {}): Promise<ReplayNode> {
  const source =
    typeof options.recording === 'object' ? options.recording : loadRecording(options.recording ?? 'evm');
  const saved = readState(options.state_path, source.chainId);
  const chain = makeChain(source, options.block_time_ms ?? 2000, saved?.forks ?? []);
  let tip = Math.max(source.first, saved?.tip ?? options.tip ?? source.last, options.at_least ?? 0);
  const pack = options.pack_path === undefined ? undefined : openPack(options.pack_path, source);
  let faults = makeFaults(options.faults ?? {});
  let counts: Record<string, number> = {};
  const count = (kind: string): void => {
    counts[kind] = (counts[kind] ?? 0) + 1;
  };
  const save = (): void => {
    const state: SavedState = { chain_id: source.chainId, tip, forks: [...chain.forks()] };
    writeState(options.state_path, state);
  };
  save();

  const viewFor = (api: string, decision: Decision): View => {
    const f = faults.options;
    const lag = decision.staleBy + (api === 'rest' ? (f.rest_lag ?? 0) : 0);
    const seen = Math.max(source.first, tip - lag);
    const earliest = Math.min(seen, Math.max(source.first, f.earliest_height ?? 0));
    return {
      chain,
      tip: seen,
      evmTip: Math.max(0, seen - (f.evm_lag ?? 0)),
      notIndexed: f.not_indexed === 'null' ? 'null' : '[]',
      earliest,
      earliestState: Math.max(earliest, f.earliest_state ?? 0),
      network: f.network ?? source.chainId,
      traces: f.traces === 'unsupported' ? 'unsupported' : 'ok',
      receipts: f.receipts ?? 'ok',
      missingTxs: (height) => faults.missingTxs(height),
    };
  };
  const plain: Decision = { fail: undefined, delayMs: 0, staleBy: 0 };
  const events = makeEvents(() => viewFor('rpc', plain));

  /** Answers out of the pack; false when that cannot be. */
  const respondReady = (req: IncomingMessage, res: ServerResponse, body: string): boolean => {
    if (pack === undefined || !isWell(faults.options) || chain.forks().length > 0) return false;
    const url = req.url ?? '/';
    const ready =
      req.method === 'GET'
        ? readyGet(pack, tip, url)
        : req.method === 'POST'
          ? readyPost(pack, tip, url, body)
          : undefined;
    if (ready === undefined) return false;
    count('http');
    for (const kind of ready.kinds) count(kind);
    send(res, { status: 200, type: 'application/json', body: ready.body, kind: '' });
    return true;
  };

  const respond = (req: IncomingMessage, res: ServerResponse, body: string): void => {
    if (respondReady(req, res, body)) return;
    const request: Request = { method: req.method ?? 'GET', url: req.url ?? '/', headers: req.headers, body };
    const target = targetOf(request);
    count('http');
    const decision = faults.decide(target.api, `${request.method} ${request.url} ${body}`);
    const reply = (): void => {
      const answer = answerTo(viewFor(target.api, decision), request, target, count);
      if (decision.fail) misbehave(res, decision.fail, answer);
      else send(res, answer);
    };
    if (decision.delayMs > 0) setTimeout(reply, decision.delayMs).unref();
    else reply();
  };
  const server = createServer((req, res) => {
    if (req.method === 'GET' || req.method === 'HEAD') {
      respond(req, res, '');
      return;
    }
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => respond(req, res, Buffer.concat(chunks).toString('utf8')));
  });
  server.on('upgrade', (req, socket, head) => {
    if (/^(\/rpc)?\/websocket(\?|$)/.test(req.url ?? ''))
      events.upgrade(req, socket, head, faults.options.websocket);
    else socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', (error) => {
      pack?.close();
      reject(error);
    });
    server.listen(options.port ?? 0, options.host ?? '127.0.0.1', resolve);
  });

  const setTip = (height: number): void => {
    if (!Number.isSafeInteger(height) || height < source.first) throw new Error(`no such height: ${height}`);
    const from = tip;
    tip = height;
    save();
    if (events.subscribers() > 0) {
      for (let h = from + 1; h <= tip; h++) events.newBlock(chain.bodies(h)!);
    }
  };
  const timer = options.interval_ms ? setInterval(() => setTip(tip + 1), options.interval_ms) : undefined;
  timer?.unref();

  const { port } = server.address() as AddressInfo;
  const url = `http://${options.host ?? '127.0.0.1'}:${port}`;
  return {
    url,
    rpc_url: `${url}/rpc`,
    rest_url: `${url}/rest`,
    json_rpc_url: `${url}/evm`,
    port,
    chain,
    tip: () => tip,
    setTip,
    advance(n = 1) {
      setTip(tip + n);
      return tip;
    },
    fork(at, forkOptions = {}) {
      chain.fork(at, forkOptions.keep_txs ?? false);
      const target = forkOptions.tip ?? tip;
      // the new chain's blocks are new to subscribers, whatever the old tip was
      tip = Math.min(target, at - 1);
      setTip(target);
    },
    faults(next) {
      faults = makeFaults(next);
      if (next.websocket) events.dropAll();
    },
    requests: () => ({ ...counts }),
    resetRequests() {
      counts = {};
    },
    subscribers: () => events.subscribers(),
    async close() {
      clearInterval(timer);
      events.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
      pack?.close();
    },
  };
}
