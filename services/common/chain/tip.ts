import { WebSocket } from 'ws';
import { messageOf } from '../runtime/errors.js';
import { sleep } from '../runtime/lifecycle.js';
import type { Log } from '../runtime/log.js';
import { createBell } from '../util/signal.js';
import { fetchStatus, type NodeStatus } from './comet.js';
import { type Endpoints, NodeError } from './endpoints.js';

export interface TipOptions {
  readonly rpc: Endpoints;
  readonly log: Log;
  readonly signal: AbortSignal;
  /** How often to ask while the websocket is silent, in milliseconds. */
  readonly poll_ms: number;
  /** The chain that the node must be of; empty for any. */
  readonly chain_id: string;
  /** How long the tip may stand before another URL is asked, where there is one, in milliseconds. Default: 30 s. */
  readonly standing_ms?: number;
  /** Told every word of the node about its heights. */
  readonly onStatus: (status: NodeStatus) => void;
}

/** While new blocks are announced over the websocket, and are there, /status is asked without an announcement only this often. */
const silentPoll_ms = 15_000;

/** How long to wait after an announcement of a block that the node does not have, times how many there were in a row. */
const doubt_ms = 50;

/** How large a message of the websocket may be: a header has about 2 kB. */
const largestMessage = 1024 * 1024;

/**
 * Follows the tip of the chain until the signal, by asking /status: at start, whenever the node's websocket announces a
 * block, and now and then. An announcement counts for nothing by itself: anybody may be at the other end of a websocket.
 */
export async function watchTip(options: TipOptions): Promise<void> {
  const { rpc, log, signal, poll_ms } = options;
  const announcement = createBell();
  const judge = judgeTips(options);
  let [announced, latest, liveUntil, doubts] = [0, 0, 0, 0];
  let isStranger = false;
  const socket = subscribe(options, (height) => {
    if (height > latest) {
      announced = height;
      announcement.ring();
    } else if (height < latest && Date.now() < liveUntil) {
      // Perhaps a rollback. It rings once: from here on /status is asked as if nothing were announced.
      liveUntil = 0;
      announcement.ring();
    }
  });
  while (!signal.aborted) {
    const [rung, before] = [announcement.count, latest];
    try {
      const status = await fetchStatus(rpc, signal, options.chain_id);
      latest = status.latest_height;
      judge(latest);
      if (announced > before && announced <= latest) liveUntil = Date.now() + silentPoll_ms;
      doubts = announced > latest ? doubts + 1 : 0;
      isStranger = false;
      options.onStatus(status);
    } catch (error) {
      if (signal.aborted) break;
      if (error instanceof NodeError && error.reason === 'wrong_chain') {
        if (!isStranger) log.error(`nothing is indexed: ${error.message}`);
        isStranger = true;
      } else {
        log.debug({ err: error }, `the node does not say how far it is: ${messageOf(error)}`);
      }
    }
    if (doubts > 0) await sleep(Math.min(poll_ms, doubts * doubt_ms), signal);
    else await announcement.heard(rung, signal, Date.now() < liveUntil ? silentPoll_ms : poll_ms);
  }
  socket.close();
}

/**
 * Puts a URL off whose node stands still, or is behind what another URL has shown: it answers, but no block comes of it.
 * Where every URL says so, that is how far the chain is.
 */
function judgeTips({ rpc, standing_ms = 30_000 }: TipOptions): (latest: number) => void {
  let [highest, behind, movedAt] = [0, 0, performance.now()];
  const blame = (why: string): void => {
    if (rpc.urls.length > 1) rpc.blame(new NodeError('behind', why));
  };
  return (latest) => {
    const now = performance.now();
    if (latest < highest && behind < rpc.urls.length - 1) {
      behind += 1;
      blame(`the node is at block ${latest}, and block ${highest} is known`);
      return;
    }
    behind = 0;
    if (latest === highest && now - movedAt < standing_ms) return;
    if (latest === highest) blame(`the node has stood at block ${latest} for ${standing_ms} ms`);
    [highest, movedAt] = [latest, now];
  };
}

/** Keeps a subscription to NewBlockHeader, on the URLs in turn: NewBlock would bring all txs and events of the block as well. */
function subscribe(
  { rpc, log, signal, chain_id }: TipOptions,
  onHeight: (height: number) => void,
): { close(): void } {
  let socket: WebSocket | undefined;
  let timer: NodeJS.Timeout | undefined;
  let attempt = 0;
  const open = (): void => {
    const url = rpc.urls[attempt % rpc.urls.length];
    if (signal.aborted || url === undefined) return;
    const current = new WebSocket(`${url.replace(/^http/, 'ws')}/websocket`, {
      handshakeTimeout: 10_000,
      maxPayload: largestMessage,
      // What is small need not be compressed, and what is compressed may not be small.
      perMessageDeflate: false,
    });
    socket = current;
    let alive = true;
    const heartbeat = setInterval(() => {
      if (!alive) return current.terminate();
      alive = false;
      if (current.readyState === WebSocket.OPEN) current.ping();
    }, 20_000);
    current.on('pong', () => {
      alive = true;
    });
    current.on('open', () => {
      current.send(
        JSON.stringify({
          jsonrpc: '2.0',
          method: 'subscribe',
          id: 1,
          params: { query: "tm.event='NewBlockHeader'" },
        }),
      );
    });
    current.on('message', (data) => {
      alive = true;
      const height = heightOf(String(data), chain_id);
      if (height === undefined) return;
      attempt = 0;
      onHeight(height);
    });
    current.on('error', (error) => log.debug({ err: error }, 'the websocket of the node failed'));
    current.on('close', () => {
      clearInterval(heartbeat);
      attempt += 1;
      if (!signal.aborted) timer = setTimeout(open, Math.min(30_000, 500 * 2 ** Math.min(6, attempt)));
    });
  };
  open();
  return {
    close() {
      clearTimeout(timer);
      socket?.terminate();
    },
  };
}

/** The height that a NewBlockHeader event announces; undefined for anything else, also of another chain. */
function heightOf(message: string, chain_id: string): number | undefined {
  try {
    const event = JSON.parse(message) as {
      result?: { data?: { value?: { header?: { height?: string; chain_id?: string } } } };
    };
    const header = event.result?.data?.value?.header;
    if (chain_id !== '' && header?.chain_id !== chain_id) return undefined;
    const height = Number(header?.height);
    return Number.isSafeInteger(height) && height > 0 ? height : undefined;
  } catch {
    return undefined;
  }
}
