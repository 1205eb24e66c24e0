-- What the operator keeps, so that every stage can be explained later. What holds in these tables:
--
-- 1. `program` names what is scored: the chain id of the rollup and the contract's address.
-- 2. Rows of a list of scores are written before the row of `runs` that names its hash: a run's list is whole.
-- 3. A tx has its row before it is sent.
-- 4. `version` grows with every row of a program; the highest one of a key is the row that counts. Every row holds
--    absolute values, so that writing one again changes nothing.

-- When a stage was, as the L1 said while it was the running one.
CREATE TABLE IF NOT EXISTS {{local l1_stages}} {{on_cluster}} (
  program String,
  stage UInt64,
  -- Unix seconds.
  start_time UInt64,
  end_time UInt64,
  version UInt64
) ENGINE = {{ReplacingMergeTree(version)}} ORDER BY (program, stage);
{{distributed l1_stages 0}}

-- The policies that were ever used, as written.
CREATE TABLE IF NOT EXISTS {{local policies}} {{on_cluster}} (
  policy_hash String,
  text String CODEC(ZSTD(3))
) ENGINE = {{ReplacingMergeTree}} ORDER BY policy_hash;
{{distributed policies 0}}

-- One row a stage: what was computed, whether it was read back, whether it is finalized.
CREATE TABLE IF NOT EXISTS {{local runs}} {{on_cluster}} (
  program String,
  stage UInt64,
  start_time UInt64,
  end_time UInt64,
  from_height UInt64,
  to_height UInt64,
  -- Of the block at to_height; empty when the stage has no block.
  to_hash String,
  policy_hash String,
  list_hash String,
  score_count UInt64,
  total UInt64,
  -- JSON: how many accounts have no score, by why, and how many a smaller one than their points.
  counts String,
  is_verified Bool,
  is_finalized Bool,
  -- Why the last attempt failed; empty when it did not.
  error String,
  -- How often the stage was worked on.
  attempts UInt32,
  -- Milliseconds since the epoch.
  created_at UInt64,
  updated_at UInt64,
  version UInt64
) ENGINE = {{ReplacingMergeTree(version)}} ORDER BY (program, stage);
{{distributed runs 0}}

-- The lists, ranked: the largest score has rank 1, equal ones stand by address.
CREATE TABLE IF NOT EXISTS {{local scores}} {{on_cluster}} (
  program String,
  stage UInt64,
  list_hash String,
  rank UInt64,
  -- 0x and 40 lower-case hex digits.
  address String,
  amount UInt64
) ENGINE = {{ReplacingMergeTree}} ORDER BY (program, stage, list_hash, rank);
{{distributed scores stage}}

-- The same by address.
CREATE TABLE IF NOT EXISTS {{local address_scores}} {{on_cluster}} (
  program String,
  address String,
  stage UInt64,
  list_hash String,
  rank UInt64,
  amount UInt64
) ENGINE = {{ReplacingMergeTree}} ORDER BY (program, address, stage, list_hash);
{{distributed address_scores stage}}

-- What every rule found when a list was computed, and the proof of what was read from a file or URL.
CREATE TABLE IF NOT EXISTS {{local measures}} {{on_cluster}} (
  program String,
  stage UInt64,
  list_hash String,
  rule String,
  -- Values are whole numbers of 1 / denominator.
  denominator String,
  account_count UInt64,
  -- Accounts of 32 bytes, which count for nothing.
  left_out UInt64,
  location String,
  sha256 String,
  bytes UInt64,
  etag String
) ENGINE = {{ReplacingMergeTree}} ORDER BY (program, stage, list_hash, rule);
{{distributed measures stage}}

-- What was measured of every account: a score is explained by it, whatever becomes of the index or the source.
CREATE TABLE IF NOT EXISTS {{local measured}} {{on_cluster}} (
  program String,
  stage UInt64,
  list_hash String,
  -- 40 lower-case hex digits.
  account String,
  rule String,
  value String CODEC(ZSTD(1))
) ENGINE = {{ReplacingMergeTree}} ORDER BY (program, stage, list_hash, account, rule);
{{distributed measured stage}}

-- Txs, each with its row before it is sent.
CREATE TABLE IF NOT EXISTS {{local txs}} {{on_cluster}} (
  program String,
  stage UInt64,
  -- Empty while a remote signer has it and has not said it.
  tx_hash String,
  -- update or finalize.
  purpose LowCardinality(String),
  account String,
  nonce UInt64,
  score_count UInt64,
  list_hash String,
  -- signed, mined, failed or replaced.
  state LowCardinality(String),
  height UInt64,
  gas_used UInt64,
  error String,
  created_at UInt64,
  updated_at UInt64,
  version UInt64
) ENGINE = {{ReplacingMergeTree(version)}} ORDER BY (program, stage, nonce, tx_hash);
{{distributed txs 0}}

-- What was compared, with what was expected and what was found.
CREATE TABLE IF NOT EXISTS {{local checks}} {{on_cluster}} (
  program String,
  stage UInt64,
  at UInt64,
  list_hash String,
  name LowCardinality(String),
  is_ok Bool,
  expected String,
  found String,
  version UInt64
) ENGINE = {{ReplacingMergeTree(version)}} ORDER BY (program, stage, at, name);
{{distributed checks 0}}

-- What was decided, a row whenever it was something else than before.
CREATE TABLE IF NOT EXISTS {{local decisions}} {{on_cluster}} (
  program String,
  version UInt64,
  at UInt64,
  kind LowCardinality(String),
  reason LowCardinality(String),
  message String,
  -- 0 where it is about no stage.
  stage UInt64
) ENGINE = {{ReplacingMergeTree}} ORDER BY (program, version);
{{distributed decisions 0}}
