-- Cuts of these tables. Each has two rows: one with an odd number when it begins, one with the
-- next, even number when it is done; the highest number counts. The first of them lowers the
-- cursor in one step, before a row is removed: while a cut is under way, also after a kill,
-- nothing above its height exists for readers.
--
-- account_heads is not to be trusted then: rows above the cursor have replaced older ones, which
-- merges drop, and once they are removed a still older row may be left. Readers work the ends of
-- lists out from account_items, which is append-only up to the cursor. See store/list-ends.ts.
CREATE TABLE IF NOT EXISTS {{local cuts}} {{on_cluster}} (
  number UInt64,
  -- Height that the tables are cut to.
  height UInt64,
  -- Height of the last block when the cut began. Where there is a block above, a version of the
  -- service that does not know this table has ended the cut, and written on.
  top UInt64
) ENGINE = {{ReplacingMergeTree(number)}} ORDER BY tuple();
{{distributed cuts 0}}
