-- contracts: needs 0004_views
-- Versions before this one write `account_heads` and `cuts`, which nobody reads any more: the ends of lists follow from
-- `account_items` instead, see services/common/writer/views.ts. The old tables stay as they are until a later version drops
-- them, and so does the column `ends_batch`: a rollback ends at any block.

-- How far these tables are: see services/common/writer/head-table.ts. The highest version counts.
CREATE TABLE IF NOT EXISTS {{local head}} {{on_cluster}} (
  height UInt64,
  hash String,
  -- Last block whose internal txs are written.
  internal_height UInt64,
  -- Last sequence of each kind.
  tx UInt64,
  evm_tx UInt64,
  internal_tx UInt64,
  views Enum8('whole' = 1, 'repairing' = 2, 'rebuilding' = 3),
  rollbacks UInt64,
  version UInt64,
  epoch UInt64
) ENGINE = {{ReplacingMergeTree(version)}} ORDER BY tuple();
{{distributed head 0}}

-- The end of every account's list, so that a length and the newest page are one short read, however long the list is. It is
-- a hint: a reader passes over a row that is ahead of it, and counts the items.
CREATE TABLE IF NOT EXISTS {{local list_ends}} {{on_cluster}} (
  list Enum8('tx' = 1, 'signed_tx' = 2, 'evm_tx' = 3, 'sent_evm_tx' = 4, 'internal_tx' = 5, 'sent_internal_tx' = 6),
  account String CODEC(LZ4),
  length UInt64 CODEC(LZ4),
  -- Sequences of the last items, the newest first.
  latest Array(UInt64) CODEC(LZ4),
  version UInt64 CODEC(LZ4),
  is_deleted UInt8 CODEC(LZ4),
  epoch UInt64 CODEC(LZ4)
) ENGINE = {{ReplacingMergeTree(version,is_deleted)}} ORDER BY (list, account)
SETTINGS index_granularity = 64, min_compress_block_size = 8192, max_compress_block_size = 16384,
  allow_experimental_replacing_merge_with_cleanup = 1;
{{distributed list_ends cityHash64(account)}}
