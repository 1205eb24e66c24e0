-- Bytes of a block's material and of its traces before they were compressed; 0 in rows of versions that did not write it.
ALTER TABLE {{local blocks}} {{on_cluster}} ADD COLUMN IF NOT EXISTS material_bytes UInt64;
ALTER TABLE {{database}}.blocks {{on_cluster}} ADD COLUMN IF NOT EXISTS material_bytes UInt64;
ALTER TABLE {{local traces}} {{on_cluster}} ADD COLUMN IF NOT EXISTS material_bytes UInt64;
ALTER TABLE {{database}}.traces {{on_cluster}} ADD COLUMN IF NOT EXISTS material_bytes UInt64;
