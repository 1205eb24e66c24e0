-- Who writes the tables of this database, and who did: a row for every writer there ever was. The highest
-- epoch of a scope is the writer that counts; rows of an earlier one are refused. See writer/fence.ts.
CREATE TABLE IF NOT EXISTS {{local writers}} {{on_cluster}} (
  -- What it writes: empty for the tables of a service, a program where programs are written side by side.
  scope String,
  epoch UInt64,
  -- Random: two that draw the same epoch at once see each other by it.
  id String,
  -- Grows with every sign of life.
  beat UInt64,
  -- How long it may be silent, in milliseconds; a statement of it that inserts runs for half of that at most.
  lease_ms UInt32,
  -- Whether none of its statements can run any more.
  is_released Bool,
  -- Host and process, for people.
  host String,
  written_at DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = {{ReplacingMergeTree(beat)}} ORDER BY (scope, epoch, id);
{{distributed writers 0}}
