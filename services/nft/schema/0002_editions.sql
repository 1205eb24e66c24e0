-- A list of which much is gone is written anew without that, as its next edition, so that what
-- it costs to read depends on what is in it and not on its past. The items of edition 0 have
-- the list's scope, those of a later edition N the scope `SCOPE#N`; so have the counts of an
-- owner. An edition is whole from its place on; earlier ones stay, since the past is read from
-- them. A list and the same list by height have their editions together.
CREATE TABLE IF NOT EXISTS {{local editions}} {{on_cluster}} (
  list Enum8('collection' = 1, 'owner' = 2, 'holding' = 3),
  scope String CODEC(ZSTD(1)),
  edition UInt32,
  at UInt64 CODEC(ZSTD(1)),
  INDEX by_at at TYPE minmax GRANULARITY 1000000
) ENGINE = {{MergeTree}} ORDER BY (list, scope, at) SETTINGS index_granularity = 128;
{{distributed editions cityHash64(scope)}}
