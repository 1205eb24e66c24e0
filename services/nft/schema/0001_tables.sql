-- What holds in these tables, and what every reader may rely on:
--
-- 1. `blocks` is the cursor: its rows are written after everything else of their blocks.
-- 2. `at` is a place in the chain: the height times 2^21, and the position among the events
--    of the block that concern NFTs. Every row has the place that caused it, so that a
--    rollback removes what lies above one. It also versions rows: the highest one counts.
-- 3. `changes` is written first and removed last, and `history` has the same rows by token:
--    rows of mutable tables that a merge has replaced are made again from it.
-- 4. Mutable rows hold absolute values. `was` and `before` are the value before the batch
--    that wrote the row: they stand for it while the cursor is still below the row.

-- The chain that the tables hold: one row, so that another chain's blocks are refused.
CREATE TABLE IF NOT EXISTS {{local chain}} {{on_cluster}} (
  chain_id String,
  vm_type String
) ENGINE = {{MergeTree}} ORDER BY tuple();
{{distributed chain 0}}

-- Blocks whose NFT events are written.
CREATE TABLE IF NOT EXISTS {{local blocks}} {{on_cluster}} (
  height UInt64 CODEC(Delta, ZSTD(1)),
  hash String,
  parent_hash String
) ENGINE = {{MergeTree}} ORDER BY height SETTINGS index_granularity = 256;
{{distributed blocks 0}}

-- Every change of every token, in the order of the chain.
CREATE TABLE IF NOT EXISTS {{local changes}} {{on_cluster}} (
  at UInt64 CODEC(Delta, ZSTD(1)),
  collection String CODEC(ZSTD(1)),
  -- The token id so that its bytes sort as the API wants it, see token-key.ts.
  id_key String CODEC(ZSTD(1)),
  -- `named` changes nothing that is shown: Move events that name the token.
  kind Enum8('mint' = 1, 'transfer' = 2, 'burn' = 3, 'uri' = 4, 'named' = 5),
  -- Account before and after: lower-case hex; `?` and a text that names no account; '' for none.
  previous_owner String CODEC(ZSTD(1)),
  owner String CODEC(ZSTD(1)),
  -- The uri that the chain says; '' where only the node knows it.
  uri String CODEC(ZSTD(1)),
  -- Move: the token's object.
  object String CODEC(ZSTD(1)),
  -- How many txs the token's list has with this change, and whether this tx is one of them.
  ord UInt64 CODEC(ZSTD(1)),
  listed Bool,
  -- 64 lower-case hex digits; '' for what the block itself did.
  tx_hash String CODEC(ZSTD(1)),
  timestamp String CODEC(ZSTD(1))
) ENGINE = {{MergeTree}} ORDER BY at SETTINGS index_granularity = 512;
{{distributed changes cityHash64(collection)}}

-- The same by token: who owned it when, and its txs.
CREATE TABLE IF NOT EXISTS {{local history}} {{on_cluster}} (
  at UInt64 CODEC(Delta, ZSTD(1)),
  collection String CODEC(ZSTD(1)),
  id_key String CODEC(ZSTD(1)),
  kind Enum8('mint' = 1, 'transfer' = 2, 'burn' = 3, 'uri' = 4, 'named' = 5),
  previous_owner String CODEC(ZSTD(1)),
  owner String CODEC(ZSTD(1)),
  uri String CODEC(ZSTD(1)),
  object String CODEC(ZSTD(1)),
  ord UInt64 CODEC(ZSTD(1)),
  listed Bool,
  tx_hash String CODEC(ZSTD(1)),
  timestamp String CODEC(ZSTD(1)),
  INDEX by_at at TYPE minmax GRANULARITY 1000000
) ENGINE = {{MergeTree}} ORDER BY (collection, id_key, ord, at) SETTINGS index_granularity = 128;
{{distributed history cityHash64(collection)}}

-- Tokens as they are now.
CREATE TABLE IF NOT EXISTS {{local tokens}} {{on_cluster}} (
  collection String CODEC(ZSTD(1)),
  id_key String CODEC(ZSTD(1)),
  object String CODEC(ZSTD(1)),
  owner String CODEC(ZSTD(1)),
  uri String CODEC(ZSTD(1)),
  burnt Bool,
  -- Place of the last mint: what the node said of an earlier token of this id is void.
  minted_at UInt64 CODEC(ZSTD(1)),
  -- Block of the last mint, transfer or new uri.
  height UInt64 CODEC(ZSTD(1)),
  timestamp String CODEC(ZSTD(1)),
  tx_count UInt64 CODEC(ZSTD(1)),
  last_tx String CODEC(ZSTD(1)),
  at UInt64 CODEC(ZSTD(1)),
  INDEX by_at at TYPE minmax GRANULARITY 1000000
) ENGINE = {{ReplacingMergeTree(at)}} ORDER BY (collection, id_key)
SETTINGS index_granularity = 64, min_compress_block_size = 16384, max_compress_block_size = 65536;
{{distributed tokens cityHash64(collection)}}

-- The lists of tokens: of a collection (`scope` is its address), of an owner, and of an
-- owner in a collection (`owner/collection`), each by token id (height 0) and by height. An
-- item by height is also the time that a token was so: from its height to `at` if it is gone.
CREATE TABLE IF NOT EXISTS {{local items}} {{on_cluster}} (
  list Enum8('collection' = 1, 'owner' = 2, 'holding' = 3, 'collection_height' = 4, 'owner_height' = 5, 'holding_height' = 6),
  scope String CODEC(ZSTD(1)),
  height UInt64 CODEC(ZSTD(1)),
  id_key String CODEC(ZSTD(1)),
  collection String CODEC(ZSTD(1)),
  gone Bool,
  was Bool,
  at UInt64 CODEC(ZSTD(1)),
  INDEX by_at at TYPE minmax GRANULARITY 1000000
) ENGINE = {{ReplacingMergeTree(at)}} ORDER BY (list, scope, height, id_key, collection)
SETTINGS index_granularity = 256;
{{distributed items cityHash64(scope)}}

-- How many tokens an owner has in a collection, and with the owner '' the collection's length.
CREATE TABLE IF NOT EXISTS {{local counts}} {{on_cluster}} (
  owner String CODEC(ZSTD(1)),
  collection String CODEC(ZSTD(1)),
  n UInt64 CODEC(ZSTD(1)),
  before UInt64 CODEC(ZSTD(1)),
  at UInt64 CODEC(ZSTD(1)),
  INDEX by_at at TYPE minmax GRANULARITY 1000000
) ENGINE = {{ReplacingMergeTree(at)}} ORDER BY (owner, collection) SETTINGS index_granularity = 128;
{{distributed counts cityHash64(owner, collection)}}

-- Move: which token an object is.
CREATE TABLE IF NOT EXISTS {{local objects}} {{on_cluster}} (
  object String CODEC(ZSTD(1)),
  collection String CODEC(ZSTD(1)),
  id_key String CODEC(ZSTD(1)),
  at UInt64 CODEC(ZSTD(1)),
  INDEX by_at at TYPE minmax GRANULARITY 1000000
) ENGINE = {{MergeTree}} ORDER BY object SETTINGS index_granularity = 128;
{{distributed objects cityHash64(object)}}

-- EVM: who created which contract, of any kind: it may turn out to be a collection.
CREATE TABLE IF NOT EXISTS {{local contracts}} {{on_cluster}} (
  contract String CODEC(ZSTD(1)),
  creator String CODEC(ZSTD(1)),
  timestamp String CODEC(ZSTD(1)),
  at UInt64 CODEC(ZSTD(1)),
  INDEX by_at at TYPE minmax GRANULARITY 1000000
) ENGINE = {{MergeTree}} ORDER BY contract SETTINGS index_granularity = 128;
{{distributed contracts cityHash64(contract)}}

-- What the chain says of collections, and of contracts that may be some: when each came to
-- be, and on Move its names. Of several rows the certain ones count before the others, and
-- then the first for the birth, the last for the name.
CREATE TABLE IF NOT EXISTS {{local births}} {{on_cluster}} (
  collection String CODEC(ZSTD(1)),
  kind Enum8('seen' = 1, 'certain' = 2, 'renamed' = 3),
  -- Place of the birth, which may be before the event that told of it.
  born_at UInt64 CODEC(ZSTD(1)),
  creator String CODEC(ZSTD(1)),
  name String CODEC(ZSTD(1)),
  timestamp String CODEC(ZSTD(1)),
  at UInt64 CODEC(ZSTD(1)),
  INDEX by_at at TYPE minmax GRANULARITY 1000000
) ENGINE = {{MergeTree}} ORDER BY (collection, at) SETTINGS index_granularity = 128;
{{distributed births cityHash64(collection)}}

-- ICS-721: what classes that came over IBC are called at home.
CREATE TABLE IF NOT EXISTS {{local classes}} {{on_cluster}} (
  class_name String CODEC(ZSTD(1)),
  origin_name String CODEC(ZSTD(1)),
  at UInt64 CODEC(ZSTD(1)),
  INDEX by_at at TYPE minmax GRANULARITY 1000000
) ENGINE = {{MergeTree}} ORDER BY (class_name, at) SETTINGS index_granularity = 128;
{{distributed classes cityHash64(class_name)}}

-- What is to be asked of the node, in the order of the chain.
CREATE TABLE IF NOT EXISTS {{local asks}} {{on_cluster}} (
  at UInt64 CODEC(Delta, ZSTD(1)),
  subject Enum8('collection' = 1, 'tokens' = 2),
  collection String CODEC(ZSTD(1)),
  -- The tokens from one key to another, both included; '' for the collection itself.
  first_key String CODEC(ZSTD(1)),
  last_key String CODEC(ZSTD(1))
) ENGINE = {{MergeTree}} ORDER BY (at, subject) SETTINGS index_granularity = 512;
{{distributed asks 0}}

-- How far the asks have been worked off: the row with the highest version counts.
CREATE TABLE IF NOT EXISTS {{local asked}} {{on_cluster}} (
  id UInt8,
  at UInt64,
  version UInt64
) ENGINE = {{ReplacingMergeTree(version)}} ORDER BY id;
{{distributed asked 0}}

-- Asks that were not answered: to be repeated, or given up until somebody says so.
CREATE TABLE IF NOT EXISTS {{local jobs}} {{on_cluster}} (
  subject Enum8('collection' = 1, 'tokens' = 2),
  collection String CODEC(ZSTD(1)),
  first_key String CODEC(ZSTD(1)),
  last_key String CODEC(ZSTD(1)),
  at UInt64 CODEC(ZSTD(1)),
  state Enum8('pending' = 1, 'failed' = 2, 'done' = 3),
  -- How often the node refused.
  attempts UInt32,
  -- When to ask again, in milliseconds since the epoch.
  next_ms UInt64,
  error String CODEC(ZSTD(1)),
  version UInt64,
  INDEX by_at at TYPE minmax GRANULARITY 1000000,
  INDEX by_state state TYPE set(3) GRANULARITY 1
) ENGINE = {{ReplacingMergeTree(version)}} ORDER BY (subject, collection, first_key, last_key)
SETTINGS index_granularity = 128;
{{distributed jobs cityHash64(collection)}}

-- Collections that are shown, with their names; one that no longer is, is `gone`.
CREATE TABLE IF NOT EXISTS {{local collections}} {{on_cluster}} (
  collection String CODEC(ZSTD(1)),
  born_at UInt64 CODEC(ZSTD(1)),
  creator String CODEC(ZSTD(1)),
  name String CODEC(ZSTD(1)),
  origin_name String CODEC(ZSTD(1)),
  -- The two names as they are searched: folded, see names.ts.
  folded_name String CODEC(ZSTD(1)),
  folded_origin String CODEC(ZSTD(1)),
  timestamp String CODEC(ZSTD(1)),
  at UInt64 CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  gone Bool,
  INDEX by_at at TYPE minmax GRANULARITY 1000000
) ENGINE = {{ReplacingMergeTree(version)}} ORDER BY collection SETTINGS index_granularity = 128;
{{distributed collections cityHash64(collection)}}

-- The same in the order of creation, and for searching names.
CREATE TABLE IF NOT EXISTS {{local collection_order}} {{on_cluster}} (
  born_at UInt64 CODEC(ZSTD(1)),
  collection String CODEC(ZSTD(1)),
  folded_name String CODEC(ZSTD(1)),
  folded_origin String CODEC(ZSTD(1)),
  at UInt64 CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  gone Bool,
  INDEX by_at at TYPE minmax GRANULARITY 1000000
) ENGINE = {{ReplacingMergeTree(version)}} ORDER BY (born_at, collection) SETTINGS index_granularity = 256;
{{distributed collection_order 0}}

-- What the node says of tokens. A row counts unless the token was minted after its place.
CREATE TABLE IF NOT EXISTS {{local uris}} {{on_cluster}} (
  collection String CODEC(ZSTD(1)),
  id_key String CODEC(ZSTD(1)),
  uri String CODEC(ZSTD(1)),
  at UInt64 CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  INDEX by_at at TYPE minmax GRANULARITY 1000000
) ENGINE = {{ReplacingMergeTree(version)}} ORDER BY (collection, id_key)
SETTINGS index_granularity = 64, min_compress_block_size = 16384, max_compress_block_size = 65536;
{{distributed uris cityHash64(collection)}}
