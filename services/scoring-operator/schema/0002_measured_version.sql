-- Another policy, or other facts, may give the very same list: its rows of then are told apart from those of now. The rows
-- of `measures` are written last and with the version of their `measured`; the highest one is what counts of a list. The
-- version is part of the key, so that no row of a writing that was cut short takes the place of one that counts. A column
-- can enter the key only in the statement that adds it.
ALTER TABLE {{local measured}} {{on_cluster}}
  ADD COLUMN IF NOT EXISTS version UInt64,
  MODIFY ORDER BY (program, stage, list_hash, account, rule, version);
ALTER TABLE {{database}}.measured {{on_cluster}} ADD COLUMN IF NOT EXISTS version UInt64;
ALTER TABLE {{local measures}} {{on_cluster}}
  ADD COLUMN IF NOT EXISTS version UInt64,
  MODIFY ORDER BY (program, stage, list_hash, rule, version);
ALTER TABLE {{database}}.measures {{on_cluster}} ADD COLUMN IF NOT EXISTS version UInt64;
