-- The cursor's place that `was` and `before` are true of. Who reads at an earlier one, because it has not looked since
-- or was slow, knows by it that they do not tell. 0 in rows of versions that do not write it: those are believed.
ALTER TABLE {{local items}} {{on_cluster}} ADD COLUMN IF NOT EXISTS base UInt64;
ALTER TABLE {{database}}.items {{on_cluster}} ADD COLUMN IF NOT EXISTS base UInt64;
ALTER TABLE {{local counts}} {{on_cluster}} ADD COLUMN IF NOT EXISTS base UInt64;
ALTER TABLE {{database}}.counts {{on_cluster}} ADD COLUMN IF NOT EXISTS base UInt64;
