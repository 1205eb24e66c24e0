-- When every holder of the tokens that drift was compared last, milliseconds since the epoch: the highest one counts. So
-- the next time does not begin anew with each start.
CREATE TABLE IF NOT EXISTS {{local drifting}} {{on_cluster}} (
  compared_at UInt64
) ENGINE = {{ReplacingMergeTree(compared_at)}} ORDER BY tuple();
{{distributed drifting 0}}
