-- What holds in these tables, and what every reader may rely on:
--
-- 1. `blocks` is the cursor: its rows are written after everything else of their blocks.
--    Rows of other tables that lie above the last block are remains of a crash; nobody
--    reads them, and the next start removes them.
-- 2. `internal_blocks` is the cursor of the internal txs in the same way, never above `blocks`.
-- 3. Sequences are dense: the txs of a rollup are numbered from 1 in the order of the chain,
--    and so are its receipts and its call frames, each on their own. A page is a range of
--    them and a count is a difference.
-- 4. Every row can be removed by sequence or by height, so that a rollback is a DELETE. It
--    goes back to the end of a batch, because account_heads is written once a batch.

-- The chain that the tables hold: one row, so that another chain's blocks are refused.
CREATE TABLE IF NOT EXISTS {{local chain}} {{on_cluster}} (
  chain_id String,
  vm_type String
) ENGINE = {{MergeTree}} ORDER BY tuple();
{{distributed chain 0}}

-- Blocks, each with the last sequences up to it: those of block h are
-- last_sequence - tx_count + 1 to last_sequence.
CREATE TABLE IF NOT EXISTS {{local blocks}} {{on_cluster}} (
  height UInt64 CODEC(Delta, ZSTD(1)),
  hash String,
  parent_hash String,
  -- RFC 3339 as the node wrote it.
  timestamp String CODEC(ZSTD(1)),
  last_sequence UInt64 CODEC(Delta, ZSTD(1)),
  tx_count UInt32 CODEC(ZSTD(1)),
  last_evm_sequence UInt64 CODEC(Delta, ZSTD(1)),
  evm_tx_count UInt32 CODEC(ZSTD(1)),
  -- Whether this is the last block of those that were written together.
  ends_batch Bool
) ENGINE = {{MergeTree}} ORDER BY height SETTINGS index_granularity = 256;
{{distributed blocks 0}}

-- Blocks whose internal txs are written.
CREATE TABLE IF NOT EXISTS {{local internal_blocks}} {{on_cluster}} (
  height UInt64 CODEC(Delta, ZSTD(1)),
  hash String,
  last_sequence UInt64 CODEC(Delta, ZSTD(1)),
  frame_count UInt32 CODEC(ZSTD(1)),
  ends_batch Bool
) ENGINE = {{MergeTree}} ORDER BY height SETTINGS index_granularity = 256;
{{distributed internal_blocks 0}}

-- The JSON of txs, receipts and call frames, ready to send. Small granules and compressed
-- blocks, because pages of an account are scattered over the table.
CREATE TABLE IF NOT EXISTS {{local bodies}} {{on_cluster}} (
  kind Enum8('tx' = 1, 'evm_tx' = 2, 'internal_tx' = 3),
  sequence UInt64 CODEC(Delta, ZSTD(1)),
  body String CODEC(ZSTD(1))
) ENGINE = {{MergeTree}} ORDER BY (kind, sequence)
SETTINGS index_granularity = 16, min_compress_block_size = 16384, max_compress_block_size = 65536;
{{distributed bodies intDiv(sequence, 1024)}}

-- Where the bodies of a hash begin, and how many there are: one tx, one receipt, or all
-- call frames of an Ethereum tx.
CREATE TABLE IF NOT EXISTS {{local hashes}} {{on_cluster}} (
  kind Enum8('tx' = 1, 'evm_tx' = 2, 'internal_tx' = 3),
  -- 64 lower-case hex digits: they compress to the size of the bytes, and are bound as they are.
  hash String CODEC(ZSTD(1)),
  sequence UInt64 CODEC(ZSTD(1)),
  body_count UInt32 CODEC(ZSTD(1)),
  INDEX by_sequence sequence TYPE minmax GRANULARITY 1000000
) ENGINE = {{MergeTree}} ORDER BY (kind, hash) SETTINGS index_granularity = 256;
{{distributed hashes cityHash64(hash)}}

-- The lists of accounts: what names an account, and what it signed or sent. `ord` is the
-- position in one account's list, dense from 1. Accounts are lower-case hex without 0x.
CREATE TABLE IF NOT EXISTS {{local account_items}} {{on_cluster}} (
  list Enum8('tx' = 1, 'signed_tx' = 2, 'evm_tx' = 3, 'sent_evm_tx' = 4, 'internal_tx' = 5, 'sent_internal_tx' = 6),
  account String CODEC(ZSTD(1)),
  ord UInt64 CODEC(Delta, ZSTD(1)),
  sequence UInt64 CODEC(Delta, ZSTD(1)),
  -- The set of message types of the tx, see msg_sets; 0 where there are none.
  msg_set UInt32 CODEC(ZSTD(1)),
  INDEX by_sequence sequence TYPE minmax GRANULARITY 1000000
) ENGINE = {{MergeTree}} ORDER BY (list, account, ord) SETTINGS index_granularity = 256;
{{distributed account_items cityHash64(account)}}

-- The end of every account's list, so that a length and the newest page are one short read,
-- however long the list is. Absolute values at the end of a batch: the row with the highest
-- sequence counts. A row may be missing after a rollback, since merges drop older ones;
-- account_items then says.
CREATE TABLE IF NOT EXISTS {{local account_heads}} {{on_cluster}} (
  list Enum8('tx' = 1, 'signed_tx' = 2, 'evm_tx' = 3, 'sent_evm_tx' = 4, 'internal_tx' = 5, 'sent_internal_tx' = 6),
  account String CODEC(LZ4),
  -- Length of the list, and sequence of its last item.
  ord UInt64 CODEC(LZ4),
  sequence UInt64 CODEC(LZ4),
  -- Sequences of the last items, newest first.
  latest Array(UInt64) CODEC(LZ4),
  INDEX by_sequence sequence TYPE minmax GRANULARITY 1000000
) ENGINE = {{ReplacingMergeTree(sequence)}} ORDER BY (list, account)
SETTINGS index_granularity = 64, min_compress_block_size = 8192, max_compress_block_size = 16384;
{{distributed account_heads cityHash64(account)}}

-- The distinct sets of message types that txs have, numbered from 1. The lists of different
-- sets have no tx in common, so that a tx with two wanted types is not counted twice.
CREATE TABLE IF NOT EXISTS {{local msg_sets}} {{on_cluster}} (
  msg_set UInt32,
  msgs Array(String) CODEC(ZSTD(1)),
  first_sequence UInt64
) ENGINE = {{MergeTree}} ORDER BY msg_set SETTINGS index_granularity = 256;
{{distributed msg_sets 0}}

-- Which txs have which set of message types.
CREATE TABLE IF NOT EXISTS {{local msg_set_txs}} {{on_cluster}} (
  msg_set UInt32 CODEC(ZSTD(1)),
  sequence UInt64 CODEC(Delta, ZSTD(1)),
  INDEX by_sequence sequence TYPE minmax GRANULARITY 1000000
) ENGINE = {{MergeTree}} ORDER BY (msg_set, sequence) SETTINGS index_granularity = 512;
{{distributed msg_set_txs intDiv(sequence, 1024)}}

-- Move: who owns a primary fungible store. `height` is the block where it was learnt.
CREATE TABLE IF NOT EXISTS {{local stores}} {{on_cluster}} (
  store String CODEC(ZSTD(1)),
  owner String CODEC(ZSTD(1)),
  height UInt64 CODEC(Delta, ZSTD(1))
) ENGINE = {{MergeTree}} ORDER BY store SETTINGS index_granularity = 256;
{{distributed stores cityHash64(store)}}
