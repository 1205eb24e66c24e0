-- contracts: needs 0005_views
-- Versions before this one write `balances`, `holders`, `ranks` and `cuts`, which nobody reads any more: views follow from
-- the facts instead (`changes`, `tokens`, `denoms`, `blocks`), see services/common/writer/views.ts. The old tables stay as
-- they are until a later version drops them.

-- How far these tables are: see services/common/writer/head-table.ts. The highest version counts.
CREATE TABLE IF NOT EXISTS {{local head}} {{on_cluster}} (
  height UInt64,
  hash String,
  -- Number of the last change that counts.
  last_ord UInt64,
  -- Height of the state that the index began with: nothing is served below.
  seed_height UInt64,
  views Enum8('whole' = 1, 'repairing' = 2, 'rebuilding' = 3),
  rollbacks UInt64,
  version UInt64,
  epoch UInt64
) ENGINE = {{ReplacingMergeTree(version)}} ORDER BY tuple();
{{distributed head 0}}

CREATE TABLE IF NOT EXISTS {{local account_balances}} {{on_cluster}} (
  token String CODEC(ZSTD(1)),
  account String CODEC(ZSTD(1)),
  amount UInt256 CODEC(ZSTD(1)),
  -- Height and number of the last change, and where its amount came from.
  height UInt64 CODEC(ZSTD(1)),
  source Enum8('seed' = 1, 'log' = 2, 'heal' = 3),
  ord UInt64 CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  is_deleted UInt8,
  epoch UInt64 CODEC(ZSTD(1)),
  INDEX by_ord ord TYPE minmax GRANULARITY 8
) ENGINE = {{ReplacingMergeTree(version,is_deleted)}} ORDER BY (token, account)
SETTINGS index_granularity = 128, allow_experimental_replacing_merge_with_cleanup = 1;
{{distributed account_balances cityHash64(token)}}

CREATE TABLE IF NOT EXISTS {{local holder_list}} {{on_cluster}} (
  token String CODEC(ZSTD(1)),
  -- 2^256 - 1 - amount: the largest amount comes first, and equal ones stand by account.
  place UInt256 CODEC(ZSTD(1)),
  account String CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  is_deleted UInt8,
  epoch UInt64 CODEC(ZSTD(1))
) ENGINE = {{ReplacingMergeTree(version,is_deleted)}} ORDER BY (token, place, account)
SETTINGS index_granularity = 256, allow_experimental_replacing_merge_with_cleanup = 1;
{{distributed holder_list cityHash64(token)}}

CREATE TABLE IF NOT EXISTS {{local holder_counts}} {{on_cluster}} (
  token String CODEC(ZSTD(1)),
  holder_count UInt64 CODEC(ZSTD(1)),
  version UInt64 CODEC(ZSTD(1)),
  is_deleted UInt8,
  epoch UInt64 CODEC(ZSTD(1))
) ENGINE = {{ReplacingMergeTree(version,is_deleted)}} ORDER BY token
SETTINGS index_granularity = 256, allow_experimental_replacing_merge_with_cleanup = 1;
{{distributed holder_counts cityHash64(token)}}
