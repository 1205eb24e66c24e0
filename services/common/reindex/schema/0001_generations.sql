-- Which tables of a service are in use. A generation is a whole set of its tables in a
-- database of its own; generation 1 is in the service's first database, beside this table.
--
-- Every row is a whole state, and the one with the highest revision counts: a swap is one
-- inserted row. There is one writer, the process that ingests.
CREATE TABLE IF NOT EXISTS {{local generations}} {{on_cluster}} (
  revision UInt64,
  -- The generation that calls are answered from.
  in_use UInt32,
  -- The generation that is being built; 0 while none is.
  building UInt32,
  -- First height that is built from blocks; what lies below is copied from the one in use.
  from_height UInt64,
  -- Whether the one being built has all that is to be copied.
  is_prepared Bool,
  written_at DateTime64(3, 'UTC') DEFAULT now64(3)
) ENGINE = {{MergeTree}} ORDER BY revision;
{{distributed generations 0}}
