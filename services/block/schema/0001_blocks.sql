-- The chain that the tables hold: one row, so that another chain's blocks are refused.
CREATE TABLE IF NOT EXISTS {{local chain}} {{on_cluster}} (
  chain_id String,
  vm_type String
) ENGINE = {{ReplacingMergeTree}} ORDER BY tuple();
{{distributed chain 0}}

-- Block headers. The row of a block is written after its material: the last row is the head.
CREATE TABLE IF NOT EXISTS {{local blocks}} {{on_cluster}} (
  height UInt64 CODEC(Delta, ZSTD(1)),
  hash String,
  parent_hash String,
  -- RFC 3339 as the node wrote it, and the same instant in nanoseconds since the epoch.
  timestamp String CODEC(ZSTD(1)),
  time_ns Int64 CODEC(Delta, ZSTD(1)),
  -- Milliseconds since the block before.
  block_time UInt64 CODEC(ZSTD(1)),
  tx_count UInt32 CODEC(ZSTD(1)),
  -- Receipts of the block: how many txs the EVM saw.
  receipt_count UInt32 CODEC(ZSTD(1)),
  gas_used String CODEC(ZSTD(1)),
  gas_wanted String CODEC(ZSTD(1)),
  -- JSON list of {denom, amount}.
  total_fee String CODEC(ZSTD(1)),
  proposer_address LowCardinality(String)
) ENGINE = {{MergeTree}} ORDER BY height SETTINGS index_granularity = 256;
{{distributed blocks height}}

-- What the node said about each block: an encoded BlockMaterial, compressed with gzip.
-- It arrives as base64, because rows travel as JSON.
CREATE TABLE IF NOT EXISTS {{local materials}} {{on_cluster}} (
  height UInt64 CODEC(Delta, ZSTD(1)),
  material_base64 String EPHEMERAL,
  material String DEFAULT base64Decode(material_base64) CODEC(NONE)
) ENGINE = {{MergeTree}} ORDER BY height SETTINGS index_granularity = 64;
{{distributed materials height}}

-- Call traces, a track of its own that follows the blocks. `state` is `traced`, `none`
-- (the block has nothing to trace) or `unavailable` (the node gave up on this block).
CREATE TABLE IF NOT EXISTS {{local traces}} {{on_cluster}} (
  height UInt64 CODEC(Delta, ZSTD(1)),
  block_hash String,
  state LowCardinality(String),
  material_base64 String EPHEMERAL,
  material String DEFAULT base64Decode(material_base64) CODEC(NONE)
) ENGINE = {{MergeTree}} ORDER BY height SETTINGS index_granularity = 64;
{{distributed traces height}}

-- Everyone who was ever seen as a validator, by the address that block headers name.
CREATE TABLE IF NOT EXISTS {{local validators}} {{on_cluster}} (
  consensus_address String,
  operator_address String,
  moniker String,
  identity String,
  seen_at UInt64
) ENGINE = {{ReplacingMergeTree(seen_at)}} ORDER BY consensus_address;
{{distributed validators 0}}
