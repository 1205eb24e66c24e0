import type { RichlistServiceClient } from '../../../services/common/gen/indexer/richlist/v1/richlist.js';
import { connectLocal } from '../../../services/common/rpc/local.js';
import type { DecodedBlock } from '../../../services/richlist/decode/block.js';
import type { Reader } from '../../../services/richlist/read/reader.js';
import { richlistService } from '../../../services/richlist/rpc.js';
import { factsAbove, richlistViews } from '../../../services/richlist/store/tables.js';
import { openTestRichlist } from '../richlist-tables.js';
import { ask, collect, stream } from '../rpc.js';
import type { Questions } from './readers.js';
import { common, environment, hashOf, page, type Service, top } from './service.js';

const accountOf = (n: number): string => n.toString(16).padStart(40, '0');
const token = 'e'.repeat(40);

const blocks: readonly DecodedBlock[] = Array.from({ length: top }, (_, index) => {
  const height = index + 1;
  // Later blocks change every second balance of the earlier ones, and add holders.
  const given = height <= common ? [1, 2, 3, 4, 5, 6, 7, 8, 9] : [1, 3, 5, 7, 9, 20 + height];
  const deltas = new Map([[token, new Map(given.map((n) => [accountOf(n), BigInt(n * height)]))]]);
  return {
    ...{ height, hash: hashOf(height), parent_hash: hashOf(height - 1) },
    ...{ deltas, created: new Set([token]), problems: [] },
  };
});

function questionsOf(reader: Reader): Questions {
  const service = richlistService({ ...environment, vm_type: 'evm', reader: () => reader });
  const client = connectLocal<RichlistServiceClient>(service);
  const denom = `0x${token}`;
  return {
    list: () => ask(client).listHolders({ denom, pagination: page }),
    balance: () => ask(client).getBalance({ denom, account: `0x${accountOf(9)}`, height: common }),
    past: () => collect(stream(client).streamHolders({ denom, height: common }), ({ holders }) => holders),
    changes: () =>
      collect(
        stream(client).streamChanges({ denom, from_height: 1, to_height: common }),
        ({ changes }) => changes,
      ),
  };
}

/** The rich list. */
export const richlist: Service = {
  refuses: true,
  moving: ['list'],
  views: richlistViews.views,
  above: factsAbove,
  async open(database, prefix, fault) {
    const { index, store } = await openTestRichlist(database, prefix, { fault });
    return {
      questions: questionsOf(index.reader),
      recover: () => store.recover(),
      write: (upTo) => store.writeBlocks(blocks.slice(store.position.height, upTo)),
      unwind: (height) => store.unwind(height),
      compareViews: () => store.compareViews(),
    };
  },
  async replica(database, prefix) {
    const { index } = await openTestRichlist(database, prefix);
    const { look } = index;
    return {
      questions: questionsOf({ ...index.reader, look }),
      look: () => look().then(() => String(index.head.position.height)),
    };
  },
};
