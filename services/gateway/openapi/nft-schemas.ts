import { exactly, listOf, natural, ref, type Schemas, text, timestamp } from './schema.js';

const collection = exactly(
  {
    object_addr: text('Address of the collection: 0x hex of 20 bytes on EVM, of 32 elsewhere.', {
      pattern: '^0x([0-9a-f]{40}|[0-9a-f]{64})$',
    }),
    collection: exactly({
      creator: text('bech32 account that created it; empty when nobody says who.'),
      name: text('Name.'),
      origin_name: text('Name at home of a collection that came over IBC; empty otherwise.'),
      nfts: exactly({
        handle: text('Always empty.'),
        length: natural('Number of tokens that exist now.'),
      }),
    }),
    height: natural('Block of its creation.'),
    timestamp: timestamp('Time of that block.'),
  },
  'A collection.',
);

const token = exactly(
  {
    collection_addr: text('Address of the collection, 0x hex.', {
      pattern: '^0x([0-9a-f]{40}|[0-9a-f]{64})$',
    }),
    collection_name: text('Name of the collection.'),
    collection_origin_name: text('Name at home of a collection that came over IBC; empty otherwise.'),
    object_addr: text('Address of the object on Move, 0x hex; empty elsewhere.', {
      pattern: '^(0x[0-9a-f]{64})?$',
    }),
    owner: text('bech32 account; as it came where it names no account of this rollup.'),
    nft: exactly({
      token_id: text('Token id.'),
      uri: text('URI; empty when there is none, or while it is not known.'),
    }),
    height: natural('Block of its last mint, transfer or new URI.'),
    timestamp: timestamp('Time of that block.'),
  },
  'A token.',
);

const page = ref('common.PaginationResponse');

/** Schemas of the answers of the nft service. */
export const nftSchemas: Schemas = {
  'nft.Collection': collection,
  'nft.CollectionResponse': exactly({ collection: ref('nft.Collection') }),
  'nft.CollectionsResponse': exactly({ collections: listOf(ref('nft.Collection')), pagination: page }),
  'nft.Nft': token,
  'nft.NftsResponse': exactly({ tokens: listOf(ref('nft.Nft')), pagination: page }),
};
