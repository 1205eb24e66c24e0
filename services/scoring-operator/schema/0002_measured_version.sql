-- Another policy, or other facts, may give the very same list: its rows of then are told apart from those of now. The rows
-- of `measures` are written last and with the version of their `measured`; the highest one is what counts of a list.
ALTER TABLE {{local measured}} {{on_cluster}} ADD COLUMN IF NOT EXISTS version UInt64;
ALTER TABLE {{database}}.measured {{on_cluster}} ADD COLUMN IF NOT EXISTS version UInt64;
ALTER TABLE {{local measures}} {{on_cluster}} ADD COLUMN IF NOT EXISTS version UInt64;
ALTER TABLE {{database}}.measures {{on_cluster}} ADD COLUMN IF NOT EXISTS version UInt64;
