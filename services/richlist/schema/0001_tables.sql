-- What holds in these tables, and what every reader may rely on:
--
-- 1. `blocks` is the cursor: its rows are written after everything else of their blocks, and
--    again, with a higher last_ord, after a heal at the same height.
-- 2. Changes of balances are numbered from 1 in the order in which they were written (`ord`).
--    Every row of every table carries the number of the change that it came with; rows with
--    numbers above the cursor's last_ord do not exist for readers, and the next start removes
--    them.
-- 3. `changes` is append-only and written first. The other tables follow from it: after a
--    crash or a rollback they are put right for those accounts that have changes above the
--    cursor, and those changes are removed last.
-- 4. Tokens are named by the address of their ERC-20 contract, accounts and tokens by
--    lower-case hex without 0x. On an EVM rollup every denom has such a contract.

-- The chain that the tables hold: one row, so that another chain's blocks are refused.
CREATE TABLE IF NOT EXISTS {{local chain}} {{on_cluster}} (
  chain_id String,
  vm_type String
) ENGINE = {{MergeTree}} ORDER BY tuple();
{{distributed chain 0}}

-- Blocks, each with the number of the last change up to it.
CREATE TABLE IF NOT EXISTS {{local blocks}} {{on_cluster}} (
  height UInt64 CODEC(Delta, ZSTD(1)),
  hash String,
  last_ord UInt64 CODEC(Delta, ZSTD(1)),
  -- Height of the state that the index began with: nothing is served below.
  seed_height UInt64 CODEC(ZSTD(1))
) ENGINE = {{MergeTree}} ORDER BY (height, last_ord) SETTINGS index_granularity = 256;
{{distributed blocks 0}}

-- Balances after each block that touched them, so that any past one is a short read.
CREATE TABLE IF NOT EXISTS {{local changes}} {{on_cluster}} (
  token String CODEC(ZSTD(1)),
  account String CODEC(ZSTD(1)),
  ord UInt64 CODEC(Delta, ZSTD(1)),
  height UInt64 CODEC(Delta, ZSTD(1)),
  amount UInt256 CODEC(ZSTD(1)),
  -- From the node before the first block, from Transfer logs, or from the node again where
  -- the logs had not told the truth.
  source Enum8('seed' = 1, 'log' = 2, 'heal' = 3),
  INDEX by_ord ord TYPE minmax GRANULARITY 1000000
) ENGINE = {{MergeTree}} ORDER BY (token, account, ord) SETTINGS index_granularity = 256;
{{distributed changes cityHash64(account)}}

-- The last change of every account, for the writer and for reconciling.
CREATE TABLE IF NOT EXISTS {{local balances}} {{on_cluster}} (
  token String CODEC(ZSTD(1)),
  account String CODEC(ZSTD(1)),
  ord UInt64 CODEC(ZSTD(1)),
  height UInt64 CODEC(ZSTD(1)),
  amount UInt256 CODEC(ZSTD(1)),
  source Enum8('seed' = 1, 'log' = 2, 'heal' = 3),
  INDEX by_ord ord TYPE minmax GRANULARITY 8
) ENGINE = {{ReplacingMergeTree(ord)}} ORDER BY (token, account) SETTINGS index_granularity = 128;
{{distributed balances cityHash64(account)}}

-- Holders in the order of the list. A balance is a row with sign 1; one with sign -1 and the
-- same `since` takes it back, and a merge drops the two, so that nothing is left of the past.
CREATE TABLE IF NOT EXISTS {{local holders}} {{on_cluster}} (
  token String CODEC(ZSTD(1)),
  -- 2^256 - 1 - amount: the largest amount comes first, and equal ones stand by account.
  shortfall UInt256 CODEC(ZSTD(1)),
  account String CODEC(ZSTD(1)),
  -- Number of the change that made this balance.
  since UInt64 CODEC(ZSTD(1)),
  sign Int8,
  -- Number of the change that this row came with.
  ord UInt64 CODEC(ZSTD(1)),
  INDEX by_ord ord TYPE minmax GRANULARITY 1000000
) ENGINE = {{VersionedCollapsingMergeTree(sign,since)}} ORDER BY (token, shortfall, account)
SETTINGS index_granularity = 256;
{{distributed holders cityHash64(account)}}

-- How many holders stand from one place of the list to the next, so that a total is a short
-- sum and a deep offset begins close to its place. Absolute values: the highest ord counts.
CREATE TABLE IF NOT EXISTS {{local ranks}} {{on_cluster}} (
  token String CODEC(ZSTD(1)),
  -- Where the stretch begins; the first one at 0 and ''.
  shortfall UInt256 CODEC(ZSTD(1)),
  account String CODEC(ZSTD(1)),
  holder_count UInt64 CODEC(ZSTD(1)),
  -- The stretch was joined with the one before it.
  gone Bool,
  ord UInt64 CODEC(ZSTD(1)),
  INDEX by_ord ord TYPE minmax GRANULARITY 1000000
) ENGINE = {{ReplacingMergeTree(ord)}} ORDER BY (token, shortfall, account) SETTINGS index_granularity = 256;
{{distributed ranks cityHash64(token)}}

-- The tokens that have ever had a holder or a log.
CREATE TABLE IF NOT EXISTS {{local tokens}} {{on_cluster}} (
  token String CODEC(ZSTD(1)),
  -- Where it was first seen.
  height UInt64 CODEC(ZSTD(1)),
  -- Whether every balance of it is known; else an account's begins with the node's answer.
  complete Bool,
  ord UInt64 CODEC(ZSTD(1))
) ENGINE = {{MergeTree}} ORDER BY token SETTINGS index_granularity = 256;
{{distributed tokens cityHash64(token)}}

-- What the bank module calls a token.
CREATE TABLE IF NOT EXISTS {{local denoms}} {{on_cluster}} (
  -- The denom in lower case.
  folded String CODEC(ZSTD(1)),
  denom String CODEC(ZSTD(1)),
  token String CODEC(ZSTD(1)),
  -- That of the token's row.
  ord UInt64 CODEC(ZSTD(1))
) ENGINE = {{ReplacingMergeTree(ord)}} ORDER BY (folded, denom, token) SETTINGS index_granularity = 256;
{{distributed denoms cityHash64(folded)}}

-- Up to which change balances were compared with the node's.
CREATE TABLE IF NOT EXISTS {{local checks}} {{on_cluster}} (
  ord UInt64
) ENGINE = {{ReplacingMergeTree(ord)}} ORDER BY tuple();
{{distributed checks 0}}
