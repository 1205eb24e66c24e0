import { messageOf } from '../common/errors.js';
import type { WatchHeadResponse as BlockHead } from '../common/gen/indexer/block/v1/block.js';
import type { WatchHeadResponse as NftHead } from '../common/gen/indexer/nft/v1/nft.js';
import type { WatchHeadResponse as TxHead } from '../common/gen/indexer/tx/v1/tx.js';
import { sleep } from '../common/lifecycle.js';
import type { Log } from '../common/log.js';
import { streamRpc } from '../common/rpc/client.js';
import type { Clients } from './clients.js';
import type { Owner } from './route.js';

/** What is known of the head of one service. */
export interface Head {
  /** Changes with every word of the service; undefined while it is not heard. */
  readonly version: number | undefined;
  /**
   * Changes when an answer about the past may have changed: another revision, or a height
   * below the last one. Kept while the service is not heard; 0 before the first word.
   */
  readonly epoch: number;
}

/** The heads of the services, followed for as long as the gateway runs. */
export interface Heads {
  readonly current: Readonly<Record<Owner, Head>>;
  /** Stops following. */
  close(): Promise<void>;
}

interface Word {
  readonly height: number;
  readonly revision: number;
}

/** Waits between attempts grow from the first to the last of these. */
const waits_ms = [100, 200, 500, 1_000, 2_000];

/** Follows the heads of all services, reconnecting without end. */
export function watchHeads(clients: Clients, log: Log): Heads {
  const current: Record<Owner, Head> = {
    block: { version: undefined, epoch: 0 },
    tx: { version: undefined, epoch: 0 },
    nft: { version: undefined, epoch: 0 },
  };
  const controller = new AbortController();
  const { signal } = controller;
  const follow = async (owner: Owner, open: () => AsyncIterable<Word>): Promise<void> => {
    let version = 0;
    let last: Word | undefined;
    for (let failures = 0; !signal.aborted; ) {
      try {
        for await (const word of open()) {
          const rewritten =
            last === undefined || word.revision !== last.revision || word.height < last.height;
          version += 1;
          last = word;
          current[owner] = { version, epoch: current[owner].epoch + (rewritten ? 1 : 0) };
          if (failures > 0) log.info({ peer: owner }, 'the service is heard again');
          failures = 0;
        }
        throw new Error('the stream ended');
      } catch (error) {
        current[owner] = { version: undefined, epoch: current[owner].epoch };
        if (signal.aborted) return;
        if (failures === 0)
          log.warn({ peer: owner, err: error }, `the head is not heard: ${messageOf(error)}`);
        await sleep(waits_ms[Math.min(failures, waits_ms.length - 1)] as number, signal);
        failures += 1;
      }
    }
  };
  const running = Promise.all([
    follow('block', () =>
      streamRpc<object, BlockHead>(clients.block.watchHead.bind(clients.block), {}, { signal }),
    ),
    follow('tx', () => streamRpc<object, TxHead>(clients.tx.watchHead.bind(clients.tx), {}, { signal })),
    follow('nft', () => streamRpc<object, NftHead>(clients.nft.watchHead.bind(clients.nft), {}, { signal })),
  ]);
  return {
    current,
    close: async () => {
      controller.abort();
      await running;
    },
  };
}
