-- The writer of every row, see services/common/writer/fence.ts; 0 for rows of before. A DELETE leaves rows of later
-- writers alone.
{{add chain epoch UInt64}}
{{add blocks epoch UInt64}}
{{add materials epoch UInt64}}
{{add traces epoch UInt64}}
{{add validators epoch UInt64}}

-- Cuts of these tables, see services/common/cuts.ts.
CREATE TABLE IF NOT EXISTS {{local cuts}} {{on_cluster}} (
  number UInt64,
  height UInt64,
  top UInt64,
  epoch UInt64
) ENGINE = {{ReplacingMergeTree(number)}} ORDER BY tuple();
{{distributed cuts 0}}
