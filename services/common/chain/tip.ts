import { WebSocket } from 'ws';
import { messageOf } from '../errors.js';
import type { Log } from '../log.js';
import type { Bell } from '../signal.js';
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
  /** Rung by others to be asked for the tip now. */
  readonly wake: Bell;
  /** Told every word of the node about its heights. */
  readonly onStatus: (status: NodeStatus) => void;
}

/** While new blocks are announced over the websocket, /status is asked only this often. */
const silentPoll_ms = 15_000;

/** How large a message of the websocket may be: a header has about 2 kB. */
const largestMessage = 1024 * 1024;

/**
 * Follows the tip of the chain until the signal: by NewBlockHeader events of the node's
 * websocket, and by asking /status at start, now and then, and while there is no websocket.
 */
export async function watchTip(options: TipOptions): Promise<void> {
  const { rpc, log, signal, poll_ms, wake } = options;
  let announced = 0;
  let earliest = 1;
  let isStranger = false;
  const socket = subscribe(options, (height) => {
    announced = Date.now();
    options.onStatus({ network: options.chain_id, latest_height: height, earliest_height: earliest });
  });
  while (!signal.aborted) {
    const rung = wake.count;
    try {
      const status = await fetchStatus(rpc, signal, options.chain_id);
      earliest = status.earliest_height;
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
    const live = Date.now() - announced < silentPoll_ms;
    await wake.heard(rung, signal, live ? silentPoll_ms : poll_ms);
  }
  socket.close();
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
