import type { WatchHeadResponse as BlockHead } from '../common/gen/indexer/block/v1/block.js';
import type { WatchHeadResponse as NftHead } from '../common/gen/indexer/nft/v1/nft.js';
import type { WatchHeadResponse as RichlistHead } from '../common/gen/indexer/richlist/v1/richlist.js';
import type { WatchHeadResponse as TxHead } from '../common/gen/indexer/tx/v1/tx.js';
import { streamRpc } from '../common/rpc/client.js';
import { messageOf } from '../common/runtime/errors.js';
import { sleep } from '../common/runtime/lifecycle.js';
import type { Log } from '../common/runtime/log.js';
import type { Clients } from './clients.js';
import type { Owner, Vm } from './route.js';

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
  /**
   * Milliseconds since the lowest height of these services moved, as heard here. A height
   * that was there when it was first heard counts as moved then: block times say nothing of
   * it where a chain is replayed, or a past one is worked through.
   */
  quiet_ms(owners: readonly Owner[]): number;
  /** Stops following. */
  close(): Promise<void>;
}

interface Word {
  readonly height: number;
  readonly revision: number;
}

/** Waits between attempts grow from the first to the last of these. */
const waits_ms = [100, 200, 500, 1_000, 2_000];

/** Follows the heads of the services that a rollup with this machine has, reconnecting without end. */
export function watchHeads(clients: Clients, log: Log, vm: Vm): Heads {
  const current: Record<Owner, Head> = {
    block: { version: undefined, epoch: 0 },
    tx: { version: undefined, epoch: 0 },
    nft: { version: undefined, epoch: 0 },
    richlist: { version: undefined, epoch: 0 },
  };
  const moved_ms: Record<Owner, number> = {
    block: performance.now(),
    tx: performance.now(),
    nft: performance.now(),
    richlist: performance.now(),
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
          if (word.height !== last?.height) moved_ms[owner] = performance.now();
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
    vm === 'evm'
      ? follow('richlist', () =>
          streamRpc<object, RichlistHead>(clients.richlist.watchHead.bind(clients.richlist), {}, { signal }),
        )
      : undefined,
  ]);
  return {
    current,
    // All of them have to move for the lowest to move.
    quiet_ms: (owners) => performance.now() - Math.min(...owners.map((owner) => moved_ms[owner])),
    close: async () => {
      controller.abort();
      await running;
    },
  };
}
