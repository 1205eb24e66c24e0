-- How many cuts of these tables have begun and ended: the highest number counts. While it is
-- odd, rows below the cursor may be missing, see services/common/cuts.ts.
CREATE TABLE IF NOT EXISTS {{local cuts}} {{on_cluster}} (
  number UInt64
) ENGINE = {{ReplacingMergeTree(number)}} ORDER BY tuple();
{{distributed cuts 0}}
