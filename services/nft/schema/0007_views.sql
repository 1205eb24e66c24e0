-- contracts: needs 0007_views
-- Versions before this one write `tokens`, `items`, `counts`, `editions`, `collections`, `collection_order`, `uris` and
-- `cuts`, which nobody reads any more: views follow from the facts instead, see services/common/writer/views.ts. The facts
-- of before stay and are written on: `blocks`, `changes`, `history`, `objects`, `contracts`, `births`, `classes`, `asks`.
-- The old tables stay as they are until a later version drops them.

-- How far these tables are: see services/common/writer/head-table.ts. The highest version counts.
CREATE TABLE IF NOT EXISTS {{local head}} {{on_cluster}} (
  height UInt64,
  hash String,
  -- Version of the last name or uri that counts.
  details UInt64,
  views Enum8('whole' = 1, 'repairing' = 2, 'rebuilding' = 3),
  rollbacks UInt64,
  version UInt64,
  epoch UInt64
) ENGINE = {{ReplacingMergeTree(version)}} ORDER BY tuple();
{{distributed head 0}}

-- Facts: what every account got and gave, in the order of the chain; with the account '' what came to be and ended in a
-- collection. A change of 0 is one that leaves the token where it is, such as a new uri.
CREATE TABLE IF NOT EXISTS {{local account_history}} {{on_cluster}} (
  account String CODEC(ZSTD(1)),
  collection String CODEC(ZSTD(1)),
  id_key String CODEC(ZSTD(1)),
  at UInt64 CODEC(Delta, ZSTD(1)),
  change Int8,
  epoch UInt64 CODEC(ZSTD(1)),
  INDEX by_at at TYPE minmax GRANULARITY 1000000
) ENGINE = {{MergeTree}} ORDER BY (account, collection, id_key, at) SETTINGS index_granularity = 512;
{{distributed account_history cityHash64(account,collection)}}

-- Facts: what the node said of tokens. Of those up to the head the highest version counts, unless the token was minted
-- after its position.
CREATE TABLE IF NOT EXISTS {{local token_uris}} {{on_cluster}} (
  collection String CODEC(ZSTD(1)),
  id_key String CODEC(ZSTD(1)),
  uri String CODEC(ZSTD(1)),
  -- The node has no uri to say: that of the chain stands.
  is_void Bool,
  -- Position of what made us ask.
  at UInt64 CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  epoch UInt64 CODEC(ZSTD(1)),
  INDEX by_at at TYPE minmax GRANULARITY 1000000,
  INDEX by_version version TYPE minmax GRANULARITY 1000000
) ENGINE = {{MergeTree}} ORDER BY (collection, id_key, version)
SETTINGS index_granularity = 64, min_compress_block_size = 16384, max_compress_block_size = 65536;
{{distributed token_uris cityHash64(collection)}}

-- Facts: names of collections, as the node or a block said them. Of those up to the head the highest version counts, and
-- of one version the last position.
CREATE TABLE IF NOT EXISTS {{local collection_names}} {{on_cluster}} (
  collection String CODEC(ZSTD(1)),
  name String CODEC(ZSTD(1)),
  -- The name at home, where the collection came over IBC.
  origin_name String CODEC(ZSTD(1)),
  -- The two names as they are searched: folded, see names.ts.
  folded_name String CODEC(ZSTD(1)),
  folded_origin String CODEC(ZSTD(1)),
  -- As the node said it; that of the birth counts before it.
  creator String CODEC(ZSTD(1)),
  source Enum8('node' = 1, 'chain' = 2),
  -- Position of what made us ask, or of the event.
  at UInt64 CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  epoch UInt64 CODEC(ZSTD(1)),
  INDEX by_at at TYPE minmax GRANULARITY 1000000,
  INDEX by_version version TYPE minmax GRANULARITY 1000000
) ENGINE = {{MergeTree}} ORDER BY (collection, version, at) SETTINGS index_granularity = 128;
{{distributed collection_names cityHash64(collection)}}

-- Views: each is defined in services/nft/views.

CREATE TABLE IF NOT EXISTS {{local token_states}} {{on_cluster}} (
  collection String CODEC(ZSTD(1)),
  id_key String CODEC(ZSTD(1)),
  -- Move: the token's object.
  object String CODEC(ZSTD(1)),
  owner String CODEC(ZSTD(1)),
  uri String CODEC(ZSTD(1)),
  burnt Bool,
  -- Position of the last mint: what the node said of an earlier token of this id is void.
  minted_at UInt64 CODEC(ZSTD(1)),
  -- Block of the last mint, transfer, burn or new uri.
  height UInt64 CODEC(ZSTD(1)),
  timestamp String CODEC(ZSTD(1)),
  tx_count UInt64 CODEC(ZSTD(1)),
  last_tx String CODEC(ZSTD(1)),
  -- Position of the last change.
  at UInt64 CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  is_deleted UInt8,
  epoch UInt64 CODEC(ZSTD(1))
) ENGINE = {{ReplacingMergeTree(version,is_deleted)}} ORDER BY (collection, id_key)
SETTINGS index_granularity = 64, min_compress_block_size = 16384, max_compress_block_size = 65536, allow_experimental_replacing_merge_with_cleanup = 1;
{{distributed token_states cityHash64(collection)}}

-- The lists of tokens: of a collection (`scope` is its address), of an owner, and of an owner in a collection
-- (`owner/collection`), each by token id (height 0) and by height.
CREATE TABLE IF NOT EXISTS {{local token_lists}} {{on_cluster}} (
  -- collection, owner or holding, and each with _height.
  list LowCardinality(String),
  scope String CODEC(ZSTD(1)),
  height UInt64 CODEC(ZSTD(1)),
  id_key String CODEC(ZSTD(1)),
  collection String CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  is_deleted UInt8,
  epoch UInt64 CODEC(ZSTD(1))
) ENGINE = {{ReplacingMergeTree(version,is_deleted)}} ORDER BY (list, scope, height, id_key, collection)
SETTINGS index_granularity = 512, allow_experimental_replacing_merge_with_cleanup = 1;
{{distributed token_lists cityHash64(scope)}}

-- How many tokens an account has in a collection, and with the account '' the collection's length.
CREATE TABLE IF NOT EXISTS {{local token_counts}} {{on_cluster}} (
  account String CODEC(ZSTD(1)),
  collection String CODEC(ZSTD(1)),
  token_count UInt64 CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  is_deleted UInt8,
  epoch UInt64 CODEC(ZSTD(1))
) ENGINE = {{ReplacingMergeTree(version,is_deleted)}} ORDER BY (account, collection)
SETTINGS index_granularity = 128, allow_experimental_replacing_merge_with_cleanup = 1;
{{distributed token_counts cityHash64(account)}}

-- Collections that have a name, by address.
CREATE TABLE IF NOT EXISTS {{local shown_collections}} {{on_cluster}} (
  collection String CODEC(ZSTD(1)),
  -- Position at which it was created.
  born_at UInt64 CODEC(ZSTD(1)),
  creator String CODEC(ZSTD(1)),
  name String CODEC(ZSTD(1)),
  origin_name String CODEC(ZSTD(1)),
  timestamp String CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  is_deleted UInt8,
  epoch UInt64 CODEC(ZSTD(1))
) ENGINE = {{ReplacingMergeTree(version,is_deleted)}} ORDER BY collection
SETTINGS index_granularity = 128, allow_experimental_replacing_merge_with_cleanup = 1;
{{distributed shown_collections cityHash64(collection)}}

-- The same in the order of creation, and for searching names.
CREATE TABLE IF NOT EXISTS {{local collection_list}} {{on_cluster}} (
  born_at UInt64 CODEC(ZSTD(1)),
  collection String CODEC(ZSTD(1)),
  folded_name String CODEC(ZSTD(1)),
  folded_origin String CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  is_deleted UInt8,
  epoch UInt64 CODEC(ZSTD(1))
) ENGINE = {{ReplacingMergeTree(version,is_deleted)}} ORDER BY (born_at, collection)
SETTINGS index_granularity = 256, allow_experimental_replacing_merge_with_cleanup = 1;
{{distributed collection_list 0}}
