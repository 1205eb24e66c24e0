import { type NftServiceClient, TokenOrder } from '../../../services/common/gen/indexer/nft/v1/nft.js';
import { connectLocal } from '../../../services/common/rpc/local.js';
import type { Happening, NftBlock } from '../../../services/nft/decode/types.js';
import type { Reader } from '../../../services/nft/read/reader.js';
import { nftService } from '../../../services/nft/rpc.js';
import { createShower } from '../../../services/nft/show.js';
import { factsAbove, nftViews } from '../../../services/nft/store/tables.js';
import { migrateNft, nftBlock, openNft } from '../nft-tables.js';
import { ask, collect, stream } from '../rpc.js';
import type { Questions } from './readers.js';
import { common, environment, page, type Service, top } from './service.js';

const collection = 'c'.padEnd(64, '0');
const [alice, bob] = ['a'.padStart(64, '0'), 'b'.padStart(64, '0')];

const blocks: readonly NftBlock[] = Array.from({ length: top }, (_, index) => {
  const height = index + 1;
  // The first blocks mint for one account; the later ones give and burn what was minted.
  const happenings: Happening[] = [0, 1, 2].map((n) => {
    const token_id = String((index % common) * 3 + n);
    if (height <= common) return { what: 'mint', token: { collection, token_id }, owner: alice };
    if (n === 2) return { what: 'burn', token: { collection, token_id } };
    return { what: 'transfer', token: { collection, token_id }, owner: bob };
  });
  return nftBlock(height, happenings, alice);
});

function questionsOf(reader: Reader): Questions {
  const show = createShower('wasm', 'init');
  const service = nftService({ ...environment, show, retryDetails: undefined, reader: () => reader });
  const client = connectLocal<NftServiceClient>(service);
  const [account, collection_addr] = [`0x${alice}`, `0x${collection}`];
  const query = { token_id: '', order_by: TokenOrder.TOKEN_ID, pagination: page };
  return {
    list: () => ask(client).listTokensByCollection({ collection_addr, ...query }),
    mine: () => ask(client).listTokensByAccount({ account, collection_addr: '', ...query }),
    size: () => ask(client).getCollection({ collection_addr }),
    owner: () => ask(client).getTokenOwner({ collection_addr, token_id: '1', height: common }),
    past: () =>
      collect(stream(client).streamAccountTokens({ account, height: common }), ({ tokens }) => tokens),
  };
}

/** The NFTs. */
export const nft: Service = {
  refuses: true,
  moving: ['list', 'mine', 'size'],
  views: [...new Map(nftViews.flatMap(({ views }) => views).map((view) => [view.table, view])).values()],
  above: factsAbove,
  async open(database, prefix, fault) {
    await migrateNft(database, prefix);
    const { index, store, learn } = await openNft(database, prefix, { fault, vm: 'wasm' });
    return {
      questions: questionsOf(index.reader),
      recover: () => store.recover(),
      async write(upTo) {
        await store.writeBlocks(blocks.slice(store.position.height, upTo));
        await learn();
      },
      unwind: (height) => store.unwind(height),
      compareViews: () => store.compareViews(),
    };
  },
  async replica(database, prefix) {
    const { index } = await openNft(database, prefix);
    const { look } = index;
    return {
      questions: questionsOf({ ...index.reader, look }),
      look: () => look().then(() => String(index.head.position.height)),
    };
  },
};
